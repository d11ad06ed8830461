//go:build unix

package capture

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe, socket or device in a folder is not opened: nobody may ever write to it. A link to
// one is treated the same. A link to a file stands for that file. A link that leads nowhere
// is listed, so that reading it is refused by name.
func TestIrregularFilesArePassedOver(t *testing.T) {
	dir, err := os.MkdirTemp("", "cbl1") // the name of a socket must be short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("run.json"), []byte("[]"), 0o600))
	require.NoError(t, syscall.Mkfifo(in("pipe.json"), 0o600))
	require.NoError(t, syscall.Mkfifo(in("config.json"), 0o600)) // a side file by its name
	require.NoError(t, syscall.Mkfifo(in("graph_capture_0_of_1.json"), 0o600))
	listener, err := net.Listen("unix", in("socket.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	for link, to := range map[string]string{
		"link.json": "run.json", "link-to-pipe.json": "pipe.json", "link-to-nothing.json": "missing", "zero.json.gz": "/dev/zero", "link-to-folder.json": ".",
	} {
		require.NoError(t, os.Symlink(to, in(link)))
	}
	l, err := List(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"link-to-nothing.json", "link.json", "run.json"}, names(l.Inputs))
	require.Equal(t, []string{
		"graph_capture_0_of_1.json: it is a pipe: name it to read it",
		"link-to-pipe.json: it is a pipe: name it to read it",
		"pipe.json: it is a pipe: name it to read it",
		"socket.jsonl: it is a socket",
		"zero.json.gz: it is a device",
	}, passed(l))

	// Who names a pipe means it.
	l, err = List(in("pipe.json"))
	require.NoError(t, err)
	require.Equal(t, Listing{Inputs: []Input{{Path: in("pipe.json")}}}, l)
}

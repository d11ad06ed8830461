//go:build unix

package capture

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cbl1/cbl1/event"
	"github.com/stretchr/testify/require"
)

// What would need a second reading is an anomaly of a pipe, which is gone after the
// first one; waiting for it to come again would be for ever.
func TestPipeIsReadOnce(t *testing.T) {
	data, err := os.ReadFile("testdata/late_mesh.json")
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "pipe.json")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	done := make(chan error)
	go func() { done <- os.WriteFile(pipe, data, 0) }()
	events, void := toldBy(t, pipe, Options{Ahead: true})
	require.NoError(t, <-done)
	require.Nil(t, void)
	var codes []string
	for _, e := range events {
		codes = append(codes, e.Code)
	}
	require.Contains(t, codes, noteMeshLate)
}

// Between two readings a file may have become another one.
func TestFileThatChangesBetweenReadings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	first, err := Input{Path: path}.open()
	require.NoError(t, err)
	require.NoError(t, first.sameAs(first))
	require.NoError(t, first.shut())
	require.NoError(t, os.WriteFile(path, []byte("[ ]"), 0o600))
	again, err := Input{Path: path}.open()
	require.NoError(t, err)
	err = again.sameAs(first)
	require.ErrorIs(t, err, event.ErrChanged)
	var input *event.InputError
	require.ErrorAs(t, err, &input)
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// TestServePublishes runs the command as a process and reads the regions that it writes, as
// any tool would.
func TestServePublishes(t *testing.T) {
	const chip = 1<<64 - 2
	for _, version := range []uint32{3, 4} {
		dir, err := os.MkdirTemp("", "s") // paths of sockets are short
		require.NoError(t, err)
		defer func() { require.NoError(t, os.RemoveAll(dir)) }()
		args := []string{
			"serve", "-q", "--socket", filepath.Join(dir, "s"), "--devices", "0-1=n150", "--publish", fmt.Sprintf("1=%d", uint64(chip)),
			"--publish-version", fmt.Sprint(version), "--publish-folder", dir,
		}
		server := command(t, args...)
		require.NoError(t, server.Start())
		conn := dial(t, filepath.Join(dir, "s"))
		for _, r := range []wire.Record{
			{Type: wire.TypeCBAlloc, Device: 1, Size: 4096, ID: 111616},
			{Type: wire.TypeCBAlloc, Device: 1, Size: 1024, ID: 111616},
			{Type: wire.TypeAlloc, Device: 1, Size: 100, Kind: 0},
			{Type: wire.TypeAlloc, Device: 1, Size: 200, Kind: 1, ID: 1 << 20},
			{Type: wire.TypeAlloc, Device: 1, Size: 300, Kind: 2, ID: 1},
			{Type: wire.TypeAlloc, Device: 1, Size: 400, Kind: 3, ID: 2 << 20},
			{Type: wire.TypeAlloc, Device: 1, Size: 500, Kind: 4, ID: 2},
			{Type: wire.TypeAlloc, Device: 0, Size: 7, Kind: 0},
		} {
			b, err := wire.Newest().Append(nil, &r)
			require.NoError(t, err)
			_, err = conn.Write(b)
			require.NoError(t, err)
		}
		path := filepath.Join(dir, shm.Name(chip))
		look := func() (shm.Image, error) { // which may be of a region that is being set up
			region, err := shm.Open(path)
			if err != nil {
				return shm.Image{}, err
			}
			im, err := region.Read()
			return im, errors.Join(err, region.Close())
		}
		read := func() shm.Image {
			im, err := look()
			require.NoError(t, err)
			return im
		}
		want := shm.Counters{DRAM: 100, L1: 200, L1Small: 400, Trace: 500, CB: 64 * 4096}
		require.Eventually(t, func() bool { im, err := look(); return err == nil && im.Total(shm.Alive) == want }, testkit.Patience, 10*time.Millisecond)
		found, err := shm.List(dir)
		require.NoError(t, err)
		require.Equal(t, []shm.RegionFile{{Path: path, ASIC: chip}}, found)
		im := read()
		require.Equal(t, version, im.Version)
		require.EqualValues(t, 1, im.Device)
		require.EqualValues(t, server.Process.Pid, im.Processes[0].PID)
		require.Equal(t, "cbl1", im.Processes[0].Name)
		require.Equal(t, want, im.Processes[0].Counters)

		args[3] += "2"
		var second bytes.Buffer
		require.Equal(t, exitUsage, run(args, strings.NewReader(""), io.Discard, &second))
		require.Equal(t, fmt.Sprintf("cbl1: shared memory of device 1: process %d (cbl1) holds the region\n", server.Process.Pid), second.String())
		require.Equal(t, im, read())

		require.NoError(t, server.Process.Signal(syscall.SIGTERM))
		require.NoError(t, server.Wait())
		require.Zero(t, read().Totals)
		require.Zero(t, read().References)
	}
}

// A device of a fleet with a name is published when a log says that it is there: in version 3 what
// is registered, in version 4 what dispatches left.
func TestServePublishesFleets(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	for version, cbs := range map[uint32]uint64{3: 64*4096 + 2048, 4: 2048} {
		logs := filepath.Join(dir, "l")
		server := command(t, "serve", "-q", "--socket", filepath.Join(dir, "s"), "--logs", logs, "--publish", "a=b/c/4=77,my/4=78", "--publish-version", fmt.Sprint(version), "--publish-folder", dir)
		require.NoError(t, server.Start())
		log := dial(t, logs)
		_, err = io.WriteString(log, `{"event":"log","version":1,"fleet":"a=b/c"}
{"event":"device","device":4,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"{[0-0 - 7-7]}","size":4096,"address":111616}]}
{"event":"register","program":1}
{"event":"program","program":2,"cbs":[{"cores":"{[1-1 - 1-1]}","size":2048,"address":204800}]}
{"event":"enqueue","program":2}
{"event":"allocate","buffer":5,"kind":"dram","size":99}
`)
		require.NoError(t, err)
		look := func(chip uint64) (im shm.Image) { // which may be of a region that is being set up
			if region, err := shm.Open(filepath.Join(dir, shm.Name(chip))); err == nil {
				im, _ = region.Read()
				require.NoError(t, region.Close())
			}
			return im
		}
		want := shm.Counters{DRAM: 99, CB: cbs}
		require.Eventually(t, func() bool { im := look(77); return im.Version == version && im.Total(shm.Alive) == want }, testkit.Patience, 10*time.Millisecond)
		require.EqualValues(t, 4, look(77).Device)
		require.Zero(t, look(78).Totals, "nobody has told of that fleet")
		require.EqualValues(t, server.Process.Pid, look(78).Processes[0].PID)
		_, err = io.WriteString(log, `{"event":"remove","devices":[4]}`+"\n")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return look(77).Totals == shm.Counters{} }, testkit.Patience, 10*time.Millisecond)
		require.NoError(t, server.Process.Signal(syscall.SIGTERM))
		require.NoError(t, server.Wait())
		require.NoError(t, log.Close())
	}
}

func TestPublishFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--publish 0", "want a device and the number of its chip"},
		{"--publish 0-1=5", "want a device and the number of its chip"},
		{"--publish 0=18446744073709551616", "want a device and the number of its chip"},
		{"--publish =5", "want a device and the number of its chip"},
		{"--publish /0=5", "want a device and the number of its chip"},
		{"--publish a/=5", "want a device and the number of its chip"},
		{"--publish a/0-1=5", "want a device and the number of its chip"},
		{"--publish a/0=5,a/0=6", "comes twice"},
		{"--publish a/0=5,0=5", "comes twice"},
		{"--publish 0=5,0=6", "comes twice"},
		{"--publish 0=5,1=5", "comes twice"},
		{"--publish-version 2", "want one of 3, 4"},
		{"--publish 0=5", "shared memory of device 0: --devices does not describe it"},
		{"--devices 5=mesh:0-1 --publish 5=5", "--devices does not describe it"},
	} {
		socket := filepath.Join(t.TempDir(), "s")
		code, stdout, stderr := call("", append([]string{"serve", "--socket", socket}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.want, c.args)
		requireOneLine(t, stderr)
	}
}

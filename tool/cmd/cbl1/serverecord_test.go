package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// Whatever is where logs go: logs are renamed, empty files give way, and where something else would
// have to go nothing is touched.
func TestServeNextLog(t *testing.T) {
	const log = `{"event":"log","version":1}` + "\n"
	kinds := []string{"absent", "", log, "notes\n"}
	for at := range 64 {
		in := serving{record: filepath.Join(t.TempDir(), "live.jsonl")}
		paths := []string{in.record, in.record + ".1", in.record + ".2"}
		var before [3]string
		for i, path := range paths {
			if before[i] = kinds[at>>(2*i)&3]; before[i] == "absent" {
				continue
			}
			if before[i] == log {
				before[i] += path
			}
			require.NoError(t, os.WriteFile(path, []byte(before[i]), 0o600))
		}
		isLog := func(i int) bool { return len(before[i]) > len(log) }
		want, blocked := before, -1
		for i := range before { // by hand: the first file that need not move ends the search
			if before[i] == "notes\n" {
				blocked = i
			}
			if !isLog(i) {
				break
			}
		}
		switch {
		case blocked >= 0:
		case isLog(0) && isLog(1):
			want = [3]string{"", before[0], before[1]}
		case isLog(0):
			want = [3]string{"", before[0], before[2]}
		default:
			want[0] = ""
		}
		file, err := in.nextLog()
		if blocked >= 0 {
			wrong, ok := errors.AsType[*notLogError](err)
			require.True(t, ok, "%q", before)
			require.Equal(t, paths[blocked], wrong.path)
			require.ErrorContains(t, err, paths[blocked])
		} else {
			require.NoError(t, err)
			require.NoError(t, file.Close())
		}
		for i, path := range paths {
			got, err := os.ReadFile(path)
			if want[i] == "absent" {
				require.ErrorIs(t, err, os.ErrNotExist)
				continue
			}
			require.NoError(t, err, "%q", before)
			require.Equal(t, want[i], string(got), "%q", before)
		}
	}
}

func TestServeNextLogIsNoFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	for _, path := range []string{dir, filepath.Join(dir, "link")} {
		_, err := (&serving{record: path}).nextLog()
		require.EqualError(t, err, path+": exists and is no event log: it is kept, and nothing is recorded")
	}
}

// A dead process keeps what it had for the delay and at most a sixth longer, whenever it dies.
func TestServeDelay(t *testing.T) {
	for _, c := range []struct{ delay, late time.Duration }{
		{0, 200 * time.Millisecond}, {time.Second, 200 * time.Millisecond}, {3 * time.Second, 500 * time.Millisecond}, {time.Minute, 6 * time.Second},
	} {
		for _, after := range []time.Duration{1, 99 * time.Millisecond, time.Second + 1, 2999 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				s := newStageAt(t, time.Now, c.delay)
				s.client(t, wire.Record{Type: wire.TypeCBAlloc, Size: 64, ID: 111616})
				stop := make(chan os.Signal)
				in := serving{delay: c.delay}
				ended := make(chan error)
				go func() { ended <- in.wait(stop, s.server, func() bool { return false }) }()
				time.Sleep(after)
				s.kill(101)
				require.NoError(t, s.open[0].Close())
				time.Sleep(c.delay - 1)
				synctest.Wait()
				require.Zero(t, s.server.Snapshot().Leaked, "before the delay")
				time.Sleep(c.late + 1)
				synctest.Wait()
				require.EqualValues(t, 1, s.server.Snapshot().Leaked, "%v, dead after %v", c.delay, after)
				stop <- os.Interrupt
				require.NoError(t, <-ended)
				s.shut()
			})
		}
	}
}

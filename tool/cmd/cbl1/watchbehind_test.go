package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/watch"
)

// A reader of 1,600 bytes a second of a log that grows by 10,000 is reported as behind, by how
// much, and not any more when all was read.
func TestWatchFallsBehind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(file)
	require.NoError(t, err)
	in, err := os.Open(file)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		log := &tail{path: file, file: in, stop: make(chan struct{})}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for b := make([]byte, 16); ; time.Sleep(10 * time.Millisecond) {
				if _, err := log.Read(b); errors.Is(err, io.EOF) {
					return
				}
			}
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, log.behind(), "there is nothing to read")
		time.Sleep(5 * time.Millisecond)
		for second := range int64(5) {
			for range 100 {
				_, err := out.Write(bytes.Repeat([]byte("x"), 100))
				require.NoError(t, err)
				time.Sleep(10 * time.Millisecond)
			}
			synctest.Wait()
			behind := log.behind()
			if second > 0 { // when it began, all was read
				require.InDelta(t, 8400*(second+1), behind, 200)
				m := watch.Model{}
				m.Take(watch.Snapshot{Behind: behind})
				require.Contains(t, m.Lines(80, 24)[1].Text, "bytes of the log are not read yet")
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, log.behind())
		close(log.stop)
		<-ended
	})
	require.NoError(t, in.Close())
	require.NoError(t, out.Close())
}

package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/guard/large"
)

// TestBeside reads events through a goroutine: they are the same, in the same order, to the
// error or as far as the caller wants.
func TestBeside(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, batch - 1, batch, batch + 1, 10*batch + 7} {
		events := func(yield func(*event.Event, error) bool) {
			var one event.Event // as sources do
			for i := range n {
				one = event.Event{Node: uint64(i), Devices: event.Some(idsTo(i % 3))}
				if !yield(&one, nil) {
					return
				}
			}
			yield(nil, broken)
		}
		for _, most := range []int{1, batch, 1 << 20} {
			i := 0
			for e, err := range beside(events, nil) {
				if err != nil {
					require.ErrorIs(t, err, broken)
					require.Equal(t, n, i)
					break
				}
				require.EqualValues(t, i, e.Node)
				require.Len(t, e.Devices.V, i%3)
				if i++; i == most {
					break
				}
			}
			require.Equal(t, min(n, most), i)
		}
	}
}

// TestBesideStops ends a source that nobody listens to any more.
func TestBesideStops(t *testing.T) {
	ended := make(chan struct{})
	var events iter.Seq2[*event.Event, error] = func(yield func(*event.Event, error) bool) {
		defer close(ended)
		for yield(&event.Event{}, nil) {
		}
	}
	beside(events, nil)(func(*event.Event, error) bool { return false })
	select {
	case <-ended:
	case <-time.After(testkit.Patience):
		t.Fatal("the source goes on")
	}
}

// TestManyInputs reads more captures than there are processors, some of them broken: the
// answers come in the order of the names, and are those that each alone gives.
func TestManyInputs(t *testing.T) {
	dir := t.TempDir()
	var args []string
	var want, wrong strings.Builder
	for i := range 9 {
		name := filepath.Join(dir, fmt.Sprintf("run%d.json", i))
		var text strings.Builder
		_, err := large.Plan{Size: int64(300_000 / (i + 1)), Programs: 3 + i, Buffers: large.VaryBuffers}.Write(&text)
		require.NoError(t, err)
		content := text.String()
		if i%4 == 2 {
			content = content[:len(content)/2]
		}
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		args = append(args, name)
		_, stdout, stderr := call("", "report", "--format", "json", name)
		want.WriteString(stdout)
		wrong.WriteString(stderr)
	}
	code, stdout, stderr := call("", append([]string{"report", "--format", "json"}, args...)...)
	require.Equal(t, exitUsage, code)
	require.Equal(t, want.String(), stdout)
	require.Equal(t, wrong.String(), stderr)
	files, err := capture.Inputs(dir)
	require.NoError(t, err)
	require.Len(t, files, 9)
}

func idsTo(n int) (ids []device.ID) {
	return make([]device.ID, n)
}

// TestLimit holds that the limit of memory follows what is in use, and does not wrap.
func TestLimit(t *testing.T) {
	require.EqualValues(t, leastMemory, limitOf(2, 0))
	require.EqualValues(t, leastMemory, limitOf(2, leastMemory/2))
	require.EqualValues(t, 200<<20, limitOf(2, 100<<20))
	require.Positive(t, limitOf(2, 1<<62))
	require.Positive(t, limitOf(2, 1<<63+5))
	require.Positive(t, limitOf(4, 1<<63+5))
}

package dump_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/dump"
)

// FuzzEvents reads anything: no panic, an error is an InputError of one line, blocks lie in their bank and apart from
// each other, and the answer does not depend on the pieces in which the input comes.
func FuzzEvents(f *testing.F) {
	text, err := os.ReadFile("testdata/few.txt")
	require.NoError(f, err)
	for section := range strings.SplitSeq(string(text), "\n== ") {
		var b strings.Builder
		for line := range strings.Lines(section) {
			if !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "with ") {
				b.WriteString(line)
			}
		}
		_, input, _ := strings.Cut(b.String(), "\n")
		f.Add([]byte(input), uint64(0), uint64(1024))
		f.Add([]byte(input), uint64(1024), uint64(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, base, small uint64) {
		opt := dump.Options{Base: base % (1 << 40), MaxL1: small >> 3, L1Small: event.Opt[uint64]{V: small % (1 << 40), OK: small&1 == 0}}
		if small&2 == 0 {
			opt.Arch = l1.Wormhole
		}
		whole, err := collect(t, data, opt, false)
		pieces, other := collect(t, data, opt, true)
		require.Equal(t, whole, pieces)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(other))
		if err == nil {
			require.True(t, dump.Is(data[:min(len(data), 4<<10)]))
		}
	})
}

func collect(t *testing.T, data []byte, opt dump.Options, cut bool) (lines []string, err error) {
	var in interface{ Read([]byte) (int, error) } = bytes.NewReader(data)
	if cut {
		in = iotest.DataErrReader(iotest.OneByteReader(in))
	}
	live, specs, began, ended := map[uint64]l1.Range{}, map[device.ID]l1.Spec{}, false, false
	for e, err := range dump.Events(in, "fuzz", opt) {
		if err != nil {
			var input *event.InputError
			require.ErrorAs(t, err, &input)
			require.NotContains(t, err.Error(), "\n")
			return lines, err
		}
		require.False(t, ended)
		switch e.Kind {
		case event.KindHeader:
			began = true
		case event.KindDevice:
			require.NoError(t, e.Spec.Check())
			specs[e.Device] = e.Spec
		case event.KindFree:
			require.Contains(t, live, uint64(e.Buffer.ID))
			delete(live, uint64(e.Buffer.ID))
		case event.KindAllocate:
			at, spec := e.Parts[0].Range, specs[e.Named.V]
			require.Less(t, at.Start, at.End)
			require.LessOrEqual(t, spec.CBBase, at.Start)
			require.LessOrEqual(t, at.End, spec.L1Size)
			require.Equal(t, at.Len()*uint64(spec.NumCores()), e.Buffer.Size)
			live[uint64(e.Buffer.ID)] = at
		case event.KindEnd:
			ended = true
		}
		require.True(t, began)
		lines = append(lines, fmt.Sprintf("%v %v %v", *e, e.Parts, e.Op))
	}
	require.True(t, ended)
	return lines, nil
}

// TestReadFails: an error of the source is told, and typed.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	for _, start := range []string{"", ",L1\n", ",L1\n" + strings.Repeat(" \n", 8<<10), `{"l1":{`, `{"l1":{` + strings.Repeat(" ", 8<<10)} {
		var err error
		for _, e := range dump.Events(&failing{strings.NewReader(start), broken}, "f", dump.Options{}) {
			err = e
		}
		require.ErrorAs(t, err, new(*event.InputError), start)
		require.ErrorIs(t, err, broken)
	}
}

type failing struct {
	*strings.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.Len() == 0 {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

// TestMemory: many moments cost the memory of one, and a long line that is not read costs none.
func TestMemory(t *testing.T) {
	one := ",L1\n,Total allocatable (B):,64\n,Total allocated (B):,64\n  Size class 0: " + strings.Repeat("17 ", 2000) +
		"\n,,Blocks:,Address (B),Size (B),Allocated (Y/N)\n,,,0,64,Y\n"
	held := func(n int) (most int64) {
		before := testkit.Kept()
		events := 0
		for e, err := range dump.Events(&again{text: one, left: n}, "f", dump.Options{}) {
			require.NoError(t, err)
			if events++; e.Kind == event.KindEnd {
				require.Equal(t, int64(n), e.Nodes)
				most = testkit.Kept() - before
			}
		}
		require.Equal(t, 5, events, "header, device, block, hidden, end")
		return most
	}
	require.Less(t, held(3000), int64(1<<20))
}

// again reads a text several times.
type again struct {
	text string
	left int
	at   int
}

func (a *again) Read(p []byte) (int, error) {
	if a.at == len(a.text) {
		a.at, a.left = 0, a.left-1
	}
	if a.left == 0 {
		return strings.NewReader("").Read(p)
	}
	n := copy(p, a.text[a.at:])
	a.at += n
	return n, nil
}

package source

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// small is a board of 4 cores with L1 from 1024 to 4096.
var small = l1.Spec{Arch: l1.Wormhole, Cols: 4, Rows: 1, L1Size: 4096, CBBase: 1024, CBAlign: 16, L1Align: 16, CBIndices: 32}

// A run may have circular buffers, and dataflow buffers or scratchpads. They are two programs, judged under one id.
func TestApart(t *testing.T) {
	on := func(kind program.Kind, size uint64) event.CB {
		return event.CB{CB: program.CB{Kind: kind, Cores: l1.Rect(0, 0, 0, 0), Size: size}}
	}
	for _, c := range []struct {
		name   string
		cbs    []event.CB
		ids    []program.ID // of Programs
		sizes  []uint64     // of these
		placed [3]bool      // Counted
	}{
		{"circular buffers", []event.CB{on(program.CircularBuffer, 64), on(program.CircularBuffer, 32)}, []program.ID{3}, []uint64{96}, [3]bool{true, false, false}},
		{"a dataflow buffer", []event.CB{on(program.DataflowBuffer, 64)}, []program.ID{^program.ID(3)}, []uint64{64}, [3]bool{false, true, false}},
		{"all", []event.CB{on(program.Scratchpad, 16), on(program.CircularBuffer, 64), on(program.DataflowBuffer, 32)},
			[]program.ID{3, ^program.ID(3)}, []uint64{64, 48}, [3]bool{true, true, true}},
	} {
		def := &Definition{id: 3, Name: "p", cbs: c.cbs}
		got, err := def.Apart(small)
		require.NoError(t, err, c.name)
		again, err := def.Apart(small)
		require.NoError(t, err)
		require.Same(t, got, again, "it is worked out once")
		var ids []program.ID
		var sizes []uint64
		for i, p := range got.Programs {
			sum := uint64(0)
			for _, cb := range p.CBs() {
				sum += cb.Range.Len()
			}
			ids, sizes = append(ids, p.ID()), append(sizes, sum)
			require.Equal(t, program.ID(3), got.Judged[i].ID(), c.name)
		}
		require.Equal(t, c.ids, ids, c.name)
		require.Equal(t, c.sizes, sizes, c.name)
		for kind, p := range got.Counted {
			require.Equal(t, c.placed[kind], p != nil, "%s, kind %d", c.name, kind)
		}
	}
}

// A run that grew has the content that its buffers have when they come at once.
func TestLongerRunIsThatOfItsBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cbs []event.CB
		for range rapid.IntRange(2, 6).Draw(t, "buffers") {
			first := rapid.Uint8Range(0, 3).Draw(t, "first core")
			cb := event.CB{CB: program.CB{
				Cores: l1.Rect(first, 0, rapid.Uint8Range(first, 3).Draw(t, "last core"), 0), Size: 16 * rapid.Uint64Range(1, 40).Draw(t, "size"),
				Global: rapid.IntRange(0, 4).Draw(t, "global") == 0,
			}}
			if !cb.Global && rapid.Bool().Draw(t, "with an address") {
				cb.Address, cb.Fixed = 1024+16*rapid.Uint64Range(0, 200).Draw(t, "address"), true
				cb.Synthesised = rapid.Bool().Draw(t, "synthesised")
			}
			cbs = append(cbs, cb)
		}
		shorter := &Definition{id: 1, Name: "p", asWritten: true, cbs: cbs[:rapid.IntRange(1, len(cbs)-1).Draw(t, "before")]}
		_, err := shorter.Apart(small)
		require.NoError(t, err)
		grown, err := (&Definition{id: 2, Name: "p", asWritten: true, cbs: cbs, shorter: shorter}).Apart(small)
		require.NoError(t, err)
		atOnce, err := (&Definition{id: 2, Name: "p", asWritten: true, cbs: cbs}).Apart(small)
		require.NoError(t, err)
		require.Equal(t, described(atOnce), described(grown))
		require.Equal(t, atOnce.PlacedBuffers(), grown.PlacedBuffers())
	})
}

// described returns all that a content says, with programs by their buffers.
func described(c *Content) []any {
	var programs []any
	for _, list := range [][]*program.Program{c.Programs, c.Judged, c.Counted[:]} {
		for _, p := range list {
			if p != nil {
				programs = append(programs, p.ID())
				for _, cb := range p.CBs() {
					programs = append(programs, cb)
				}
			}
		}
	}
	return []any{c.ID, programs, c.Nodes, c.Cores.String(), c.End, c.Sizes, c.Loose, c.Logical, c.Detail, c.From, c.Beyond}
}

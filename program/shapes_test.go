package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// TestShapes builds many programs with and without what was remembered: they are the same in
// everything that they say.
func TestShapes(t *testing.T) {
	var shapes program.Shapes
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.SampledFrom([]l1.Spec{l1.ArchSpec(l1.Wormhole), l1.P150(), {L1Size: 1 << 20, CBAlign: 32}}).Draw(t, "spec")
		corner := rapid.Uint8Range(0, 9)
		plain, quick := program.NewBuilder(1), program.NewBuilder(1).Shapes(&shapes)
		if rapid.Bool().Draw(t, "written") {
			plain.AsWritten()
			quick.AsWritten()
		}
		kinds := rapid.SampledFrom([][]program.Kind{{program.CircularBuffer}, {program.DataflowBuffer, program.Scratchpad}}).Draw(t, "kinds")
		for range rapid.IntRange(0, 5).Draw(t, "CBs") {
			var ranges []l1.CoreRange
			for range rapid.IntRange(1, 3).Draw(t, "ranges") {
				x, y := corner.Draw(t, "x"), corner.Draw(t, "y")
				ranges = append(ranges, l1.CoreRange{Start: l1.Core{X: x, Y: y}, End: l1.Core{X: x + corner.Draw(t, "w"), Y: y + corner.Draw(t, "h")}})
			}
			set, err := l1.NewCoreRangeSet(ranges...)
			require.NoError(t, err)
			cb := program.CB{
				Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
				Cores: set, Size: 32 * rapid.Uint64Range(0, 4).Draw(t, "size"),
				Global: rapid.IntRange(0, 5).Draw(t, "global") == 0,
				Fixed:  rapid.IntRange(0, 3).Draw(t, "fixed") == 0, Address: 32 * rapid.Uint64Range(0, 6).Draw(t, "address"),
			}
			if rapid.Bool().Draw(t, "indexed") {
				cb.Indices = []program.Index{{Number: rapid.SampledFrom([]int{1, 2, 63, 64, 70}).Draw(t, "index"), PageSize: 32}}
			}
			plain.CB(cb)
			quick.CB(cb)
		}
		want, err := plain.Build(spec)
		require.NoError(t, err)
		for range 2 {
			got, err := quick.Build(spec)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

// TestShapesOfManySets forgets, and goes on.
func TestShapesOfManySets(t *testing.T) {
	var shapes program.Shapes
	for i := range 600 {
		x, y := uint8(i%25), uint8(i/25)
		set := l1.Rect(x, y, x+1, y+1)
		b := program.NewBuilder(program.ID(i)).Shapes(&shapes).CB(program.CB{Cores: set, Size: 64})
		p, err := b.Build(l1.Spec{L1Size: 1 << 20, CBAlign: 32})
		require.NoError(t, err)
		require.Equal(t, 4, p.Cores().Len())
		require.True(t, p.Cores().Has(l1.Core{X: x, Y: y}))
	}
}

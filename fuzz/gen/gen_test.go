package gen_test

import (
	"slices"
	"testing"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Legal values are legal, and illegal ones are not.
func TestGeneratorsKeepTheirWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := gen.Ends(rapid.SampledFrom([]uint64{0, 111_616, l1.MaxAddr - 64}).Draw(t, "base"))
		require.NoError(t, gen.Range(ends).Draw(t, "range").Check())
		require.Error(t, gen.IllegalRange(ends).Draw(t, "illegal range").Check())
		require.NoError(t, gen.CoreRange(4, 3).Draw(t, "core range").Check())
		require.NoError(t, gen.ToySpec().Draw(t, "toy").Check())
		require.Error(t, gen.BadSpec().Draw(t, "bad").Check())

		board := gen.Board().Draw(t, "board")
		require.NoError(t, board.Check())
		p := gen.Program(board, 3, 4).Draw(t, "program")
		require.Contains(t, []program.ID{3, 4}, p.ID())
		require.Equal(t, board, p.Spec())
	})
}

// A grid of ends is there to make ranges touch: of six ranges two do, in more than one
// list out of five. Drawn evenly from a megabyte hardly ever.
func TestEndsMeet(t *testing.T) {
	touch, n := 0, 0
	property := func(t *rapid.T) {
		ranges := rapid.SliceOfN(gen.Range(gen.Ends(0)), 6, 6).Draw(t, "ranges")
		n++
		if slices.ContainsFunc(ranges, func(a l1.Range) bool {
			return slices.ContainsFunc(ranges, func(b l1.Range) bool { return !a.IsEmpty() && !b.IsEmpty() && a.End == b.Start })
		}) {
			touch++
		}
	}
	rapid.Check(t, property)
	touch, n = 0, 0 // luck had a part in them
	defer testkit.SameDraws(1, 100)()
	rapid.Check(t, property)
	require.Greater(t, touch, n/5, "of %d lists of six ranges", n)
}

func TestDeviceIDsOfNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		require.LessOrEqual(t, len(gen.DeviceIDs(nil).Draw(t, "devices")), 4)
	})
}

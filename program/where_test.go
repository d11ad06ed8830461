package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The group of a core is found without a visit to each group. A scan of the groups gives the same
// answers, also for cores of no group.
func TestGroupOfACore(t *testing.T) {
	places := rapid.SliceOfNDistinct(rapid.IntRange(0, 24), 1, 12, rapid.ID[int])
	rapid.Check(t, func(t *rapid.T) {
		b := program.NewBuilder(1)
		corner := l1.Core{X: uint8(rapid.IntRange(0, 250).Draw(t, "x")), Y: uint8(rapid.IntRange(0, 250).Draw(t, "y"))}
		cells := places.Draw(t, "cores")
		for i, cell := range cells {
			x, y := corner.X+uint8(cell%5), corner.Y+uint8(cell/5)
			at := uint64(64 * i)
			b.Range(l1.Rect(x, y, x, y), l1.Range{Start: at, End: at + 64})
		}
		p, err := b.Build(l1.Spec{})
		require.NoError(t, err)
		f := p.Occupied(program.CircularBuffer)
		require.Equal(t, len(cells), f.NumGroups(), "each core has a range of its own")
		for x := range 256 {
			for y := range 256 {
				c := l1.Core{X: uint8(x), Y: uint8(y)}
				want := -1
				for i := range f.NumGroups() {
					if f.Group(i).Cores().Has(c) {
						want = i
					}
				}
				g, ok := f.On(c)
				if ok != (want >= 0) || ok && !g.Cores().Equal(f.Group(want).Cores()) {
					require.Fail(t, "another group", "core %v: %v, want %d", c, g.Cores(), want)
				}
			}
		}
	})
}

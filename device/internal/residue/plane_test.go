package residue

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
)

// A plane is a map from cores to the last writer, also of cores far apart; two with the
// same writers are equal, whichever way they were made.
func TestPlane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		writers := []*writer{{number: -1, hash: 1}, {number: -1, hash: 2}, {number: -1, hash: 3}}
		x := rapid.SampledFrom([]uint8{0, 1, 15, 16, 17, 255})
		y := rapid.SampledFrom([]uint8{0, 1, 15, 16, 255})
		draw := func(name string) (p plane, model map[l1.Core]*writer) {
			model = map[l1.Core]*writer{}
			for range rapid.IntRange(0, 4).Draw(t, name) {
				c := l1.Core{X: x.Draw(t, "x"), Y: y.Draw(t, "y")}
				w := rapid.SampledFrom(writers).Draw(t, "writer")
				cores := l1.CoreSetOf(c, l1.Core{X: c.Y, Y: c.X})
				p.paint(Piece{w, cores})
				for c := range cores.All() {
					model[c] = w
				}
			}
			return p, model
		}
		is := func(p plane, model map[l1.Core]*writer) {
			have := map[l1.Core]*writer{}
			var again plane
			for _, w := range p.pieces() {
				require.False(t, w.Cores.IsEmpty())
				for c := range w.Cores.All() {
					require.Nil(t, have[c])
					have[c] = w.writer
				}
				again.paint(w)
			}
			require.Equal(t, model, have)
			for c, w := range model {
				require.Same(t, w, p.on(0, c))
			}
			require.Nil(t, p.on(0, l1.Core{X: 99, Y: 99}))
			require.True(t, p.equal(&again))
			made, painted := &Residue{plane: p}, &Residue{pieces: p.pieces()}
			made.sum()
			painted.sum()
			require.Equal(t, len(model), made.n)
			require.Equal(t, len(model), painted.n)
		}
		p, below := draw("p")
		q, above := draw("q")
		is(p, below)
		is(q, above)
		sum, both := p.clone(1), maps.Clone(below)
		for _, w := range q.pieces() {
			sum.paint(w)
		}
		maps.Copy(both, above)
		is(sum, both)
		is(p, below) // neither has changed
		is(q, above)
		same := len(below) == len(above)
		for c, w := range below {
			same = same && above[c] == w
		}
		require.Equal(t, same, p.equal(&q))
	})
}

// What a plane takes follows its cores, not their coordinates.
func TestPlaneOfFarCores(t *testing.T) {
	var p plane
	p.paint(Piece{new(writer), l1.CoreSetOf(l1.Core{X: 255, Y: 255}, l1.Core{})})
	require.Len(t, p.blocks, 2)
	require.Equal(t, []int{16, 256}, []int{len(p.blocks[0].last), len(p.blocks[1].last)})
}

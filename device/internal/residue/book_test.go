package residue

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A toyLeft is who was the last writer, by kind and core.
type toyLeft map[toySpot]program.ID

type toySpot struct {
	kind program.Kind
	core l1.Core
}

// toyWrites returns who writes where, if these are the pieces.
func toyWrites(t require.TestingT, pieces []Piece) toyLeft {
	out := toyLeft{}
	for _, w := range pieces {
		require.False(t, w.Cores.IsEmpty())
		for c := range w.Cores.All() {
			at := toySpot{w.Kind, c}
			if _, twice := out[at]; twice {
				require.Fail(t, "written twice in a kind", at)
			}
			out[at] = w.Program.ID()
		}
	}
	return out
}

// toyHolders are devices that hold residues, with a model of each.
type toyHolders struct {
	numbers  lookup.Numbers
	residues Book
	left     [3]*Residue
	model    [3]toyLeft
}

// write has over written on some devices.
func (f *toyHolders) write(t require.TestingT, on []int, over *Residue) {
	for _, d := range on {
		if f.model[d] = maps.Clone(f.model[d]); f.model[d] == nil {
			f.model[d] = toyLeft{}
		}
		maps.Copy(f.model[d], toyWrites(t, over.Written()))
	}
	f.put(on, over)
}

// put is write without the models.
func (f *toyHolders) put(on []int, over *Residue) {
	for _, d := range on {
		f.left[d] = f.residues.Over(f.left[d], over, &f.numbers)
	}
}

// drawPieces draws a program that writes each core with the same bytes, in a kind or in two.
func drawPieces(t *rapid.T, n *lookup.Numbers, id program.ID) []Piece {
	first := rapid.SampledFrom([]program.Kind{program.CircularBuffer, program.CircularBuffer, program.DataflowBuffer}).Draw(t, "first")
	kinds := rapid.SampledFrom([][]program.Kind{{first}, {first}, {program.Scratchpad}, {first, program.Scratchpad}}).Draw(t, "kinds")
	var cbs []program.CB
	for _, kind := range kinds {
		x := rapid.SampledFrom([]int{0, 1, 16}).Draw(t, "x")
		cores := fmt.Sprintf("{[%d-0 - %d-%d]}", x, rapid.IntRange(x, 17).Draw(t, "to"), rapid.IntRange(0, 1).Draw(t, "rows"))
		c := toyCB(kind, cores, 32*rapid.Uint64Range(0, 2).Draw(t, "size"))
		c.Global = rapid.IntRange(0, 5).Draw(t, "global") == 0
		cbs = append(cbs, c)
	}
	return toyPieces(t, n, id, cbs...)
}

// However pieces are written, the last writer of each kind is left on each core, and the sums equal
// a recount. Devices with equal residues share one.
func TestResidues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := toyHolders{}
		f.numbers.Blind = rapid.IntRange(0, 9).Draw(t, "blind") == 0
		pieces := make([][]Piece, 4) // of programs 0..3
		for id := range pieces {
			pieces[id] = drawPieces(t, &f.numbers, program.ID(id))
		}
		sets := rapid.SampledFrom([][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {1, 0}, {0}, {1}, {2}})
		devices := func(t *rapid.T) []int { return sets.Draw(t, "devices") }
		draw := func(t *rapid.T) int { return rapid.IntRange(0, len(pieces)-1).Draw(t, "program") }
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) { f.write(t, devices(t), f.residues.Of(pieces[draw(t)], &f.numbers)) },
			"write what is larger": func(t *rapid.T) {
				a, b := draw(t), draw(t)
				before := slices.Clone(pieces[a])
				r := f.residues.Of(Larger(Larger(nil, pieces[a]), pieces[b]), &f.numbers)
				for i, w := range before {
					require.True(t, w.Cores.Equal(pieces[a][i].Cores), "they are the program's")
				}
				requireLarger(t, r.Written(), pieces[a], pieces[b])
				f.write(t, devices(t), r)
			},
			"take away": func(t *rapid.T) {
				id := program.ID(draw(t))
				for _, d := range devices(t) {
					held := slices.Contains(slices.Collect(maps.Values(f.model[d])), id)
					rest, gone := f.residues.Without(f.left[d], id, &f.numbers)
					require.Equal(t, held, gone != nil)
					if !held {
						require.Same(t, f.left[d], rest)
						continue
					}
					require.Equal(t, id, gone.ID())
					f.model[d] = maps.Clone(f.model[d])
					maps.DeleteFunc(f.model[d], func(_ toySpot, o program.ID) bool { return o == id })
					f.left[d] = rest
				}
			},
			"keep": func(t *rapid.T) {
				r := f.left[rapid.IntRange(0, 2).Draw(t, "device")]
				was := toyWrites(t, r.Written())
				f.write(t, devices(t), f.residues.Of(pieces[draw(t)], &f.numbers))
				require.Equal(t, was, toyWrites(t, r.Written()))
			},
			"": func(t *rapid.T) {
				for d, r := range f.left {
					have := toyWrites(t, r.Written())
					if !maps.Equal(f.model[d], have) {
						require.Equal(t, f.model[d], have)
					}
					if d%2 == 0 {
						r.Held() // so that it is counted too
					}
					requireCounted(t, r)
					if d > 0 && maps.Equal(f.model[d], f.model[0]) {
						require.Same(t, f.left[0], r)
					}
				}
			},
		})
	})
}

// All residues are forgotten when there are too many, and found anew.
func TestResiduesAreForgotten(t *testing.T) {
	var f toyHolders
	var programs [16]*Residue
	for k := range programs {
		cores := fmt.Sprintf("{[%d-0 - %d-%d]}", k, 17-k%3, k%2)
		programs[k] = f.residues.Of(toyPieces(t, &f.numbers, program.ID(k), toyCB(program.CircularBuffer, cores, uint64(64*(k+1)))), &f.numbers)
	}
	order := uint64(1)
	for range 5 * MaxResidues {
		order = order*6364136223846793005 + 1442695040888963407
		f.put([]int{0, 1, 2}, programs[order>>60])
		require.Same(t, f.left[0], f.left[2])
		require.LessOrEqual(t, max(f.residues.known.Len(), len(f.residues.writings)), MaxResidues)
	}
}

// requireCounted requires that the sums of a residue equal a count of its pieces, byte by byte.
func requireCounted(t require.TestingT, r *Residue) {
	if r == nil {
		return
	}
	on := map[l1.Core]map[uint64]bool{}
	var bytes, other, all, most, end uint64
	for _, w := range r.Written() {
		for c := range w.Cores.All() {
			g, ok := w.Program.Occupied(w.Kind).On(c)
			if !ok {
				continue
			}
			if w.Kind == program.CircularBuffer {
				bytes += g.Bytes()
			} else {
				other += g.Bytes()
			}
			if on[c] == nil {
				on[c] = map[uint64]bool{}
			}
			for span := range g.Ranges() {
				end = max(end, span.End)
				for at := span.Start; at < span.End; at++ {
					on[c][at] = true
				}
			}
		}
	}
	held := map[l1.Core]uint64{}
	for g := range r.Held().Groups() {
		for c := range g.Cores().All() {
			held[c] += g.Bytes()
		}
	}
	for c, taken := range on {
		all, most = all+uint64(len(taken)), max(most, uint64(len(taken)))
		require.EqualValues(t, len(taken), held[c])
	}
	require.Len(t, held, len(on))
	require.Equal(t, []uint64{bytes, other, all, most, end}, []uint64{r.Total(), r.Others(), r.Union(), r.Fullest(), r.End})
	require.Equal(t, bytes+other, r.Charged())
}

// toyCB is a circular buffer, or another kind of CB, on cores of a toy.
func toyCB(kind program.Kind, cores string, size uint64) program.CB {
	return program.CB{Kind: kind, Cores: l1.MustParseCoreRangeSet(cores), Size: size}
}

// toyPieces returns what a program on a toy leaves. A toy has more columns than a block of a plane.
func toyPieces(t require.TestingT, n *lookup.Numbers, id program.ID, cbs ...program.CB) []Piece {
	p, err := program.Place(id, "", l1.Spec{Cols: 18, Rows: 2}, cbs...)
	require.NoError(t, err)
	return PiecesOf(p, n)
}

// requireLarger requires that have is, core by core, what the larger of two programs leaves, the
// second of equals.
func requireLarger(t require.TestingT, have []Piece, first, second []Piece) {
	who, bytes := toyLeft{}, map[toySpot]uint64{}
	for _, w := range slices.Concat(first, second) {
		for c := range w.Cores.All() {
			at, n := toySpot{w.Kind, c}, uint64(0)
			if g, ok := w.Program.Occupied(w.Kind).On(c); ok {
				n = g.Bytes()
			}
			if n >= bytes[at] {
				who[at], bytes[at] = w.Program.ID(), n
			}
		}
	}
	require.Equal(t, who, toyWrites(t, have))
}

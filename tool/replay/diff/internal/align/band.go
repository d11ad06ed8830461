package align

import (
	"math"
	"slices"
)

// A band is the part of the table of alignments that is searched. Row i stands for the first i old elements, column j
// for the first j new ones. Columns i+low to i+high of row i are in it.
//
//	      new ->
//	old   x x x . . .
//	 |    x x x x . .
//	 v    . x x x x .
//	      . . x x x x
type band struct {
	n, m, low, high int
	moves           []byte // how the best alignment came to a cell, four cells a byte
}

// How an alignment comes to a cell.
const (
	paired = iota
	gone   // an old element without partner
	added  // a new one
)

// newBand returns the band of width w around the diagonals that every alignment touches.
func newBand(n, m, w int) *band {
	w = min(w, max(n, m))
	return &band{n: n, m: m, low: min(0, m-n) - w, high: max(0, m-n) + w}
}

func (b *band) width() int { return b.high - b.low + 1 }

// cells is how many cells the band has, those outside of the table not counted where it
// is wider than that.
func (b *band) cells() int {
	if width := b.width(); width <= b.m {
		return (b.n + 1) * width
	}
	return (b.n + 1) * (b.m + 1)
}

// row returns the columns of a row that are in the band and the table: from first to last.
func (b *band) row(i int) (first, last int) { return max(0, i+b.low), min(b.m, i+b.high) }

// set and move write and read how an alignment came to a cell.
func (b *band) set(i, j int, move byte) {
	at := b.index(i, j)
	b.moves[at/4] |= move << (at % 4 * 2)
}

func (b *band) move(i, j int) byte {
	at := b.index(i, j)
	return b.moves[at/4] >> (at % 4 * 2) & 3
}

func (b *band) index(i, j int) int {
	if width := b.width(); width <= b.m {
		return i*width + j - i - b.low
	}
	return i*(b.m+1) + j
}

// fill finds the least cost of an alignment in the band.
func (b *band) fill(before, after []elem) int {
	b.moves = make([]byte, b.cells()/4+1)
	const far = math.MaxInt32 / 2
	last := make([]int32, b.m+1) // of the row above, by column
	for j := range last {
		last[j] = far
	}
	for i := 0; i <= b.n; i++ {
		first, end := b.row(i)
		corner := int32(far) // above and left
		if first > 0 {
			corner = last[first-1]
		}
		left := int32(far)
		for j := first; j <= end; j++ {
			above := last[j]
			best, move := b.best(before, after, i, j, corner, above, left)
			b.set(i, j, move)
			last[j], left, corner = best, best, above
		}
	}
	return int(last[b.m])
}

// best returns the least cost of a cell and the move to it. Pairs come first of moves that
// cost the same; of two elements the one with the smaller key is left without a partner,
// whichever is the old one.
func (b *band) best(before, after []elem, i, j int, corner, above, left int32) (int32, byte) {
	switch {
	case i == 0 && j == 0:
		return 0, paired
	case i == 0:
		return left + costGap, added
	case j == 0:
		return above + costGap, gone
	}
	old, new := before[i-1], after[j-1]
	best, move := above+costGap, byte(gone)
	if other := left + costGap; other < best || other == best && new.whole < old.whole {
		best, move = other, added
	}
	if c, ok := cost(old, new); ok && corner+c <= best {
		best, move = corner+c, paired
	}
	return best, move
}

// trace returns the pairs of the alignment that fill found.
func (b *band) trace(before, after []elem) []Pair {
	var pairs []Pair
	for i, j := b.n, b.m; i > 0 || j > 0; {
		if b.move(i, j) == paired {
			pairs = append(pairs, Pair{before[i-1].at, after[j-1].at})
		}
		i, j = b.back(i, j)
	}
	slices.Reverse(pairs)
	return pairs
}

func (b *band) back(i, j int) (int, int) {
	switch b.move(i, j) {
	case gone:
		return i - 1, j
	case added:
		return i, j - 1
	}
	return i - 1, j - 1
}

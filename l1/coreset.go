package l1

import (
	"iter"
	"math/bits"
	"slices"
)

// A CoreSet is a set of cores. The zero value is empty. Sets are immutable values;
// operations return new ones.
//
// Cores are kept as bits in blocks of 16x16 cores, so that every real board is one
// block of four words, and any set of the 256x256 possible cores at most 256.
type CoreSet struct {
	tiles []tile // sorted by key; none is empty, so equal sets have equal tiles
}

// A tile is a block of 16x16 cores. Bit (x%16)*16 + y%16 is core x-y, so that bits
// in order are cores in order.
type tile struct {
	key  uint8 // x/16 in the high half, y/16 in the low half
	bits [4]uint64
}

func (t *tile) empty() bool { return t.bits == [4]uint64{} }

// column returns the 16 cores of column x (0..15) of the tile, lowest y first.
func (t *tile) column(x int) uint64 { return t.bits[x>>2] >> (x & 3 * 16) & 0xffff }

func tileKey(c Core) uint8 { return c.X&0xf0 | c.Y>>4 }

func bitOf(c Core) (word int, mask uint64) {
	i := int(c.X&15)<<4 | int(c.Y&15)
	return i >> 6, 1 << (i & 63)
}

// CoreSetOf returns the set of the given cores.
func CoreSetOf(cores ...Core) CoreSet {
	var b coreSetBuilder
	for _, c := range cores {
		b.addRange(CoreRange{c, c})
	}
	return b.set()
}

// coreSetBuilder gathers rectangles into a set without a copy per rectangle.
type coreSetBuilder struct {
	tiles []tile // sorted by key
}

// seek returns the position of the tile with the key, or where it belongs.
func (b *coreSetBuilder) seek(key uint8) int {
	i, _ := slices.BinarySearchFunc(b.tiles, key, func(t tile, k uint8) int { return int(t.key) - int(k) })
	return i
}

// addRange adds a legal rectangle.
func (b *coreSetBuilder) addRange(r CoreRange) {
	for tx := int(r.Start.X >> 4); tx <= int(r.End.X>>4); tx++ {
		x0, x1 := max(int(r.Start.X), tx<<4)&15, min(int(r.End.X), tx<<4|15)&15
		at := b.seek(uint8(tx<<4) | r.Start.Y>>4) // the tiles of a block of columns lie side by side
		for ty := int(r.Start.Y >> 4); ty <= int(r.End.Y>>4); ty++ {
			key := uint8(tx<<4 | ty)
			if at == len(b.tiles) || b.tiles[at].key != key {
				b.tiles = slices.Insert(b.tiles, at, tile{key: key})
			}
			y0, y1 := max(int(r.Start.Y), ty<<4)&15, min(int(r.End.Y), ty<<4|15)&15
			column := (uint64(1)<<(y1-y0+1) - 1) << y0
			for x, t := x0, &b.tiles[at]; x <= x1; x++ {
				t.bits[x>>2] |= column << (x & 3 * 16)
			}
			at++
		}
	}
}

func (b *coreSetBuilder) set() CoreSet { return CoreSet{b.tiles} }

// Len returns the number of cores in s.
func (s CoreSet) Len() int {
	n := 0
	for i := range s.tiles {
		for _, w := range s.tiles[i].bits {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// IsEmpty reports whether s has no cores.
func (s CoreSet) IsEmpty() bool { return len(s.tiles) == 0 }

// First returns the core of s that [CoreSet.All] begins with, the lowest y of the
// lowest x. ok is false if s is empty. It does not allocate.
func (s CoreSet) First() (c Core, ok bool) {
	for c := range s.All() {
		return c, true
	}
	return Core{}, false
}

// Has reports whether c is in s.
func (s CoreSet) Has(c Core) bool {
	word, mask := bitOf(c)
	for i := range s.tiles {
		if s.tiles[i].key == tileKey(c) {
			return s.tiles[i].bits[word]&mask != 0
		}
	}
	return false
}

// Equal reports whether s and o have the same cores.
func (s CoreSet) Equal(o CoreSet) bool { return slices.Equal(s.tiles, o.tiles) }

// Union returns the cores in s, in o, or in both.
func (s CoreSet) Union(o CoreSet) CoreSet {
	return combine(s, o, true, true, func(a, b uint64) uint64 { return a | b })
}

// Intersect returns the cores in both s and o.
func (s CoreSet) Intersect(o CoreSet) CoreSet {
	return combine(s, o, false, false, func(a, b uint64) uint64 { return a & b })
}

// Minus returns the cores in s that are not in o.
func (s CoreSet) Minus(o CoreSet) CoreSet {
	return combine(s, o, true, false, func(a, b uint64) uint64 { return a &^ b })
}

// Overlaps reports whether s and o share a core. It does not allocate.
func (s CoreSet) Overlaps(o CoreSet) bool {
	for i, j := 0, 0; i < len(s.tiles) && j < len(o.tiles); {
		a, b := &s.tiles[i], &o.tiles[j]
		switch {
		case a.key < b.key:
			i++
		case a.key > b.key:
			j++
		default:
			for w := range a.bits {
				if a.bits[w]&b.bits[w] != 0 {
					return true
				}
			}
			i++
			j++
		}
	}
	return false
}

// Contains reports whether every core of o is in s. It does not allocate.
func (s CoreSet) Contains(o CoreSet) bool {
	i := 0
	for j := range o.tiles {
		b := &o.tiles[j]
		for i < len(s.tiles) && s.tiles[i].key < b.key {
			i++
		}
		if i == len(s.tiles) || s.tiles[i].key != b.key {
			return false
		}
		for w := range b.bits {
			if b.bits[w]&^s.tiles[i].bits[w] != 0 {
				return false
			}
		}
	}
	return true
}

// combine merges the tiles of two sets word by word. onlyA and onlyB say whether a
// tile that only one side has survives.
func combine(a, b CoreSet, onlyA, onlyB bool, op func(a, b uint64) uint64) CoreSet {
	var out []tile
	i, j := 0, 0
	for i < len(a.tiles) || j < len(b.tiles) {
		switch {
		case j == len(b.tiles) || i < len(a.tiles) && a.tiles[i].key < b.tiles[j].key:
			if onlyA {
				out = append(out, a.tiles[i])
			}
			i++
		case i == len(a.tiles) || b.tiles[j].key < a.tiles[i].key:
			if onlyB {
				out = append(out, b.tiles[j])
			}
			j++
		default:
			t := tile{key: a.tiles[i].key}
			for w := range t.bits {
				t.bits[w] = op(a.tiles[i].bits[w], b.tiles[j].bits[w])
			}
			if !t.empty() {
				out = append(out, t)
			}
			i++
			j++
		}
	}
	return CoreSet{out}
}

// All returns the cores of s by x, then by y.
func (s CoreSet) All() iter.Seq[Core] {
	return func(yield func(Core) bool) {
		for lo := 0; lo < len(s.tiles); {
			// The tiles of one block of columns lie side by side; their columns interleave.
			tx, hi := s.tiles[lo].key&0xf0, lo+1
			for hi < len(s.tiles) && s.tiles[hi].key&0xf0 == tx {
				hi++
			}
			for x := range 16 {
				for i := lo; i < hi; i++ {
					for col := s.tiles[i].column(x); col != 0; col &= col - 1 {
						y := uint8(bits.TrailingZeros64(col))
						if !yield(Core{tx | uint8(x), s.tiles[i].key<<4 | y}) {
							return
						}
					}
				}
			}
			lo = hi
		}
	}
}

// Ranges returns s as rectangles, cut as tt-metal's merge cuts them: each row
// becomes maximal horizontal runs; a run joins the rectangle directly above it if
// both span the same columns; the result is sorted.
func (s CoreSet) Ranges() CoreRangeSet {
	if r, ok := s.rectangle(); ok {
		return CoreRangeSet{[]CoreRange{r}}
	}
	var rows [256][4]uint64
	for c := range s.All() {
		rows[c.Y][c.X>>6] |= 1 << (c.X & 63)
	}
	var done, above []CoreRange // above: rectangles that end in the row before, by x
	for y := range rows {
		var here []CoreRange
		for x := 0; x < 256; {
			rest := rows[y][x>>6] >> (x & 63)
			if rest == 0 {
				x = (x | 63) + 1
				continue
			}
			x += bits.TrailingZeros64(rest)
			start := x
			for x < 256 && rows[y][x>>6]>>(x&63)&1 != 0 {
				x++
			}
			here = append(here, CoreRange{Core{uint8(start), uint8(y)}, Core{uint8(x - 1), uint8(y)}})
		}
		// Both lists are ordered by x: one pass joins equal runs.
		i := 0
		for k := range here {
			for i < len(above) && above[i].Start.X < here[k].Start.X {
				done = append(done, above[i])
				i++
			}
			if i < len(above) && above[i].Start.X == here[k].Start.X {
				if above[i].End.X == here[k].End.X {
					here[k].Start = above[i].Start
				} else {
					done = append(done, above[i])
				}
				i++
			}
		}
		done = append(done, above[i:]...)
		above = here
	}
	done = append(done, above...)
	slices.SortFunc(done, CoreRange.Compare)
	return CoreRangeSet{done}
}

// rectangle returns the rectangle that s is, if it is one: most sets are. Cost: O(tiles).
func (s CoreSet) rectangle() (r CoreRange, ok bool) {
	if len(s.tiles) == 0 {
		return r, false
	}
	first, last := &s.tiles[0], &s.tiles[len(s.tiles)-1] // with the corners of a rectangle
	low, high := slices.IndexFunc(first.bits[:], isSet), 3
	for last.bits[high] == 0 {
		high--
	}
	from, to := low<<6+bits.TrailingZeros64(first.bits[low]), high<<6+bits.Len64(last.bits[high])-1
	r = CoreRange{
		Core{first.key&0xf0 | uint8(from>>4), first.key<<4 | uint8(from&15)},
		Core{last.key&0xf0 | uint8(to>>4), last.key<<4 | uint8(to&15)},
	}
	if r.Start.X > r.End.X || r.Start.Y > r.End.Y {
		return r, false
	}
	var b coreSetBuilder
	b.addRange(r)
	return r, b.set().Equal(s)
}

func isSet(word uint64) bool { return word != 0 }

// String returns the set as rectangles, "{[0-0 - 2-0], [0-1 - 1-1]}".
func (s CoreSet) String() string { return s.Ranges().String() }

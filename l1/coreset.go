package l1

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// A CoreSet is a set of cores. The zero value is empty. Sets are immutable values;
// operations return new ones, or one that they were given where that is the answer.
//
// Cores are kept as bits in blocks of 16x16 cores, so that every real board is one
// block of four words. A rectangle on more than a few blocks is kept as its corners, and any
// other set of the 256x256 possible cores has at most 256 blocks.
type CoreSet struct {
	rect   CoreRange // the cores of s, if isRect
	isRect bool
	tiles  []tile // sorted by key, none empty; nil if s is empty or isRect, so that equal sets have one form
}

// CoreSetOf returns the set of the given cores.
func CoreSetOf(cores ...Core) CoreSet {
	var b coreSetBuilder
	at := -1 // the block of the core before: usually the next core is in it too
	for _, c := range cores {
		if key := tileKey(c); at < 0 || b.tiles[at].key != key {
			if at = b.seek(key); at == len(b.tiles) || b.tiles[at].key != key {
				b.tiles = slices.Insert(b.tiles, at, tile{key: key})
			}
		}
		word, mask := bitOf(c)
		b.tiles[at].bits[word] |= mask
	}
	return b.set()
}

// numTiles returns how many blocks have cores of s.
func (s *CoreSet) numTiles() int {
	if !s.isRect {
		return len(s.tiles)
	}
	return s.rect.numTiles()
}

// tile returns the i-th block of s, by key. One that has to be made is written to buf.
func (s *CoreSet) tile(i int, buf *tile) *tile {
	if !s.isRect {
		return &s.tiles[i]
	}
	return s.rect.tileAt(i, buf)
}

// sharesTiles reports whether s and o are one list of blocks. Copies of a set are.
func (s *CoreSet) sharesTiles(o *CoreSet) bool {
	return len(s.tiles) > 0 && len(s.tiles) == len(o.tiles) && &s.tiles[0] == &o.tiles[0]
}

// Len returns the number of cores in s.
func (s CoreSet) Len() int {
	if s.isRect {
		return s.rect.Len()
	}
	n := 0
	for i := range s.tiles {
		for _, w := range s.tiles[i].bits {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// IsEmpty reports whether s has no cores.
func (s CoreSet) IsEmpty() bool { return !s.isRect && len(s.tiles) == 0 }

// First returns the core of s that [CoreSet.All] begins with, the lowest y of the
// lowest x. ok is false if s is empty. It does not allocate.
func (s CoreSet) First() (c Core, ok bool) {
	if s.isRect {
		return s.rect.Start, true
	}
	for i := range s.tiles { // the tiles of the first block of columns
		t := &s.tiles[i]
		if t.key>>4 != s.tiles[0].key>>4 {
			break
		}
		if first := t.first(); i == 0 || first.X < c.X {
			c = first
		}
	}
	return c, len(s.tiles) > 0
}

// CompareFirst orders sets by their first cores, an empty set before all others. It does not
// allocate.
func (s CoreSet) CompareFirst(o CoreSet) int {
	a, some := s.First()
	b, others := o.First()
	switch {
	case some && others:
		return a.Compare(b)
	case some:
		return 1
	case others:
		return -1
	}
	return 0
}

// Has reports whether c is in s.
func (s CoreSet) Has(c Core) bool {
	if s.isRect {
		return s.rect.Has(c)
	}
	word, mask := bitOf(c)
	for i := range s.tiles {
		if s.tiles[i].key == tileKey(c) {
			return s.tiles[i].bits[word]&mask != 0
		}
	}
	return false
}

// Equal reports whether s and o have the same cores.
func (s CoreSet) Equal(o CoreSet) bool {
	return s.isRect == o.isRect && s.rect == o.rect && (s.sharesTiles(&o) || slices.Equal(s.tiles, o.tiles))
}

// Union returns the cores in s, in o, or in both.
func (s CoreSet) Union(o CoreSet) CoreSet {
	switch worth := worthLooking(&s, &o); {
	case s.sharesTiles(&o), worth && s.Contains(o):
		return s
	case worth && o.Contains(s):
		return o
	}
	return combine(&s, &o, true, true, func(a, b uint64) uint64 { return a | b })
}

// Intersect returns the cores in both s and o.
func (s CoreSet) Intersect(o CoreSet) CoreSet {
	switch worth := worthLooking(&s, &o); {
	case s.isRect && o.isRect:
		return s.rect.intersect(o.rect).Cores()
	case worth && s.Contains(o):
		return o
	case worth && o.Contains(s):
		return s
	}
	return combine(&s, &o, false, false, func(a, b uint64) uint64 { return a & b })
}

// Minus returns the cores in s that are not in o.
func (s CoreSet) Minus(o CoreSet) CoreSet {
	switch worth := worthLooking(&s, &o); {
	case worth && !s.Overlaps(o):
		return s
	case worth && o.Contains(s):
		return CoreSet{}
	}
	return combine(&s, &o, true, false, func(a, b uint64) uint64 { return a &^ b })
}

// Overlaps reports whether s and o share a core. It does not allocate.
func (s CoreSet) Overlaps(o CoreSet) bool {
	switch {
	case s.isRect && o.isRect:
		return s.rect.Overlaps(o.rect)
	case s.isRect:
		return o.overlapsRect(s.rect)
	case o.isRect:
		return s.overlapsRect(o.rect)
	}
	for i, j := 0, 0; i < len(s.tiles) && j < len(o.tiles); {
		a, b := &s.tiles[i], &o.tiles[j]
		switch {
		case a.key < b.key:
			i++
		case a.key > b.key:
			j++
		default:
			if a.overlaps(b) {
				return true
			}
			i++
			j++
		}
	}
	return false
}

// overlapsRect reports whether one of the blocks of s has a core of a legal rectangle.
func (s *CoreSet) overlapsRect(r CoreRange) bool {
	for i := range s.tiles {
		t := &s.tiles[i]
		if r.Overlaps(t.all()) {
			if part := r.tile(int(t.key>>4), int(t.key&15)); part.overlaps(t) {
				return true
			}
		}
	}
	return false
}

// Contains reports whether every core of o is in s. It does not allocate.
func (s CoreSet) Contains(o CoreSet) bool {
	switch {
	case s.isRect && o.isRect:
		return s.rect.Has(o.rect.Start) && s.rect.Has(o.rect.End)
	case s.sharesTiles(&o):
		return true
	}
	var bufA, bufB tile
	i, n := 0, s.numTiles()
	for j := range o.numTiles() {
		b := o.tile(j, &bufB)
		for ; ; i++ {
			if i == n {
				return false
			}
			if a := s.tile(i, &bufA); a.key < b.key {
				continue
			} else if a.key > b.key || !a.contains(b) {
				return false
			}
			break
		}
	}
	return true
}

// worthLooking reports whether testing if one of two sets is the answer is cheaper than combining
// them.
func worthLooking(a, b *CoreSet) bool { return max(a.numTiles(), b.numTiles()) > fewTiles }

// combine merges the blocks of two sets word by word. onlyA and onlyB are set if a block that only
// one side has survives.
func combine(a, b *CoreSet, onlyA, onlyB bool, op func(a, b uint64) uint64) CoreSet {
	var few [fewTiles]tile
	var bufA, bufB tile
	out, isA, isB := few[:0], true, true // the answer is a, it is b
	n, m := a.numTiles(), b.numTiles()
	for i, j := 0, 0; i < n || j < m; {
		left, right := &bufA, &bufB
		if i < n {
			left = a.tile(i, left)
		}
		if j < m {
			right = b.tile(j, right)
		}
		switch {
		case j == m || i < n && left.key < right.key:
			if isB = false; onlyA {
				out = append(out, *left)
			} else {
				isA = false
			}
			i++
		case i == n || right.key < left.key:
			if isA = false; onlyB {
				out = append(out, *right)
			} else {
				isB = false
			}
			j++
		default:
			t := tile{key: left.key}
			for w := range t.bits {
				t.bits[w] = op(left.bits[w], right.bits[w])
			}
			if !t.empty() {
				out = append(out, t)
			}
			isA, isB = isA && t == *left, isB && t == *right
			i++
			j++
		}
	}
	switch {
	case isA:
		return *a
	case isB:
		return *b
	}
	return newCoreSet(slices.Clone(out))
}

// All returns the cores of s by x, then by y.
func (s CoreSet) All() iter.Seq[Core] {
	return func(yield func(Core) bool) {
		if s.isRect {
			s.rect.all(yield)
			return
		}
		for lo := 0; lo < len(s.tiles); {
			// The tiles of one block of columns lie side by side; their columns interleave.
			tx, hi := s.tiles[lo].key&0xf0, lo+1
			for hi < len(s.tiles) && s.tiles[hi].key&0xf0 == tx {
				hi++
			}
			if hi == lo+1 {
				if !s.tiles[lo].each(yield) {
					return
				}
				lo = hi
				continue
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

// Words yields s in blocks of 4 columns and 16 rows: the first core of each block, and a word that is
// not 0. The x of the core is a multiple of 4, its y one of 16. The core dx-dy from there is bit
// 16*dx+dy. It does not allocate.
func (s CoreSet) Words() iter.Seq2[Core, uint64] {
	return func(yield func(Core, uint64) bool) {
		var buf tile
		for i := range s.numTiles() {
			t := s.tile(i, &buf)
			for w, word := range t.bits {
				if word != 0 && !yield(Core{t.key&0xf0 | uint8(w<<2), t.key << 4}, word) {
					return
				}
			}
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
	end := 0 // of the rows that are not empty
	for c := range s.All() {
		rows[c.Y][c.X>>6] |= 1 << (c.X & 63)
		end = max(end, int(c.Y)+1)
	}
	var done, above []CoreRange // above: rectangles that end in the row before, by x
	for y := range end {
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
func (s CoreSet) rectangle() (CoreRange, bool) {
	if s.isRect {
		return s.rect, true
	}
	return rectangle(s.tiles)
}

// String returns the set as rectangles, "{[0-0 - 2-0], [0-1 - 1-1]}".
func (s CoreSet) String() string { return s.Ranges().String() }

// MarshalText returns String: the spelling of JSON.
func (s CoreSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a set as ParseCoreRangeSet does.
func (s *CoreSet) UnmarshalText(text []byte) error {
	set, err := ParseCoreRangeSet(string(text))
	*s = set.Cores()
	return err
}

// Brief returns the first rectangle and the number of others: "[0-0 - 2-0] (+1 more)".
func (s CoreSet) Brief() string {
	all := s.Ranges()
	for r := range all.All() {
		if n := all.Len(); n > 1 {
			return fmt.Sprintf("%v (+%d more)", r, n-1)
		}
		return r.String()
	}
	return "no cores"
}

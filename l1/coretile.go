package l1

import (
	"math/bits"
	"slices"
)

// A tile is a block of 16x16 cores. Bit (x%16)*16 + y%16 is core x-y, so that bits
// in order are cores in order.
type tile struct {
	key  uint8 // x/16 in the high half, y/16 in the low half
	bits [4]uint64
}

func (t *tile) empty() bool { return t.bits == [4]uint64{} }

func (t *tile) overlaps(o *tile) bool {
	for w := range t.bits {
		if t.bits[w]&o.bits[w] != 0 {
			return true
		}
	}
	return false
}

func (t *tile) contains(o *tile) bool {
	for w := range t.bits {
		if o.bits[w]&^t.bits[w] != 0 {
			return false
		}
	}
	return true
}

// all returns the block.
func (t *tile) all() CoreRange {
	first := Core{t.key & 0xf0, t.key << 4}
	return CoreRange{first, Core{first.X | 15, first.Y | 15}}
}

// column returns the 16 cores of column x (0..15) of the tile, lowest y first.
func (t *tile) column(x int) uint64 { return t.bits[x>>2] >> (x & 3 * 16) & 0xffff }

// first returns the core of the tile with the lowest y of the lowest x.
func (t *tile) first() Core {
	w := 0
	for t.bits[w] == 0 {
		w++
	}
	return t.core(w<<6 | bits.TrailingZeros64(t.bits[w]))
}

// core returns the core of a bit.
func (t *tile) core(i int) Core { return Core{t.key&0xf0 | uint8(i>>4), t.key<<4 | uint8(i&15)} }

// each calls yield for the cores of the tile by x, then by y, as its bits lie, until it returns false.
func (t *tile) each(yield func(Core) bool) bool {
	for w, word := range t.bits {
		for ; word != 0; word &= word - 1 {
			if !yield(t.core(w<<6 | bits.TrailingZeros64(word))) {
				return false
			}
		}
	}
	return true
}

func tileKey(c Core) uint8 { return c.X&0xf0 | c.Y>>4 }

func bitOf(c Core) (word int, mask uint64) {
	i := int(c.X&15)<<4 | int(c.Y&15)
	return i >> 6, 1 << (i & 63)
}

// fewTiles is the largest number of blocks of a rectangle that is kept as bits, which are faster to
// combine. Rectangles of real boards have fewer.
const fewTiles = 4

// newCoreSet returns the set of some tiles, sorted by key, none of them empty. It keeps them.
func newCoreSet(tiles []tile) CoreSet {
	if len(tiles) == 0 {
		return CoreSet{}
	}
	if len(tiles) > fewTiles {
		if r, ok := rectangle(tiles); ok {
			return CoreSet{rect: r, isRect: true}
		}
	}
	return CoreSet{tiles: tiles}
}

// numTiles returns on how many tiles a legal rectangle lies.
func (r CoreRange) numTiles() int {
	return (int(r.End.X>>4) - int(r.Start.X>>4) + 1) * (int(r.End.Y>>4) - int(r.Start.Y>>4) + 1)
}

// tileAt returns the part of a legal rectangle in the i-th of its tiles, written to buf.
func (r CoreRange) tileAt(i int, buf *tile) *tile {
	rows := int(r.End.Y>>4) - int(r.Start.Y>>4) + 1
	*buf = r.tile(int(r.Start.X>>4)+i/rows, int(r.Start.Y>>4)+i%rows)
	return buf
}

// tile returns the part of a legal rectangle in one of its tiles.
func (r CoreRange) tile(tx, ty int) tile {
	x0, x1 := max(int(r.Start.X), tx<<4)&15, min(int(r.End.X), tx<<4|15)&15
	y0, y1 := max(int(r.Start.Y), ty<<4)&15, min(int(r.End.Y), ty<<4|15)&15
	t := tile{key: uint8(tx<<4 | ty)}
	column := (uint64(1)<<(y1-y0+1) - 1) << y0
	for x := x0; x <= x1; x++ {
		t.bits[x>>2] |= column << (x & 3 * 16)
	}
	return t
}

// rectangle returns the rectangle that the cores of some tiles are, if they are one.
// Cost: O(tiles).
func rectangle(tiles []tile) (r CoreRange, ok bool) {
	if len(tiles) == 0 {
		return r, false
	}
	first, last := &tiles[0], &tiles[len(tiles)-1] // with the corners of a rectangle
	low, high := slices.IndexFunc(first.bits[:], isSet), 3
	for last.bits[high] == 0 {
		high--
	}
	from, to := low<<6+bits.TrailingZeros64(first.bits[low]), high<<6+bits.Len64(last.bits[high])-1
	r = CoreRange{
		Core{first.key&0xf0 | uint8(from>>4), first.key<<4 | uint8(from&15)},
		Core{last.key&0xf0 | uint8(to>>4), last.key<<4 | uint8(to&15)},
	}
	if r.Check() != nil || r.numTiles() != len(tiles) {
		return r, false
	}
	var buf tile
	for i := range tiles {
		if *r.tileAt(i, &buf) != tiles[i] {
			return r, false
		}
	}
	return r, true
}

func isSet(word uint64) bool { return word != 0 }

// A coreSetBuilder gathers rectangles into a set without a copy per rectangle.
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
		at := b.seek(uint8(tx<<4) | r.Start.Y>>4) // the tiles of a block of columns lie side by side
		for ty := int(r.Start.Y >> 4); ty <= int(r.End.Y>>4); ty++ {
			t := r.tile(tx, ty)
			if at == len(b.tiles) || b.tiles[at].key != t.key {
				b.tiles = slices.Insert(b.tiles, at, tile{key: t.key})
			}
			for w := range t.bits {
				b.tiles[at].bits[w] |= t.bits[w]
			}
			at++
		}
	}
}

func (b *coreSetBuilder) set() CoreSet { return newCoreSet(b.tiles) }

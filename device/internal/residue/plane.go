package residue

import (
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A writer is a program, in one kind, on cores where its dispatch writes the same.
// PiecesOf makes one for each group of cores. Writers are equal if their pointers
// are.
type writer struct {
	Program *program.Program
	Kind    program.Kind
	number  int32       // of its group there; -1 if it has only global CBs
	hash    lookup.Hash // of the writer
	bytes   uint64      // of its ranges on each core
	end     uint64      // of its highest range on each core, 0 if there is none
}

// Group returns its ranges on each core.
func (w *writer) Group() program.Group {
	if w.number < 0 {
		return program.Group{}
	}
	return w.Program.Occupied(w.Kind).Group(int(w.number))
}

// A plane holds the last writer of each kind on each core. It is made of blocks of
// 16x16 cores, as core sets are: a real board is one.
//
//	claims  1: A on 3 cores   2: free   3: B on 1 core      cores  1 1 3
//	                                                               1 . .
//
// The numbers in a block hold no pointers, so that a copy costs a few cache lines,
// and sums over cores are sums over claims.
type plane struct {
	claims []claim
	blocks []block // by key: kind after kind
}

// A claim counts the cores of a writer. A claim without cores is free for the next
// writer.
type claim struct {
	*writer
	cores int
}

// A block has core x-y at (x%16)*16 + y%16, as far as the last column that was
// written.
type block struct {
	key  uint16   // the kind in the high byte; below, x/16 in the high half and y/16 in the low half
	last []uint32 // 1 + the number of the claim; 0 = none
}

// A place is the position of a core in a plane: the key of its block, and the
// position there.
type place uint32

func placeOf(kind program.Kind, c l1.Core) place {
	return place(kind)<<16 | place(c.X&0xf0|c.Y>>4)<<8 | place(c.X&15)<<4 | place(c.Y&15)
}

func (at place) key() uint16 { return uint16(at >> 8) }

// core returns the core at this place.
func (at place) core() l1.Core {
	return l1.Core{X: uint8(at>>8)&0xf0 | uint8(at>>4)&15, Y: uint8(at>>8)<<4 | uint8(at)&15}
}

// hash returns the hash of the core at this place.
func (at place) hash() lookup.Hash {
	c := at.core()
	return hashOfColumn(c.X) * hashOfRow(c.Y)
}

// on returns the sum of the hashes of a writer on some cores. The sum of a rectangle
// is a product, so that 65,536 cores cost as much as 512.
func (w *writer) on(cores l1.CoreSet) (sum lookup.Hash) {
	for r := range cores.Ranges().All() {
		var columns, rows lookup.Hash
		for x := int(r.Start.X); x <= int(r.End.X); x++ {
			columns += hashOfColumn(uint8(x))
		}
		for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
			rows += hashOfRow(uint8(y))
		}
		sum += columns * rows
	}
	return w.hash * sum
}

func hashOfColumn(x uint8) lookup.Hash { return lookup.Mix(lookup.Hash(x)) }
func hashOfRow(y uint8) lookup.Hash    { return lookup.Mix(lookup.Hash(y) + 256) }

func (p *plane) seek(key uint16) (int, bool) {
	return slices.BinarySearchFunc(p.blocks, key, func(b block, key uint16) int { return int(b.key) - int(key) })
}

// on returns the last writer of a kind on a core, nil if there was none.
func (p *plane) on(kind program.Kind, c l1.Core) *writer {
	at := placeOf(kind, c)
	if i, ok := p.seek(at.key()); ok && int(at&0xff) < len(p.blocks[i].last) {
		return p.writer(p.blocks[i].last[at&0xff])
	}
	return nil
}

// writer returns the writer with a number, nil for 0.
func (p *plane) writer(number uint32) *writer {
	if number == 0 {
		return nil
	}
	return p.claims[number-1].writer
}

// all yields each core that was written, for each kind.
func (p *plane) all(yield func(place, *writer) bool) {
	for _, b := range p.blocks {
		for at, number := range b.last {
			if number != 0 && !yield(place(b.key)<<8|place(at), p.writer(number)) {
				return
			}
		}
	}
}

// clone returns a copy that may be written, with room for more claims.
func (p *plane) clone(more int) plane {
	if p.blocks == nil {
		return plane{}
	}
	out := plane{append(make([]claim, 0, len(p.claims)+more), p.claims...), slices.Clone(p.blocks)}
	for i := range out.blocks {
		out.blocks[i].last = slices.Clone(out.blocks[i].last)
	}
	return out
}

// paint lets the writers of pieces write their cores of a plane. It returns the hash
// of the claims that they overwrote. Cost: O(claims, and cores that are written).
func (p *plane) paint(pieces ...Piece) (lost lookup.Hash) {
	free := 0 // no claim before it is free
	for _, w := range pieces {
		for free < len(p.claims) && p.claims[free].cores > 0 {
			free++
		}
		if free == len(p.claims) {
			p.claims = append(p.claims, claim{})
		}
		p.claims[free] = claim{writer: w.writer}
		for first, word := range w.Cores.Words() {
			lost += p.write(uint32(free+1), placeOf(w.Kind, first), word)
		}
		p.claims[free].cores += w.Cores.Len()
	}
	return lost
}

// write gives cores to the claim with a number: the set bits of a word, as
// l1.CoreSet.Words yields it, counted from a place. It returns the hash of the claims
// that lost them.
func (p *plane) write(number uint32, at place, word uint64) (lost lookup.Hash) {
	b := p.block(at.key())
	last := int(at&0xff) + 63 - bits.LeadingZeros64(word)
	if missing := (last | 15) + 1 - len(b.last); missing > 0 {
		b.last = append(b.last, make([]uint32, missing)...)
	}
	numbers := b.last[at&0xff:]
	had, n, places := uint32(0), 0, lookup.Hash(0) // the last claim, its cores so far, and their hash
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros64(word)
		if numbers[i] != had {
			lost += p.lose(had, n, places)
			had, n, places = numbers[i], 0, 0
		}
		n++
		places += (at + place(i)).hash()
		numbers[i] = number
	}
	return lost + p.lose(had, n, places)
}

// lose takes n cores from the claim with a number, and returns its hash there.
func (p *plane) lose(number uint32, n int, places lookup.Hash) lookup.Hash {
	if number == 0 {
		return 0
	}
	old := &p.claims[number-1]
	hash := old.hash * places
	if old.cores -= n; old.cores == 0 {
		old.writer = nil
	}
	return hash
}

// block returns the block with a key, a new one if there is none.
func (p *plane) block(key uint16) *block {
	i, ok := p.seek(key)
	if !ok {
		p.blocks = slices.Insert(p.blocks, i, block{key: key})
	}
	return &p.blocks[i]
}

// equal reports whether the same writers were the last ones on the same cores.
func (p *plane) equal(o *plane) bool {
	same := func(a, b uint32) bool { return p.writer(a) == o.writer(b) }
	return slices.EqualFunc(p.blocks, o.blocks, func(a, b block) bool { return a.key == b.key && slices.EqualFunc(a.last, b.last, same) })
}

// pieces returns the piece of each writer of a plane, kind after kind and then by the
// first core.
func (p *plane) pieces() (out []Piece) {
	cores := map[*writer][]l1.Core{}
	for at, w := range p.all {
		if cores[w] == nil {
			out = append(out, Piece{writer: w})
		}
		cores[w] = append(cores[w], at.core())
	}
	for i := range out {
		out[i].Cores = l1.CoreSetOf(cores[out[i].writer]...)
	}
	return out
}

package device

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A writer is what the dispatch of a program writes on some cores, in one kind. There is
// one for each group of cores of a registration, so that equal ones are the same.
type writer struct {
	program *program.Program
	name    uint64 // serial number of the program's registration
	hash    hash   // of the writer
	kind    program.Kind
	group   program.Group // what it has there; without ranges if it has only global CBs
}

// A plane says of each core who was the last writer of a kind. It never changes, once it
// is made. It is made of blocks of 16x16 cores, as core sets are: a real board is one.
type plane []block // by key

// A block has core x-y at (x%16)*16 + y%16, as far as the last column that was written.
type block struct {
	key  uint8 // x/16 in the high half, y/16 in the low half
	last []*writer
}

// A place is where a core lies in a plane: the key of its block, and the position there.
type place uint16

func placeOf(c l1.Core) place {
	return place(c.X&0xf0|c.Y>>4)<<8 | place(c.X&15)<<4 | place(c.Y&15)
}

func (at place) key() uint8 { return uint8(at >> 8) }

// core returns the core that lies there.
func (at place) core() l1.Core {
	return l1.Core{X: at.key()&0xf0 | uint8(at>>4)&15, Y: at.key()<<4 | uint8(at)&15}
}

// at returns the hash of a writer at a place.
func (h hash) at(at place) hash {
	c := at.core()
	return h * hashOfColumn(c.X) * hashOfRow(c.Y)
}

// on returns the sum of the hashes of a writer on some cores. That of a rectangle is a product,
// so that a large one costs as much as one column and one row of it.
func (h hash) on(cores l1.CoreSet) (sum hash) {
	for r := range cores.Ranges().All() {
		var columns, rows hash
		for x := int(r.Start.X); x <= int(r.End.X); x++ {
			columns += hashOfColumn(uint8(x))
		}
		for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
			rows += hashOfRow(uint8(y))
		}
		sum += h * columns * rows
	}
	return sum
}

func hashOfColumn(x uint8) hash { return mix(hash(x)) }
func hashOfRow(y uint8) hash    { return mix(hash(y) + 256) }

func (p plane) seek(key uint8) (int, bool) {
	return slices.BinarySearchFunc(p, key, func(b block, key uint8) int { return int(b.key) - int(key) })
}

// on returns the last writer of a core, nil if there was none.
func (p plane) on(c l1.Core) *writer {
	at := placeOf(c)
	if i, ok := p.seek(at.key()); ok && int(at&0xff) < len(p[i].last) {
		return p[i].last[at&0xff]
	}
	return nil
}

// all yields each core that was written.
func (p plane) all(yield func(place, *writer) bool) {
	for i := range p {
		for at, w := range p[i].last {
			if w != nil && !yield(place(p[i].key)<<8|place(at), w) {
				return
			}
		}
	}
}

// clone returns a copy that may be written.
func (p plane) clone() plane {
	out := slices.Clone(p)
	for i := range out {
		out[i].last = slices.Clone(out[i].last)
	}
	return out
}

// paint has w write some cores of a plane that is being made.
func (p plane) paint(w *writer, cores l1.CoreSet) plane {
	for c := range cores.All() {
		at := placeOf(c)
		i, ok := p.seek(at.key())
		if !ok {
			p = slices.Insert(p, i, block{key: at.key()})
		}
		b := &p[i]
		if missing := int(at&0xf0) + 16 - len(b.last); missing > 0 {
			b.last = append(b.last, make([]*writer, missing)...)
		}
		b.last[at&0xff] = w
	}
	return p
}

func (p plane) equal(o plane) bool {
	return slices.EqualFunc(p, o, func(a, b block) bool { return a.key == b.key && slices.Equal(a.last, b.last) })
}

// pieces adds what each writer has on a plane, by the first core.
func (p plane) pieces(out []piece) []piece {
	start := len(out)
	cores := map[*writer][]l1.Core{}
	for at, w := range p.all {
		if cores[w] == nil {
			out = append(out, piece{writer: w})
		}
		cores[w] = append(cores[w], at.core())
	}
	for i := range out[start:] {
		w := &out[start+i]
		w.cores = l1.CoreSetOf(cores[w.writer]...)
	}
	return out
}

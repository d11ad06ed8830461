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

// placeOf returns the block of a core and the position in it.
func placeOf(c l1.Core) (key uint8, at int) { return c.X&0xf0 | c.Y>>4, int(c.X&15)<<4 | int(c.Y&15) }

func (p plane) seek(key uint8) (int, bool) {
	return slices.BinarySearchFunc(p, key, func(b block, key uint8) int { return int(b.key) - int(key) })
}

// on returns the last writer of a core, nil if there was none.
func (p plane) on(c l1.Core) *writer {
	key, at := placeOf(c)
	if i, ok := p.seek(key); ok && at < len(p[i].last) {
		return p[i].last[at]
	}
	return nil
}

// paint has w write some cores of a plane that is being made.
func (p plane) paint(w *writer, cores l1.CoreSet) plane {
	for c := range cores.All() {
		key, at := placeOf(c)
		i, ok := p.seek(key)
		if !ok {
			p = slices.Insert(p, i, block{key: key})
		}
		if b := &p[i]; at >= len(b.last) {
			b.last = append(b.last, make([]*writer, at|15+1-len(b.last))...)
		}
		p[i].last[at] = w
	}
	return p
}

// under returns the plane after all of over is written on p, and whether anything of p is
// left.
func (p plane) under(over plane) (out plane, left bool) {
	switch {
	case len(over) == 0:
		return p, len(p) > 0
	case len(p) == 0:
		return over, false
	}
	for len(p) > 0 || len(over) > 0 {
		switch {
		case len(over) == 0 || len(p) > 0 && p[0].key < over[0].key:
			out, p, left = append(out, p[0]), p[1:], true
		case len(p) == 0 || over[0].key < p[0].key:
			out, over = append(out, over[0]), over[1:]
		default:
			b, more := p[0].under(over[0])
			out, p, over, left = append(out, b), p[1:], over[1:], left || more
		}
	}
	return out, left
}

// under is plane.under for one block.
func (b block) under(over block) (out block, left bool) {
	out = block{b.key, make([]*writer, max(len(b.last), len(over.last)))}
	copy(out.last, over.last)
	for i, w := range b.last {
		if w != nil && out.last[i] == nil {
			out.last[i], left = w, true
		}
	}
	return out, left
}

func (p plane) equal(o plane) bool {
	return slices.EqualFunc(p, o, func(a, b block) bool { return a.key == b.key && slices.Equal(a.last, b.last) })
}

// hash returns the hash of a plane: a sum over its cores.
func (p plane) hash() (sum hash) {
	for i := range p {
		for at, w := range p[i].last {
			if w != nil && w.hash != 0 { // it is 0 where all hashes are
				sum += mix(w.hash + hash(p[i].key)<<8 + hash(at))
			}
		}
	}
	return sum
}

// pieces adds what each writer has on a plane, by the first core.
func (p plane) pieces(out []piece) []piece {
	start := len(out)
	cores := map[*writer][]l1.Core{}
	for i := range p {
		x, y := p[i].key&0xf0, p[i].key<<4
		for at, w := range p[i].last {
			if w == nil {
				continue
			}
			if cores[w] == nil {
				out = append(out, piece{writer: w})
			}
			cores[w] = append(cores[w], l1.Core{X: x | uint8(at>>4), Y: y | uint8(at&15)})
		}
	}
	for i := range out[start:] {
		w := &out[start+i]
		w.cores = l1.CoreSetOf(cores[w.writer]...)
	}
	return out
}

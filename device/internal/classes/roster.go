package classes

import (
	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/lookup"
)

// A mark is the number of a group of cores of a program, and its hash. Small numbers
// are given out again, so that sets of them are short rows of bits.
type mark struct {
	Number int
	Hash   lookup.Hash
}

// marks are a set of numbers and its hash: the programs of a content, or the groups that
// a class lies in.
type marks struct {
	Bits bitset.Sparse
	Hash lookup.Hash
}

func (s *marks) put(m mark) {
	s.Bits = s.Bits.Flip(m.Number)
	s.Hash += m.Hash
}

func (s *marks) drop(m mark) {
	s.Bits = s.Bits.Flip(m.Number)
	s.Hash -= m.Hash
}

// A Roster gives numbers to the groups of holders, at least one to each. It counts
// from 0, and gives returned numbers out first.
type Roster struct {
	Of   []*Holder // number -> its holder; nil if it is free
	free []int     // a stack
}

// Enter gives r its numbers.
func (o *Roster) Enter(r *Holder, h *lookup.Hashes) {
	give := func() mark {
		n := o.give(r)
		return mark{n, h.Of(uint64(n))}
	}
	r.mark = give()
	for range max(OccupiedBy(r).NumGroups(), reservedBy(r).NumGroups()) - 1 {
		r.more = append(r.more, give())
	}
}

func (o *Roster) give(r *Holder) int {
	if last := len(o.free) - 1; last >= 0 {
		number := o.free[last]
		o.free = o.free[:last]
		o.Of[number] = r
		return number
	}
	o.Of = append(o.Of, r)
	return len(o.Of) - 1
}

// Retire takes the numbers of r back, if it has any.
func (o *Roster) Retire(r *Holder) {
	if o.At(r.Number) != r {
		return
	}
	o.back(r.Number)
	for _, m := range r.more {
		o.back(m.Number)
	}
}

// back takes a number back. When all are there, it gives back the memory.
func (o *Roster) back(number int) {
	o.Of[number] = nil
	if o.free = append(o.free, number); len(o.free) == len(o.Of) {
		*o = Roster{}
	}
}

// At returns the holder that has a number, nil if none has.
func (o *Roster) At(number int) *Holder {
	if number >= len(o.Of) {
		return nil
	}
	return o.Of[number]
}

// markOf returns the mark of the i-th group of a holder.
func (r *Holder) markOf(i int) mark {
	if i == 0 {
		return r.mark
	}
	return r.more[i-1]
}

package device

import "slices"

// A mark is the number of a group of cores of a program, and its hash. Small numbers are
// given out again, so that sets of them are short rows of bits.
type mark struct {
	number int
	hash   hash
}

// marks are a set of numbers and its hash: the programs of a content, or the groups that
// a class lies in.
type marks struct {
	bits bitset
	hash hash
}

func (s *marks) put(m mark) {
	s.bits = s.bits.with(m.number)
	s.hash += m.hash
}

func (s *marks) drop(m mark) {
	s.bits = s.bits.flip(m.number)
	s.hash -= m.hash
}

// A roster gives numbers to the groups of holders, at least one to each. They are
// given out from 0, and those that were given back first.
type roster struct {
	of   []*holder // number -> whose it is; nil if it is free
	free []int     // a stack
}

// enter gives r its numbers.
func (o *roster) enter(r *holder, h *hashes) {
	give := func() mark {
		n := o.give(r)
		return mark{n, h.of(uint64(n))}
	}
	r.mark = give()
	for range max(occupiedBy(r).NumGroups(), reservedBy(r).NumGroups()) - 1 {
		r.more = append(r.more, give())
	}
}

func (o *roster) give(r *holder) int {
	if last := len(o.free) - 1; last >= 0 {
		number := o.free[last]
		o.free = o.free[:last]
		o.of[number] = r
		return number
	}
	o.of = append(o.of, r)
	return len(o.of) - 1
}

// retire takes the numbers of r back, if it has any.
func (o *roster) retire(r *holder) {
	if o.at(r.number) != r {
		return
	}
	o.back(r.number)
	for _, m := range r.more {
		o.back(m.number)
	}
}

// back takes a number back. When all are there, it gives back the memory.
func (o *roster) back(number int) {
	o.of[number] = nil
	if o.free = append(o.free, number); len(o.free) == len(o.of) {
		*o = roster{}
	}
}

// at returns the holder that has a number, nil if none has.
func (o *roster) at(number int) *holder {
	if number >= len(o.of) {
		return nil
	}
	return o.of[number]
}

// indexOf returns the index of the group that has a number.
func (r *holder) indexOf(number int) int {
	return 1 + slices.IndexFunc(r.more, func(m mark) bool { return m.number == number })
}

// markOf returns the mark of the i-th group of a holder.
func (r *holder) markOf(i int) mark {
	if i == 0 {
		return r.mark
	}
	return r.more[i-1]
}

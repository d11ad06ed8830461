package device

import "github.com/cbl1/cbl1/program"

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

// A roster gives numbers to the groups of registrations, at least one to each. Those of
// the first groups of programs are taken below mayHide while there are any.
type roster struct {
	low, high numbers
}

// numbers are given out from 0, and those that were given back first.
type numbers struct {
	of   []*registration // number -> whose it is; nil if it is free
	free []int           // a stack
}

func (n *numbers) give(r *registration) int {
	if last := len(n.free) - 1; last >= 0 {
		number := n.free[last]
		n.free = n.free[:last]
		n.of[number] = r
		return number
	}
	n.of = append(n.of, r)
	return len(n.of) - 1
}

// back takes a number back. When all are there, it gives back the memory.
func (n *numbers) back(number int) {
	n.of[number] = nil
	if n.free = append(n.free, number); len(n.free) == len(n.of) {
		*n = numbers{}
	}
}

func (n *numbers) taken() int { return len(n.of) - len(n.free) }

// enter gives r its numbers. hides says that it may be hidden.
func (o *roster) enter(r *registration, hides bool, h *hashes) {
	give := func(low bool) mark {
		var n int
		if low {
			n = o.low.give(r)
		} else {
			n = mayHide + o.high.give(r)
		}
		return mark{n, h.of(uint64(n))}
	}
	r.mark = give(hides && o.low.taken() < mayHide)
	groups := max(r.program.Occupied(program.CircularBuffer).NumGroups(), r.program.Reserved(program.CircularBuffer).NumGroups())
	for range groups - 1 {
		r.more = append(r.more, give(false))
	}
}

// retire takes the numbers of r back if r is gone: registered nowhere, and in no step
// of a trail, from where it could return.
func (o *roster) retire(r *registration) {
	if r.steps > 0 || !r.on.empty() || o.at(r.number) != r {
		return
	}
	o.back(r.number)
	for _, m := range r.more {
		o.back(m.number)
	}
}

func (o *roster) back(number int) {
	if number < mayHide {
		o.low.back(number)
	} else {
		o.high.back(number - mayHide)
	}
}

// at returns the registration that has a number, nil if none has.
func (o *roster) at(number int) *registration {
	of := o.low.of
	if number >= mayHide {
		number, of = number-mayHide, o.high.of
	}
	if number >= len(of) {
		return nil
	}
	return of[number]
}

// markOf returns the mark of the i-th group of a registration.
func (r *registration) markOf(i int) mark {
	if i == 0 {
		return r.mark
	}
	return r.more[i-1]
}

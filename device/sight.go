package device

import (
	"slices"

	"github.com/cbl1/cbl1/program"
)

// A sight is a state as its line knows it: what the present state of the line holds, and
// the way back.
type sight struct {
	content  *content
	back     []step // what led from the state to the present one
	programs int
}

// sight returns what the line of s knows of it, for as long as nothing changes.
func (f *Fleet) sight(s *state) sight {
	l := s.line
	return sight{l.content, l.trail[s.at-l.base:], s.totals.Programs}
}

// members returns the numbers of the programs of the state, in the memory of b.
func (v *sight) members(b bitset) bitset {
	b = b.copyOf(v.content.has.bits)
	for _, step := range v.back {
		for _, r := range [...]*registration{step.new, step.old} {
			if r != nil {
				b = b.flip(r.number)
			}
		}
	}
	return b
}

// list returns the programs of the state, in any order.
func (v *sight) list(o *roster) []*program.Program {
	if v.programs == 0 {
		return nil
	}
	out := make([]*program.Program, 0, v.programs)
	for number := range v.members(bitset{}).all() {
		out = append(out, o.at(number).program)
	}
	return out
}

// open returns what the state holds core by core, for reading. It changes nothing; behind
// the present of its line it is made: either of all programs, or of the present and the
// way back. o is whose the programs are.
func (v *sight) open(o *roster) *content {
	if len(v.back) == 0 {
		return v.content
	}
	if anew, back := v.programs, len(v.back)+v.content.programs/8; anew <= back {
		fresh := newContent(o)
		for number := range v.members(bitset{}).all() {
			fresh.add(o.at(number))
		}
		return fresh
	}
	out := v.content.clone(o)
	for _, step := range slices.Backward(v.back) {
		out.change(step.new, step.old)
	}
	return out
}

// view returns what s holds core by core, for reading under the lock.
func (f *Fleet) view(s *state) *content {
	v := f.sight(s)
	return v.open(&f.roster)
}

// own makes what is present on a line something that may be changed in place: a copy, if it
// was pictured and may be looked at without the lock.
func (f *Fleet) own(l *line) {
	if l.content.born < f.pictured.Load() {
		l.content = l.content.clone(&f.roster)
		l.content.born = f.newSerial()
	}
}

package device

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/lookup"
)

// A state is a set of registered programs. Devices with the same programs share
// one state, whichever way each came to it: a state is found along the ways that lead
// to it, and where there is none by its hash, and then its programs are compared. Its
// figures are kept.
//
// Some devices go ahead, and others may follow. So a state without devices is kept for as
// long as it lies between states with devices:
//
//	S0 --+P1--> S1 --+P2--> S2 --+P3--> S3     31 devices in S0, one in S3
//	             \---+Q---> T                  and one in T
//
// Such states are a tree. Its first state and its last ones have devices. A state whose
// devices all leave it goes, if none is before it or none after it. This is what 32 calls for
// one device each leave behind: the device that goes first does the work, those that follow
// find the way to the next state and only point to it.
//
// What a state holds core by core is its content. It goes on with the device that is ahead; see
// pass. States that devices only passed keep one now and then, others have it worked out from
// there when it is asked for; see sight.
type state struct {
	lookup.Crossing[state]
	hash      lookup.Hash // of its programs
	totals    classes.Figures
	charge    uint64
	gathering // the devices in this state; none if it is only passed

	content *classes.Content
	lent    *state   // one step after this one; it has what was the content, and the step in it
	step             // what made it of the state before
	after   []*state // those that this one was made into
	place   int      // in from.after
	since   int      // steps from the last state before it that keeps its content; 0 if that is s

	folded fold
}

// A step leads from a state to one after it.
type step struct {
	from     *state        // nil if no device can come from there any more
	old, new *registration // taken off, put on; either may be nil
}

// over returns the numbers of programs with what the step puts on and without what it takes off,
// or the other way round, in place where there is room.
func (by step) over(b bitset.Set) bitset.Set {
	for _, r := range [...]*registration{by.old, by.new} {
		if r != nil {
			b = b.Flip(r.Number)
		}
	}
	return b
}

// empty returns the state without programs, where every device starts.
func (f *Fleet) empty() *state {
	if s := f.states.Find(0, func(s *state) bool { return s.totals.Programs == 0 }); s != nil {
		return s
	}
	s := f.newState()
	s.content = f.newContent()
	f.states.Put(0, s)
	return s
}

func (f *Fleet) newState() *state {
	s := new(state)
	s.Self, s.Name = s, f.newSerial()
	return s
}

// next returns the state that s becomes when one program leaves and another one
// comes. whole says that the only group of s moves: if nobody is behind or ahead, s itself
// changes.
func (f *Fleet) next(s *state, old, new *registration, whole bool) *state {
	if to := s.Follow(old.id(), new.id()); to != nil {
		return to
	}
	h := s.hash
	if old != nil {
		h -= old.Hash
	}
	if new != nil {
		h += new.Hash
	}
	if to := f.states.Find(h, func(to *state) bool { return f.becomes(s, to, old, new) }); to != nil {
		s.Connect(&to.Crossing, old.id(), new.id())
		return to
	}
	f.fill(s)
	f.shorten(s)
	to := s
	if whole && s.from == nil && len(s.after) == 0 {
		f.states.Drop(s.hash, s)
		s.folded = fold{}
		s.Rename(f.newSerial())
		f.alter(s, old, new)
	} else {
		to = f.newState()
		to.grow(step{s, old, new})
		s.Connect(&to.Crossing, old.id(), new.id())
		f.pass(s, to)
	}
	to.hash, to.totals, to.charge = h, to.content.Totals(), to.content.Charge
	f.states.Put(h, to)
	return to
}

// becomes reports whether s without old and with new is the set of programs of to. Cost:
// O(programs / 64), and the steps to each of them from a content.
func (f *Fleet) becomes(s, to *state, old, new *registration) bool {
	n := s.totals.Programs
	if old != nil {
		n--
	}
	if new != nil {
		n++
	}
	if n != to.totals.Programs {
		return false
	}
	here, there := s.sight(), to.sight()
	f.one, f.other = here.members(f.one), there.members(f.other)
	for _, r := range [...]*registration{old, new} {
		if r != nil {
			f.one = f.one.Flip(r.Number)
		}
	}
	return f.one.Equal(f.other)
}

// grow puts s, which is new, into a tree.
func (s *state) grow(by step) {
	s.step, s.place = by, len(by.from.after)
	by.from.after = append(by.from.after, s)
	for _, r := range [...]*registration{by.old, by.new} {
		if r != nil {
			r.steps++
		}
	}
}

// cut makes s the first state of a tree of its own.
func (f *Fleet) cut(s *state) {
	from := s.from
	if from == nil {
		return
	}
	last := len(from.after) - 1
	from.after[s.place] = from.after[last]
	from.after[s.place].place = s.place
	from.after[last] = nil
	from.after = from.after[:last]
	by := s.step
	s.step, s.since = step{}, 0
	for _, r := range [...]*registration{by.old, by.new} {
		if r != nil {
			r.steps--
			f.retire(r)
		}
	}
}

// forget ends a state that no device is in, and that none is after.
func (f *Fleet) forget(s *state) {
	f.cut(s)
	f.states.Drop(s.hash, s)
	*s = state{}
}

// leave notes that devices went from s to another state, nil if they are gone, and forgets
// what nobody can need any more.
func (f *Fleet) leave(s, to *state) {
	if len(s.groups) > 0 {
		return
	}
	if to != nil && to.from == s && to.lacks() && s.content != nil && !s.keeps() {
		f.pass(s, to)
	}
	switch {
	case len(s.after) == 0:
		f.prune(s)
	case s.from == nil:
		f.shed(s)
	default:
		f.giveBack(s)
		if !s.keeps() {
			s.content = nil
		}
	}
}

// prune forgets a state that no device is in or after. States before it go as well, up to the
// first one that still has devices in it or after it.
func (f *Fleet) prune(s *state) {
	for s != nil && len(s.groups) == 0 && len(s.after) == 0 {
		f.giveBack(s)
		from := s.from
		f.forget(s)
		s = from
	}
}

// shed forgets a state that no device is in or before. States after it go as well, up to the
// first ones with devices. Each of those is the first of a tree of its own then.
func (f *Fleet) shed(s *state) {
	if s.lent != nil && len(s.after) > 1 {
		f.fill(s)
	}
	for _, to := range slices.Backward(s.after) { // each is taken out in its turn
		if len(to.groups) == 0 {
			f.shed(to)
			continue
		}
		if to.lacks() {
			f.fill(to)
		}
		f.cut(to)
	}
	f.forget(s)
}

// shorten cuts s off from devices that are so far behind that remembering their way takes more
// than it saves. Devices that are served or emptied one after the other, each with all its
// programs, still find the way.
func (f *Fleet) shorten(s *state) {
	if s.from == nil || !s.far() {
		return
	}
	last, steps := s, 1
	for len(last.from.groups) == 0 {
		last = last.from
		steps++
	}
	if steps > 256+2*max(s.totals.Programs, last.from.totals.Programs) {
		f.shed(last)
	}
}

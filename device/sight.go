package device

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/program"
)

// A content goes on with the device that is ahead, changed in place by each step. Where devices
// stay behind it is lent for as long as it is one step away from them, and copied when it goes
// farther. So a program that reaches 32 devices one by one copies nothing, and each state with
// devices has its content, or somebody to ask.

// pass lends the content of s to a state after it that has none.
func (f *Fleet) pass(s, to *state) {
	f.settle(s)
	to.content, to.since = s.content, s.since+1
	s.content, s.lent = nil, to
	f.alter(to, to.old, to.new)
}

// settle lets the content of s go on: who has lent it gets a copy, if it is a state with devices or
// as far from the last content that the way from there is long.
func (f *Fleet) settle(s *state) {
	from := s.from
	if from == nil || from.lent != s {
		return
	}
	from.lent = nil
	if far := from.far(); far || len(from.groups) > 0 {
		from.content = f.fork(s.content)
		from.content.Change(s.new.holder(), s.old.holder())
		if far {
			from.since, s.since = 0, 1
		}
	}
}

// giveBack lets the state before s have the content of s, which no device is in any more, if
// devices are there that have lent it or have none.
func (f *Fleet) giveBack(s *state) {
	from := s.from
	if from == nil || from.lent != nil && from.lent != s {
		return
	}
	from.lent = nil
	if len(from.groups) > 0 && from.content == nil && s.content != nil {
		from.content, s.content = s.content, nil
		f.alter(from, s.new, s.old)
	}
}

// lacks reports whether the content of s has to be worked out.
func (s *state) lacks() bool { return s.content == nil && s.lent == nil }

// keeps reports whether s keeps its content when devices only passed.
func (s *state) keeps() bool { return s.since == 0 && s.from != nil }

// far reports whether it is a long way to s from the last content before it: working it out
// costs about as much as registering half of its programs.
func (s *state) far() bool { return s.since >= max(64, s.totals.Programs/2) }

// alter changes the content of s. If it was pictured it may be looked at without the lock: a copy
// is changed then.
func (f *Fleet) alter(s *state, old, new *registration) {
	f.own(s)
	s.content.Change(old.holder(), new.holder())
}

// own makes the content of s one that may be changed in place.
func (f *Fleet) own(s *state) {
	if s.content.Born < f.pictured.Load() {
		s.content = s.content.Clone(&f.roster)
		s.content.Rename(f.newSerial())
	}
}

// newContent returns the content of a state without programs.
func (f *Fleet) newContent() *classes.Content {
	t := classes.NewContent(&f.roster)
	t.Rename(f.newSerial())
	return t
}

// fork returns a copy of a content. Both may be changed.
func (f *Fleet) fork(t *classes.Content) *classes.Content {
	out := t.Clone(&f.roster)
	out.Rename(f.newSerial())
	if t.Born >= f.pictured.Load() {
		t.Rename(f.newSerial())
	}
	return out
}

// fill gives s a content, if it has none.
func (f *Fleet) fill(s *state) {
	if s.content != nil {
		return
	}
	v := s.sight()
	s.content = f.fork(v.content)
	v.goOn(s.content)
	s.lent = nil
}

// open returns what s holds, for reading. It changes nothing. o is whose the programs are.
func (s *state) open(o *classes.Roster) *classes.Content {
	v := s.sight()
	return v.open(o)
}

// A sight is a state as it can be worked out: a content, and the steps from there.
type sight struct {
	content  *classes.Content
	steps    []step // the first one last; without from
	programs int
}

// sight returns what is known of s, for as long as nothing changes.
func (s *state) sight() sight {
	v := sight{programs: s.totals.Programs}
	for ; s.lacks(); s = s.from {
		v.steps = append(v.steps, step{old: s.old, new: s.new})
	}
	if v.content = s.content; v.content == nil {
		v.content = s.lent.content
		v.steps = append(v.steps, step{old: s.lent.new, new: s.lent.old})
	}
	return v
}

// members returns the numbers of the programs of the state, in the memory of b.
func (v *sight) members(b bitset.Set) bitset.Set {
	b = b.CopyOf(v.content.Live.Bits)
	for _, by := range v.steps {
		b = by.over(b)
	}
	return b
}

// list returns the programs of the state, in any order.
func (v *sight) list(o *classes.Roster) []*program.Program {
	if v.programs == 0 {
		return nil
	}
	out := make([]*program.Program, 0, v.programs)
	for number := range v.members(bitset.Set{}).All() {
		out = append(out, o.At(number).Program)
	}
	return out
}

// open returns what the state holds core by core, for reading. It changes nothing. o is whose
// the programs are.
func (v *sight) open(o *classes.Roster) *classes.Content {
	if len(v.steps) == 0 {
		return v.content
	}
	out := v.content.Clone(o)
	v.goOn(out)
	return out
}

// goOn takes a copy of the content to the state.
func (v *sight) goOn(t *classes.Content) {
	for _, by := range slices.Backward(v.steps) {
		t.Change(by.old.holder(), by.new.holder())
	}
}

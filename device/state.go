package device

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/version"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/program"
)

// A state is a set of registered programs. Devices with the same programs share one
// state, however each came to it. Its content holds the ranges of each core, and
// moves on with the device that is ahead: see package version.
type state struct {
	version.Version[state, classes.Content, registration]
	totals classes.Figures
	charge uint64
	cores  *corepeaks.Marks // of the device that came last: others mostly come with equal ones
	folded fold
	moves  *state // the next state of its devices, during a change
}

// A step changes the programs of a device by one operation.
type step = version.Step[registration]

// programs implements version.Editor: how contents are copied and changed.
type programs Fleet

func (o *programs) fleet() *Fleet { return (*Fleet)(o) }

// Copy returns a copy of a content. Both may be changed.
func (o *programs) Copy(t *classes.Content) *classes.Content {
	f := o.fleet()
	out := t.Clone(&f.roster)
	out.Rename(f.newSerial())
	if t.Born >= f.pictured.Load() {
		t.Rename(f.newSerial())
	}
	return out
}

// Change takes one program off and puts another one on.
func (o *programs) Change(t *classes.Content, by step) *classes.Content {
	t = o.fleet().own(t)
	t.Change(by.Old.holder(), by.New.holder())
	return t
}

// Name counts one more step that names r, or one less.
func (o *programs) Name(r *registration, steps int) {
	if r.steps += steps; r.steps == 0 {
		o.fleet().retire(r)
	}
}

// own returns a content that may be changed in place. A pictured content may be read
// without the lock, so own returns a copy of it.
func (f *Fleet) own(t *classes.Content) *classes.Content {
	if t.Born < f.pictured.Load() {
		t = t.Clone(&f.roster)
		t.Rename(f.newSerial())
	}
	return t
}

// fill gives s a content, if it has none.
func (f *Fleet) fill(s *state) { f.states.Fill((*programs)(f), &s.Version) }

// empty returns the state without programs, where every device starts.
func (f *Fleet) empty() *state {
	if s := f.states.Find(0, func(s *state) bool { return s.totals.Programs == 0 }); s != nil {
		return s
	}
	s := newState()
	s.Content = f.newContent()
	f.states.Put(&s.Version)
	return s
}

// newContent returns the content of a state without programs.
func (f *Fleet) newContent() *classes.Content {
	t := classes.NewContent(&f.roster)
	t.Rename(f.newSerial())
	return t
}

func newState() *state {
	s := new(state)
	s.Self = s
	return s
}

// next returns the state that s becomes by a step. If s has one cohort, and no state
// leans on it, s itself changes.
func (f *Fleet) next(s *state, by step) *state {
	h := s.Hash
	if by.Old != nil {
		h -= by.Old.Hash
	}
	if by.New != nil {
		h += by.New.Hash
	}
	if to := f.states.Next(&s.Version, h, by, func(to *state) bool { return f.becomes(s, to, by) }); to != nil {
		return to
	}
	to := s
	if s.Users > 1 || !f.states.Become((*programs)(f), &s.Version, h, by) {
		to = newState()
		to.Hash = h
		// Reaching a state from so far away costs about as much as registering half
		// of its programs.
		f.states.Advance((*programs)(f), &s.Version, &to.Version, by, max(64, s.totals.Programs/2))
	}
	to.folded = fold{}
	to.totals, to.charge = to.Content.Totals(), to.Content.Charge
	return to
}

// becomes reports whether s after a step is the set of programs of to. Cost:
// O(programs / 64), and the steps to each of them from a content.
func (f *Fleet) becomes(s, to *state, by step) bool {
	n := s.totals.Programs
	if by.Old != nil {
		n--
	}
	if by.New != nil {
		n++
	}
	if n != to.totals.Programs {
		return false
	}
	here, there := s.contentView(), to.contentView()
	f.one, f.other = over(here.members(f.one), by), there.members(f.other)
	return f.one.Equal(f.other)
}

// over makes a step in a set of numbers of programs, forwards or backwards, in place
// where there is room.
func over(b bitset.Sparse, by step) bitset.Sparse {
	for _, r := range [...]*registration{by.Old, by.New} {
		if r != nil {
			b = b.Flip(r.Number)
		}
	}
	return b
}

// A contentView is a readable form of a state: a content, and the steps from the state to
// it.
type contentView struct {
	content  *classes.Content
	steps    []step
	programs int
}

// contentView returns the content of s and the steps to it. It is valid until the next
// change.
func (s *state) contentView() contentView {
	content, steps := s.View()
	return contentView{content, steps, s.totals.Programs}
}

// members returns the numbers of the programs of the state, in the memory of b.
func (v *contentView) members(b bitset.Sparse) bitset.Sparse {
	b = b.CopyOf(v.content.Live.Bits)
	for _, by := range v.steps {
		b = over(b, by)
	}
	return b
}

// list returns the programs of the state, in any order.
func (v *contentView) list(o *classes.Roster) []*program.Program {
	if v.programs == 0 {
		return nil
	}
	out := make([]*program.Program, 0, v.programs)
	for number := range v.members(bitset.Sparse{}).All() {
		out = append(out, o.At(number).Program)
	}
	return out
}

// open returns the content of the state, for reading. It changes nothing. o is the
// roster of the programs.
func (v *contentView) open(o *classes.Roster) *classes.Content {
	if len(v.steps) == 0 {
		return v.content
	}
	out := v.content.Clone(o)
	for _, by := range slices.Backward(v.steps) {
		out.Change(by.New.holder(), by.Old.holder())
	}
	return out
}

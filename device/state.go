package device

// A state is a set of registered programs. Devices with the same programs share
// one state, whichever way each came to it: a state is found along the ways that lead
// to it, and where there is none by its hash, and then its programs are compared. Its
// figures are kept; what it holds core by core is kept by its line.
type state struct {
	crossing[state]
	hash      hash   // of its programs
	totals    Totals // without Peak
	charge    uint64
	gathering // the devices in this state; none if it is only remembered

	line *line
	at   int // position on the line: the present one, or one in the trail

	folded fold
}

// A line is a history of states that follow each other, one program apart. Only the
// present one is there core by core; the others are known by the way back to them.
//
//	trail:   S0 --+P1--> S1 --+P2--> S2 --+P3-->  now
//	         |           |                        |
//	    31 devices    nobody any more         1 device, and the content
//
// This is what 32 calls for one device each leave behind after the first three: the
// device that goes first does the work, those that follow find the way to the next
// state and only point to it. A state of the trail that has to change in a new
// direction is given a line of its own first.
//
// A line whose devices are all in the present state keeps no trail: nobody can follow.
type line struct {
	*content
	now   *state
	trail []step // oldest first
	base  int    // position of trail[0]; now is at base+len(trail)
	users int    // groups in any state of the line; more than 0
}

// A step leads from a state of a line to the next one.
type step struct {
	from     *state        // nil if it was given a line of its own
	old, new *registration // taken off, put on; either may be nil
}

// keep notes on the registrations that a step may bring them back.
func (s step) keep() step {
	if s.old != nil {
		s.old.steps++
	}
	if s.new != nil {
		s.new.steps++
	}
	return s
}

// forget ends what keep began.
func (f *Fleet) forget(s *step) {
	for _, r := range []*registration{s.old, s.new} {
		if r != nil {
			r.steps--
			f.roster.retire(r)
		}
	}
	*s = step{}
}

func (l *line) end() int { return l.base + len(l.trail) }

// tooLong reports whether the trail is longer than it may become, so that devices
// that are served or emptied one after the other, each with all its programs, still
// find the way.
func (l *line) tooLong() bool {
	if len(l.trail) <= 256 {
		return false
	}
	programs := l.programs
	if from := l.trail[0].from; from != nil && len(from.groups) > 0 {
		programs = max(programs, from.totals.Programs)
	}
	return len(l.trail) > 256+2*programs
}

// empty returns the state without programs, where every device starts.
func (f *Fleet) empty() *state {
	if s := f.states.find(0, func(s *state) bool { return s.totals.Programs == 0 }); s != nil {
		return s
	}
	l := &line{content: newContent(&f.roster)}
	l.now = f.newState(l)
	f.states.put(0, l.now)
	return l.now
}

func (f *Fleet) newState(l *line) *state {
	s := &state{line: l}
	s.self, s.name = s, f.newSerial()
	return s
}

// forgetState ends a state that no device is in.
func (f *Fleet) forgetState(s *state) {
	f.states.drop(s.hash, s)
	*s = state{}
}

// next returns the state that s becomes when one program leaves and another one
// comes. whole says that a whole group moves: if it is the only one of the line, s itself
// changes.
func (f *Fleet) next(s *state, old, new *registration, whole bool) *state {
	if to := s.follow(old.id(), new.id()); to != nil {
		return to
	}
	h := s.hash
	if old != nil {
		h -= old.hash
	}
	if new != nil {
		h += new.hash
	}
	if to := f.states.find(h, func(to *state) bool { return f.becomes(s, to, old, new) }); to != nil {
		s.connect(&to.crossing, old.id(), new.id())
		return to
	}
	f.present(s)
	l := s.line
	to := s
	if whole && l.users == 1 {
		f.forgetTrail(l)
		f.states.drop(s.hash, s)
		s.folded = fold{}
		s.rename(f.newSerial())
	} else {
		s.at = l.end()
		l.trail = append(l.trail, step{s, old, new}.keep())
		to = f.newState(l)
		s.connect(&to.crossing, old.id(), new.id())
		l.now = to
	}
	f.own(l)
	l.change(old, new)
	to.hash, to.totals, to.charge, to.at = h, l.totals(), l.charge, l.end()
	f.states.put(h, to)
	for l.tooLong() {
		f.forgetOldest(l)
	}
	return to
}

// becomes reports whether s without old and with new is the set of programs of to. Cost:
// O(programs / 64), and the way back to each of them on its line.
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
	here, there := f.sight(s), f.sight(to)
	f.one, f.other = here.members(f.one), there.members(f.other)
	for _, r := range [...]*registration{old, new} {
		if r != nil {
			f.one = f.one.flip(r.number)
		}
	}
	return f.one.equal(f.other)
}

// present makes s the present state of its line. If no device is in a state after
// it the line goes back; otherwise s gets a line of its own.
func (f *Fleet) present(s *state) {
	l := s.line
	if s == l.now {
		return
	}
	used := len(l.now.groups) > 0
	for i := s.at + 1 - l.base; i < len(l.trail) && !used; i++ {
		from := l.trail[i].from
		used = from != nil && len(from.groups) > 0
	}
	if used {
		f.fork(s)
		return
	}
	f.own(l)
	for l.now != s {
		last := len(l.trail) - 1
		back := l.trail[last]
		l.change(back.new, back.old)
		f.forget(&l.trail[last])
		l.trail = l.trail[:last]
		if back.from != nil {
			f.forgetState(l.now)
			l.now = back.from
		}
	}
}

// fork gives a state of a trail a line of its own, where it is the present.
func (f *Fleet) fork(s *state) {
	from := s.line
	own := &line{content: f.view(s), now: s, users: len(s.groups)}
	from.trail[s.at-from.base].from = nil
	s.line, s.at = own, 0
	f.leave(from, len(s.groups))
}

// leave notes that n groups no longer are in states of the line, and forgets what
// nobody can need any more.
func (f *Fleet) leave(l *line, n int) {
	l.users -= n
	switch {
	case l.users == 0:
		f.forgetTrail(l)
		f.forgetState(l.now)
	case l.users == len(l.now.groups):
		f.forgetTrail(l)
	}
}

func (f *Fleet) forgetTrail(l *line) {
	if l.trail == nil {
		return
	}
	for i := range l.trail {
		if from := l.trail[i].from; from != nil {
			f.forgetState(from)
		}
		f.forget(&l.trail[i])
	}
	l.trail, l.base = nil, 0
	l.now.at = 0
}

// forgetOldest shortens the trail by a step. A state that devices are in gets a
// line of its own: the way back to it has become longer than what it saves.
func (f *Fleet) forgetOldest(l *line) {
	if s := l.trail[0].from; s != nil {
		if len(s.groups) > 0 {
			f.fork(s)
		} else {
			f.forgetState(s)
		}
	}
	if len(l.trail) > 0 { // fork may have forgotten all of it
		f.forget(&l.trail[0])
		l.trail = l.trail[1:]
		l.base++
	}
}

package device

import "github.com/cbl1/cbl1/program"

// Enqueue does the work of a kernel call on all devices of s or none: it registers p
// where it is new, checks that it fits, and dispatches it. It refuses a program whose
// fit is unknown, and Verdict.CannotTell reports this case. A program that runs from
// the cache is checked too, as tt-metal does: it may have fitted when it was built,
// and not any more (its issue 53537). Enqueue returns the devices on which p was new.
// The observer gets a NoticeRefused for a program that does not fit.
//
// Errors, the first that applies: the errors of Register; the fit.Verdict;
// ErrOverflow as Dispatch. Cost: Register and Dispatch; the check costs a
// comparison for each device while their buffers have not changed since the last one.
func (f *Fleet) Enqueue(p *program.Program, s Set) (added Set, err error) {
	defer named("Enqueue", &err)
	if p == nil {
		return Set{}, ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.enqueue(p, s)
}

// EnqueueID is Enqueue of the program with an id that is registered on any device.
// Errors: ErrNotRegistered if it is on none, else the errors of Enqueue.
func (f *Fleet) EnqueueID(id program.ID, s Set) (added Set, err error) {
	defer named("EnqueueID", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.programs[id]
	if r == nil {
		return Set{}, ofProgram(id, ErrNotRegistered)
	}
	return f.enqueue(r.Program, s)
}

// enqueue is Enqueue under the lock.
func (f *Fleet) enqueue(p *program.Program, s Set) (added Set, err error) {
	if err := f.check(s); err != nil || s.s == nil {
		return Set{}, err
	}
	fresh, n, err := f.admit(p, s)
	if err != nil {
		return Set{}, err
	}
	r := f.programs[p.ID()]
	if r == nil || !f.fitsStill(r, s) {
		all, err := f.sitesOf(p, s)
		if err != nil {
			return Set{}, err
		}
		judged := p
		if r != nil { // the program that runs: an equal one, perhaps cut into other CBs
			judged = r.Program
		}
		if v := judge(judged, all); !v.Fits() {
			f.emit(Notice{Kind: NoticeRefused, Set: s, Program: judged, Verdict: v})
			return Set{}, ofProgram(judged.ID(), v)
		}
	}
	if r == nil {
		r = f.newRegistration(p)
	}
	var o overlays
	if f.lay(r); r.left != nil {
		if o, err = f.writable(p.ID(), s.s.slots, r.left); err != nil {
			f.retire(r) // if it is on no device
			return Set{}, err
		}
	}
	if n > 0 {
		added = f.install(r, s, fresh, n)
	}
	f.overwrite(s.s.slots, r.left, &o)
	f.fitted(r, s)
	// An observer may panic: everything is done before it is called.
	if n > 0 {
		f.emit(Notice{Kind: NoticeRegistered, Set: added, Program: p})
	}
	f.emitDispatched(r, s)
	return added, nil
}

// fitsStill reports whether r was found to fit beside the buffers of all devices of
// s, in the mode that they have now.
func (f *Fleet) fitsStill(r *registration, s Set) bool {
	if !r.fit {
		return false
	}
	for c := range f.shares(s.s.slots) {
		if c.heap().Version() != r.beside || c.hybrid != r.hybrid {
			return false
		}
	}
	return true
}

// fitted records that r fits beside the buffers of the first device of s, in its
// mode.
func (f *Fleet) fitted(r *registration, s Set) {
	for c := range f.shares(s.s.slots) {
		r.fit, r.beside, r.hybrid = true, c.heap().Version(), c.hybrid
		return
	}
}

package device

import (
	"cmp"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Register counts p on the devices of s that do not have it yet and returns them. It
// happens on all of them or on none.
//
// A program is known by its id. Registering it again, also as another Program that is
// Equal, is no error and changes nothing. A program without any CB, or with only
// global ones, is registered and takes 0 bytes. Registering records: a footprint that
// ends beyond L1 is counted like any other. An empty set is no error, whatever the
// program.
//
// Errors, the first that applies: ErrNoProgram; ErrForeignSet; ErrNoDevice for a
// removed device; ErrConflict for an id that is registered, on any device, with
// another footprint; ErrSpec for a program built for another Spec; ErrGrid for cores
// outside the grid; ErrOverflow.
func (f *Fleet) Register(p *program.Program, s Set) (added Set, err error) {
	defer named("Register", &err)
	if p == nil {
		return Set{}, ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return Set{}, err
	}
	added, err = f.register(p, s)
	if added.s != nil {
		f.emit(Notice{Kind: NoticeRegistered, Set: added, Program: p})
	}
	return added, err
}

// register is Register for a checked set that is not empty.
func (f *Fleet) register(p *program.Program, s Set) (added Set, err error) {
	fresh, n, err := f.admit(p, s)
	if err != nil || n == 0 {
		return Set{}, err
	}
	r := f.programs[p.ID()]
	if r == nil {
		r = f.newRegistration(p)
	}
	return f.install(r, s, fresh, n), nil
}

// admit returns the devices of s that do not have p, if p may be registered there.
func (f *Fleet) admit(p *program.Program, s Set) (fresh bitset.Bits, n int, err error) {
	r := f.programs[p.ID()]
	if r != nil && !r.Program.Equal(p) {
		return bitset.Bits{}, 0, conflict(r.Program, p)
	}
	fresh, n = s.s.slots, s.s.n
	if r != nil {
		fresh, n = fresh.Minus(r.on.Bits)
	}
	// An equal program is registered there, so p fits as well. Without this test a
	// follower takes 1.05 times as long.
	if r == nil || !f.fitsLike(r, s) {
		if err := f.fits(p, fresh, s.s.spec); err != nil {
			return bitset.Bits{}, 0, err
		}
	}
	if n == 0 {
		return fresh, n, nil
	}
	if err := f.overflow(p.ID(), fresh, n, chargeOf(p), 0); err != nil {
		return bitset.Bits{}, 0, err
	}
	return fresh, n, f.faults.step()
}

// fitsLike reports whether all devices of s have the Spec of a device that has r.
func (f *Fleet) fitsLike(r *registration, s Set) bool {
	first, ok := r.on.Next(0)
	return ok && f.at(first).spec == s.s.spec
}

// install counts r on n devices of s that do not have it, and returns them.
func (f *Fleet) install(r *registration, s Set, fresh bitset.Bits, n int) (added Set) {
	if r.on.Empty() {
		if f.programs == nil {
			f.programs = map[program.ID]*registration{}
		}
		f.programs[r.Program.ID()] = r
	}
	f.charge.add(r.Charge, n)
	f.change(fresh, step{New: r})
	if n == s.s.n {
		return s
	}
	return f.setOf(fresh, n)
}

// newRegistration prepares p.
func (f *Fleet) newRegistration(p *program.Program) *registration {
	r := &registration{Holder: classes.NewHolder(p, f.newSerial(), chargeOf(p))}
	f.roster.Enter(&r.Holder, &f.numbers.Hashes)
	return r
}

// Unregister takes the program with the given id off the devices of s. It refuses if
// one of them does not have it. Errors, the first that applies: ErrForeignSet;
// ErrNoDevice for a removed device; ErrNotRegistered.
func (f *Fleet) Unregister(id program.ID, s Set) (err error) {
	defer named("Unregister", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.registered(id, s)
	if err != nil || s.s == nil {
		return err
	}
	if err := f.faults.step(); err != nil {
		return err
	}
	f.unregister(r, s.s.slots, s.s.n)
	f.emit(Notice{Kind: NoticeUnregistered, Set: s, Program: r.Program})
	return nil
}

// registered returns the registration of a program, if all devices of s have it. An
// empty set returns nil and no error.
func (f *Fleet) registered(id program.ID, s Set) (*registration, error) {
	if err := f.check(s); err != nil || s.s == nil {
		return nil, err
	}
	r := f.programs[id]
	var on bitset.Bits
	if r != nil {
		on = r.on.Bits
	}
	if err := f.lacking(id, s, on); err != nil {
		return nil, err
	}
	return r, nil
}

// lacking refuses a set with devices outside the given slots.
func (f *Fleet) lacking(id program.ID, s Set, on bitset.Bits) *Error {
	lack, n := s.s.slots.Minus(on)
	for slot := range lack.All() {
		e := of(id, f.ids[slot], ErrNotRegistered)
		e.More = n - 1
		return e
	}
	return nil
}

// UnregisterAll takes the program with the given id off every device that has it and
// returns these devices; there may be none.
func (f *Fleet) UnregisterAll(id program.ID) (removed Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.programs[id]
	if r == nil {
		return Set{}
	}
	on := r.on.Clone()
	n := on.Count()
	f.unregister(r, on, n)
	removed = f.setOf(on, n)
	f.emit(Notice{Kind: NoticeUnregistered, Set: removed, Program: r.Program})
	return removed
}

func (f *Fleet) unregister(r *registration, slots bitset.Bits, n int) {
	f.charge.sub(r.Charge, n)
	f.change(slots, step{Old: r})
	if r.on.Empty() {
		delete(f.programs, r.Program.ID())
		f.retire(r)
		f.rest()
	} else if r.heirs != nil && r.heirs.traces > 0 {
		r.heirs.leave(slots, f.operation)
	}
}

// Replace swaps the program with the id old for another one, usually the same program
// after Resize, on all devices that have it, at once: readers see the old or the new
// layout. It returns these devices.
//
// Errors, the first that applies: ErrNoProgram; ErrNotRegistered if old is nowhere;
// ErrConflict if another registered program has the id of the new one; ErrSpec,
// ErrGrid, ErrOverflow as Register.
func (f *Fleet) Replace(old program.ID, new *program.Program) (_ Set, err error) {
	defer named("Replace", &err)
	if new == nil {
		return Set{}, ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.programs[old]
	if r == nil {
		return Set{}, ofProgram(old, ErrNotRegistered)
	}
	if other := f.programs[new.ID()]; other != nil && other != r {
		return Set{}, conflict(other.Program, new)
	}
	on := r.on.Clone()
	n := on.Count()
	where := f.setOf(on, n)
	if err := f.fits(new, on, where.s.spec); err != nil {
		return Set{}, err
	}
	if err := f.overflow(new.ID(), on, n, chargeOf(new), r.Charge); err != nil {
		return Set{}, err
	}
	next := f.newRegistration(new)
	delete(f.programs, old)
	f.programs[new.ID()] = next
	next.heirs = r.heritage()
	next.heirs.last = next
	f.charge.sub(r.Charge, n)
	f.charge.add(next.Charge, n)
	f.change(on, step{Old: r, New: next})
	f.retire(r)
	f.emit(Notice{Kind: NoticeReplaced, Set: where, Program: new, Old: r.Program})
	return where, nil
}

// Where returns the devices that have the program with the given id.
func (f *Fleet) Where(id program.ID) Set {
	f.mu.RLock()
	defer f.mu.RUnlock()
	r := f.programs[id]
	if r == nil {
		return Set{}
	}
	return f.setOf(r.on.Clone(), r.on.Count())
}

// Program returns the registered program with the given id, if there is one.
func (f *Fleet) Program(id program.ID) (*program.Program, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	r := f.programs[id]
	if r == nil {
		return nil, false
	}
	return r.Program, true
}

// Programs returns the programs that were registered on any device when it was
// called, by id. At the end of a run these are the programs that were never
// unregistered.
func (f *Fleet) Programs() iter.Seq[*program.Program] {
	f.mu.RLock()
	out := make([]*program.Program, 0, len(f.programs))
	for _, r := range f.programs {
		out = append(out, r.Program)
	}
	f.mu.RUnlock()
	slices.SortFunc(out, byID)
	return slices.Values(out)
}

func byID(a, b *program.Program) int { return cmp.Compare(a.ID(), b.ID()) }

// programs returns the programs of a device, in any order. The caller sorts them
// after it has released the lock. Cost: O(programs, and all numbers in use / 64).
func (c *cohort) programs() []*program.Program {
	if c.state == nil {
		return nil
	}
	v := c.state.contentView()
	return v.list(&c.fleet.roster)
}

// fits refuses p on devices whose Spec places it otherwise, and then p with cores
// outside the grid. spec is the Spec of all the devices, or nil if they differ.
func (f *Fleet) fits(p *program.Program, slots bitset.Bits, spec *l1.Spec) error {
	core, outside := outsideGrid(p)
	var grid error
	for c := range f.shares(slots) {
		if !c.spec.Places(p.Spec()) {
			return otherSpec(p, c.id(), c.spec)
		}
		if outside && grid == nil {
			grid = offGrid(p, c, core)
		}
		if spec != nil {
			break // the others are the same
		}
		if err := f.faults.step(); err != nil {
			return err
		}
	}
	if grid != nil {
		return grid
	}
	return f.faults.step()
}

// overflow refuses sums that would exceed 2^63-1 if n devices gain one charge and
// lose another.
func (f *Fleet) overflow(id program.ID, slots bitset.Bits, n int, charge, less uint64) error {
	// Where the sum over the whole fleet is small enough no part of it can be too
	// large. This is the usual case.
	if sum := f.charge; sum.add(charge, n) <= l1.MaxAddr {
		return f.faults.step()
	}
	at, err := f.sums(slots, func(m *mesh) uint64 { return m.charge }, func(c share) (sum, off, on uint64) {
		return c.state.charge, less, charge
	})
	if errors.Is(err, ErrOverflow) {
		return of(id, at, err)
	}
	return err
}

// sums works out the sums of devices and their meshes after each device of a share
// has lost off and gained on. It returns ErrOverflow, with a device, if a sum would
// exceed 2^63-1.
func (f *Fleet) sums(slots bitset.Bits, of func(*mesh) uint64, change func(share) (sum, off, on uint64)) (ID, error) {
	var m *mesh
	var all wide // of m, after the change
	for c := range f.shares(slots) {
		if err := f.faults.step(); err != nil {
			return 0, err
		}
		sum, off, on := change(c)
		if on > l1.MaxAddr || sum-off > l1.MaxAddr-on {
			return c.id(), ErrOverflow
		}
		if c.mesh != m { // the slots of a mesh follow each other
			if all.beyond() {
				return m.first, ErrOverflow
			}
			if m, all = c.mesh, (wide{}); m != nil {
				all.lo = of(m)
			}
		}
		if m != nil {
			all.add(on, c.n)
			all.sub(off, c.n)
		}
	}
	if all.beyond() {
		return m.first, ErrOverflow
	}
	return 0, f.faults.step()
}

// wide is a sum of more than 64 bits.
type wide struct {
	hi, lo uint64
}

// add adds charge n times and returns the sum, or 2^64-1 if it is larger.
func (w *wide) add(charge uint64, n int) uint64 {
	hi, lo := bits.Mul64(charge, uint64(n))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + carry
	if w.hi > 0 {
		return ^uint64(0)
	}
	return w.lo
}

// beyond reports whether the sum exceeds 2^63-1.
func (w *wide) beyond() bool { return w.hi > 0 || w.lo > l1.MaxAddr }

// sub takes charge off n times.
func (w *wide) sub(charge uint64, n int) {
	hi, lo := bits.Mul64(charge, uint64(n))
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, lo, 0)
	w.hi -= hi + borrow
}

// outsideGrid returns a core of p outside the grid that it was built for.
func outsideGrid(p *program.Program) (l1.Core, bool) {
	if spec := p.Spec(); spec.HasAll(p.Cores()) {
		return l1.Core{}, false
	}
	for finding := range p.Findings() {
		if finding.Code == program.OutsideGrid {
			for c := range finding.Cores.All() {
				return c, true
			}
		}
	}
	return l1.Core{}, false
}

// chargeOf bounds the bytes that p adds to any total of a device. Sums of charges are
// kept below 2^63, so that no total can overflow.
func chargeOf(p *program.Program) uint64 {
	return max(p.Occupied(program.CircularBuffer).Logical(), p.Reserved(program.CircularBuffer).Bytes())
}

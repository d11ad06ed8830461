package device

import (
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Register counts p on the devices of s that do not have it yet and returns those.
// It happens on all of them or on none.
//
// A program is known by its id. Registering it again, also as another Program with
// an equal footprint, is no error and changes nothing. A program without any CB is
// accepted and is nowhere. Registering records: a footprint that ends beyond L1 is
// counted like any other.
//
// Errors: ErrNoProgram; ErrNoDevice; ErrForeignSet; *SpecError for a program built
// for another Spec; *GridError for cores outside the grid; *ConflictError for an id
// that is registered with another footprint; *OverflowError.
func (f *Fleet) Register(p *program.Program, s Set) (added Set, err error) {
	if p == nil {
		return Set{}, ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil {
		return Set{}, err
	}
	r := f.programs[p.ID()]
	if r != nil && !r.program.Equal(p) {
		return Set{}, &ConflictError{Registered: r.program.String(), Given: p.String()}
	}
	if s.s == nil {
		return Set{}, nil
	}
	fresh, n := s.s.slots, s.s.n
	if r != nil {
		fresh, n = fresh.minus(r.on)
	}
	// Also where nothing is new: a wrong call is wrong whatever came before it.
	if err := f.fits(p, s.s.slots, fresh, nil); err != nil {
		return Set{}, err
	}
	if n == 0 || p.Len() == 0 {
		return Set{}, nil
	}
	if r == nil {
		r = &registration{program: p}
		if f.programs == nil {
			f.programs = map[program.ID]*registration{}
		}
		f.programs[p.ID()] = r
	}
	r.on = r.on.add(fresh)
	f.change(fresh, nil, r.program)
	if n == s.s.n {
		return s, nil
	}
	return f.setOfSlots(fresh, n), nil
}

// Unregister takes p off the devices of s. It refuses if one of them does not have
// it. Errors: ErrNoProgram, ErrNotRegistered, ErrNoDevice, ErrForeignSet.
func (f *Fleet) Unregister(p *program.Program, s Set) error {
	if p == nil {
		return ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return err
	}
	r := f.programs[p.ID()]
	var on bitset
	if r != nil {
		on = r.on
	}
	if lacking, n := s.s.slots.minus(on); n > 0 {
		for slot := range lacking.all() {
			return &ProgramError{Program: p.ID(), Device: f.ids[slot], Err: ErrNotRegistered, More: n - 1}
		}
	}
	f.unregister(r, s.s.slots)
	return nil
}

// UnregisterAll takes p off every device that has it and returns those.
func (f *Fleet) UnregisterAll(p *program.Program) (removed Set) {
	if p == nil {
		return Set{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.programs[p.ID()]
	if r == nil {
		return Set{}
	}
	on := slices.Clone(r.on)
	f.unregister(r, on)
	return f.setOfSlots(on, on.count())
}

func (f *Fleet) unregister(r *registration, slots bitset) {
	r.on.drop(slots)
	if r.on.empty() {
		delete(f.programs, r.program.ID())
	}
	f.change(slots, r.program, nil)
}

// Replace swaps a program for another one, usually the same program after Resize,
// on all devices that have it, at once: readers see the old or the new layout. It
// returns those devices. A new program without any CB is then nowhere.
//
// Errors: ErrNoProgram; ErrNotRegistered if old is nowhere; *ConflictError if the
// new program has an id of its own that is registered; *SpecError, *GridError,
// *OverflowError as Register.
func (f *Fleet) Replace(old, new *program.Program) (Set, error) {
	if old == nil || new == nil {
		return Set{}, ErrNoProgram
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.programs[old.ID()]
	if r == nil {
		return Set{}, &ProgramError{Program: old.ID(), Err: ErrNotRegistered}
	}
	if other := f.programs[new.ID()]; other != nil && other != r {
		return Set{}, &ConflictError{Registered: other.program.String(), Given: new.String()}
	}
	if err := f.fits(new, r.on, r.on, r.program); err != nil {
		return Set{}, err
	}
	was := r.program
	on := slices.Clone(r.on)
	delete(f.programs, was.ID())
	if new.Len() == 0 {
		f.change(on, was, nil)
		return f.setOfSlots(on, on.count()), nil
	}
	r.program = new
	f.programs[new.ID()] = r
	f.change(on, was, new)
	return f.setOfSlots(on, on.count()), nil
}

// Where returns the devices that have the program with the given id.
func (f *Fleet) Where(id program.ID) Set {
	f.mu.RLock()
	defer f.mu.RUnlock()
	r := f.programs[id]
	if r == nil {
		return Set{}
	}
	return f.setOfSlots(slices.Clone(r.on), r.on.count())
}

// Program returns the registered program with the given id, if there is one.
func (f *Fleet) Program(id program.ID) (*program.Program, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	r := f.programs[id]
	if r == nil {
		return nil, false
	}
	return r.program, true
}

// Programs returns the programs registered now on any device, by id. What is left
// here at the end of a run was not unregistered.
func (f *Fleet) Programs() iter.Seq[*program.Program] {
	return func(yield func(*program.Program) bool) {
		f.mu.RLock()
		ids := slices.Sorted(maps.Keys(f.programs))
		programs := make([]*program.Program, len(ids))
		for i, id := range ids {
			programs[i] = f.programs[id].program
		}
		f.mu.RUnlock()
		for _, p := range programs {
			if !yield(p) {
				return
			}
		}
	}
}

// fits refuses what cannot be counted: p on devices of another Spec or outside the
// grid, and sums that would overflow where p is fresh and takes the place of old.
func (f *Fleet) fits(p *program.Program, all, fresh bitset, old *program.Program) error {
	charge, less := chargeOf(p), uint64(0)
	if old != nil {
		less = chargeOf(old)
	}
	perMesh := map[*mesh]uint64{}
	for slot := range all.all() {
		c := f.slots[slot]
		if c.spec != p.Spec() {
			return &SpecError{Program: p.ID(), Device: c.id, Built: p.Spec(), Has: c.spec}
		}
		if core, outside := outsideGrid(p); outside {
			return &GridError{Program: p.ID(), Device: c.id, Core: core, Spec: c.spec}
		}
		if !fresh.has(slot) {
			continue
		}
		if c.charge-less > l1.MaxAddr-charge {
			return &OverflowError{Program: p.ID(), Device: c.id}
		}
		if m := c.mesh; m != nil {
			if _, seen := perMesh[m]; !seen {
				perMesh[m] = m.charge
			}
			if perMesh[m] -= less; perMesh[m] > l1.MaxAddr-charge {
				return &OverflowError{Program: p.ID(), Device: m.first}
			}
			perMesh[m] += charge
		}
	}
	return nil
}

// outsideGrid returns a core of p outside the grid that it was built for.
func outsideGrid(p *program.Program) (l1.Core, bool) {
	for finding := range p.Findings() {
		if finding.Code == program.OutsideGrid {
			for c := range finding.Cores.All() {
				return c, true
			}
		}
	}
	return l1.Core{}, false
}

// chargeOf bounds what p adds to any total of a device. Sums of charges are kept
// below 2^63, so that no total can overflow.
func chargeOf(p *program.Program) uint64 {
	return max(p.Occupied(program.CircularBuffer).Logical(), p.Reserved(program.CircularBuffer).Bytes())
}

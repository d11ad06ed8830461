package shm

import (
	"time"
)

// A Claim holds the arguments of Attach. All but Name must be given.
type Claim struct {
	Version uint32 // Version3 or Version4
	ASIC    uint64 // of the chip
	Device  uint32 // its logical id
	PID     int32  // of this process
	Name    string
	Alive   func(pid int32) bool
	Now     func() time.Time
	Wait    func() // waits for a millisecond, for another process that sets the region up
}

// patience is how often a process waits for another one that sets a region up.
const patience = 1000

// Attach takes a slot of a region, which it sets up or takes over where no live process holds it.
// The error is a *HeldError where one does, a *SizeError, a *VersionError for terms of a version
// that is not written, ErrNotReady where another process goes on setting it up, ErrFull or
// ErrFault. A refused region has lost the figures of dead processes, and is unchanged otherwise.
func Attach(r *Region, t Claim) (*Publisher, error) {
	if t.Version != Version3 && t.Version != Version4 {
		return nil, &VersionError{t.Version}
	}
	if len(r.b) < Size {
		return nil, &SizeError{Size: int64(len(r.b)), Want: Size}
	}
	p := &Publisher{r: r, t: t}
	var refused error
	if err := r.guard(func() { refused = p.attach() }); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	return p, nil
}

func (p *Publisher) attach() error {
	r := p.r
	if err := p.held(Processes); err != nil {
		return err
	}
	if r.u32(atVersion).Load() != Version4 || r.state() != stateReady || p.t.Version != Version4 {
		if err := p.takeOver(); err != nil {
			return err
		}
	}
	p.reap()
	p.idle()
	if err := p.claim(); err != nil {
		return err
	}
	// Of two that come at once the one in front stays.
	if err := p.held(p.slot); err != nil {
		p.release(p.slot, p.t.PID)
		p.idle()
		return err
	}
	r.u64(atSerial).Store(0)
	r.u64(atASIC).Store(p.t.ASIC)
	r.u32(atDevice).Store(p.t.Device)
	return nil
}

// held names a live process, other than this one, in the first slots.
func (p *Publisher) held(slots int) error {
	if v := p.r.u32(atVersion).Load(); v < Version2 || v > Version4 {
		return nil // its layout in place of slots is unknown
	}
	for i := range slots {
		if pid := p.r.pid(i).Load(); pid > 0 && pid != p.t.PID && p.t.Alive(pid) {
			return &HeldError{PID: pid, Name: p.r.process(i).Name}
		}
	}
	return nil
}

// reclaimable reports whether no live process has the region.
func (p *Publisher) reclaimable() bool {
	switch v := p.r.u32(atVersion).Load(); v {
	case 0:
		return true
	case Version2, Version3, Version4:
		return p.held(Processes) == nil
	}
	return p.r.u32(atReferences).Load() == 0
}

// takeOver sets up a region that is not as it should be, or waits until another process has
// done so.
func (p *Publisher) takeOver() error {
	state := p.r.u32(atState)
	for range patience {
		if !p.reclaimable() {
			if err := p.held(Processes); err != nil {
				return err
			}
			return &VersionError{p.r.u32(atVersion).Load()}
		}
		now := state.Load()
		if now == stateProgress {
			p.t.Wait()
			continue
		}
		if now == stateReady && p.t.Version == Version4 && p.r.u32(atVersion).Load() == Version4 {
			return nil // somebody else has done it
		}
		if state.CompareAndSwap(now, stateProgress) {
			p.setUp()
			return nil
		}
	}
	// The process that began has died meanwhile.
	if p.reclaimable() && state.CompareAndSwap(stateProgress, stateNone) && state.CompareAndSwap(stateNone, stateProgress) {
		p.setUp()
		return nil
	}
	return ErrNotReady
}

// setUp writes an empty region. This process alone does so.
func (p *Publisher) setUp() {
	r := p.r
	for at := 0; at < Size; at += 8 {
		if at != atState {
			r.u64(at).Store(0)
		}
	}
	for i := range Chips {
		r.u32(atChips + chipSize*i).Store(NoChip)
	}
	r.u32(atChips).Store(p.t.Device)
	r.u64(atASIC).Store(p.t.ASIC)
	r.u32(atDevice).Store(p.t.Device)
	r.u32(atState + 4).Store(0)
	r.u32(atVersion).Store(p.t.Version)
	if p.t.Version == Version4 {
		r.u32(atState).Store(stateReady)
	} else {
		r.u32(atState).Store(stateNone)
	}
}

// reap releases the figures of dead processes.
func (p *Publisher) reap() {
	for i := range Processes {
		if pid := p.r.pid(i).Load(); pid > 0 && pid != p.t.PID && !p.t.Alive(pid) {
			p.release(i, pid)
		}
	}
}

// idle clears all sums of a region without attached processes.
func (p *Publisher) idle() {
	r := p.r
	if r.u32(atReferences).Load() != 0 {
		return
	}
	r.setUsage(atTotals, Counters{})
	for i := range Chips {
		if at := atChips + chipSize*i; r.u32(at).Load() != NoChip {
			r.setUsage(at+chipUsage, Counters{})
		}
	}
}

// claim takes the slot of this process, or the first free one.
func (p *Publisher) claim() error {
	for i := range Processes {
		if p.r.pid(i).Load() == p.t.PID {
			p.slot = i
			return nil
		}
	}
	for i := range Processes {
		if !p.r.pid(i).CompareAndSwap(0, p.t.PID) {
			continue
		}
		p.slot = i
		p.r.setName(i, p.t.Name)
		p.r.u32(atReferences).Add(1)
		p.r.u32(atActive).Add(1)
		return nil
	}
	return ErrFull
}

// release gives a slot back, if a process still owns it. Of several callers at the same time, one
// does so.
func (p *Publisher) release(slot int, owner int32) {
	r := p.r
	if !r.pid(slot).CompareAndSwap(owner, -1) {
		return
	}
	at := atProcesses + processSize*slot
	for i := range counters {
		lower(r.u64(atTotals+8*i), r.u64(at+processUsage+8*i).Swap(0))
	}
	r.u64(at + processUpdated).Store(0)
	r.setName(slot, "")
	r.pid(slot).Store(0)
	lower(r.u32(atReferences), 1)
	lower(r.u32(atActive), 1)
}

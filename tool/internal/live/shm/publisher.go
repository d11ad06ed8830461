package shm

// A Publisher holds a slot of a region. It must be made by Attach.
type Publisher struct {
	r    *Region
	t    Claim
	slot int
}

// Put publishes the figures of this process on the device. The error is ErrLost where the slot is
// not its own any more, or ErrFault.
func (p *Publisher) Put(u Counters) error {
	lost := false
	if err := p.r.guard(func() { lost = !p.put(u) }); err != nil {
		return err
	}
	switch {
	case p.r.cut(Size):
		return ErrFault
	case lost:
		return ErrLost
	}
	return nil
}

func (p *Publisher) put(u Counters) bool {
	r := p.r
	if r.pid(p.slot).Load() != p.t.PID {
		return false
	}
	at := atProcesses + processSize*p.slot
	for i, n := range u.words() {
		total := r.u64(atTotals + 8*i)
		if was := r.u64(at + processUsage + 8*i).Swap(*n); *n > was {
			total.Add(*n - was)
		} else {
			lower(total, was-*n)
		}
	}
	if p.t.Version == Version3 {
		r.u64(atTotals + 8*(counters-1)).Store(u.CB) // as its writers do: the last one's
	}
	r.setUsage(atChips+chipUsage, r.usage(atTotals))
	now := uint64(max(p.t.Now().UnixNano(), 0))
	r.u64(at + processUpdated).Store(now)
	r.u64(atUpdated).Store(now)
	return true
}

// Close gives the slot back and takes its figures out of the sums. Slots of dead processes go,
// too. The region stays open. The error is ErrFault.
func (p *Publisher) Close() error {
	return p.r.guard(func() {
		p.release(p.slot, p.t.PID)
		p.reap()
		p.idle()
	})
}

func (r *Region) setUsage(at int, u Counters) {
	for i, n := range u.words() {
		r.u64(at + 8*i).Store(*n)
	}
}

// lower subtracts, down to 0.
func lower[T uint32 | uint64](of word[T], by T) {
	for {
		was := of.Load()
		if of.CompareAndSwap(was, was-min(by, was)) {
			return
		}
	}
}

// A word is an atomic.Uint32 or Uint64.
type word[T any] interface {
	Load() T
	CompareAndSwap(old, new T) bool
}

package device

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// Allocate counts a buffer on the devices of s, on all of them or none. The range of
// an L1 buffer is recorded wherever it lies: beyond L1, or on circular buffers. Check
// judges programs by it.
//
// Errors, the first that applies: ErrBuffer with the field that makes no sense (a
// Kind that programs bring, an illegal range, Parts beside a Range, a place in L1 for
// a kind outside L1, bytes of an unsized buffer, a Mode or Hidden cores that
// Buffer.CheckMode refuses); ErrForeignSet; ErrNoDevice for a removed device;
// ErrAllocated if a device has a buffer with this id; ErrBuffer with the field Range,
// Parts or Hidden and a core outside the grid; ErrOverflow if a total of a device or
// mesh could exceed 2^63-1.
//
// Cost: O(log n) for each group of cores and each distinct set of live buffers among
// the devices; where devices part O(classes of cores). A device that comes to a known
// set of buffers on another way has them compared, in O(n log n).
func (f *Fleet) Allocate(b fit.Buffer, s Set) (err error) {
	defer named("Allocate", &err)
	if err := checkBuffer(&b); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.takes(&b, s); err != nil || s.s == nil {
		return err
	}
	a, ok := f.heaps.Allocation(b.Plain())
	if !ok {
		return noSense(b.ID, fieldOf(&b), errors.New("sum of their bytes is above 2^63-1"))
	}
	if err := f.roomFor(a, s.s.slots); err != nil {
		return err
	}
	if err := f.faults.step(); err != nil {
		return err
	}
	f.reheap(s.s.slots, a, nil)
	f.emit(Notice{Kind: NoticeAllocated, Set: s, Buffer: a.Buffer})
	return nil
}

// Free takes a buffer off the devices of s and returns it, with the size that it
// frees. It refuses if one of the devices does not have the buffer, so that no total
// ever goes below zero. If the devices have different buffers with this id, it
// returns the one of the lowest device.
//
// Errors, the first that applies: ErrForeignSet; ErrNoDevice for a removed device;
// ErrNotAllocated.
func (f *Fleet) Free(id fit.BufferID, s Set) (_ fit.Buffer, err error) {
	defer named("Free", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return fit.Buffer{}, err
	}
	var missing *Error
	several := false
	var lowest ID              // of the devices
	var first *heap.Allocation // its buffer
	for c := range f.shares(s.s.slots) {
		a := c.heap().Find(id)
		if a == nil {
			missing = missing.also(ofBuffer(id, c.id(), ErrNotAllocated), c.n)
		} else if several = several || first != nil && a != first; first == nil || c.id() < lowest {
			lowest, first = c.id(), a
		}
		if err := f.faults.step(); err != nil {
			return fit.Buffer{}, err
		}
	}
	if missing != nil {
		return fit.Buffer{}, missing
	}
	if several {
		f.freeEach(id, s.s.slots)
	} else {
		f.reheap(s.s.slots, nil, first)
	}
	f.emit(Notice{Kind: NoticeFreed, Set: s, Buffer: first.Buffer})
	return first.Copy(), nil
}

// freeEach takes the buffer with an id off devices that have different ones.
func (f *Fleet) freeEach(id fit.BufferID, slots bitset.Bits) {
	var all []*heap.Allocation
	has := map[*heap.Allocation]bitset.Bits{}
	for c := range f.shares(slots) {
		a := c.heap().Find(id)
		if _, ok := has[a]; !ok {
			all = append(all, a)
		}
		has[a] = has[a].Add(bitset.Span(c.slot, c.n))
	}
	for _, a := range all {
		f.reheap(has[a], nil, a)
	}
}

// Holding returns the devices that have a buffer with the given id.
// Cost: O(devices) if one has it.
func (f *Fleet) Holding(id fit.BufferID) Set {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n := f.heaps.Devices(id)
	if n == 0 {
		return Set{}
	}
	if n == f.live.Count() && f.all.s != nil {
		return f.all
	}
	var slots bitset.Bits
	var last *heap.Heap
	has := false
	left := n
	for c := range f.shares(f.live) {
		if h := c.heap(); h != last {
			last, has = h, h.Find(id) != nil
		}
		if has {
			slots = slots.Add(bitset.Span(c.slot, c.n))
			if left -= c.n; left == 0 {
				break
			}
		}
	}
	return f.setOf(slots, n)
}

// Buffers returns the buffers that were live on the device when it was called, by id.
func (d Device) Buffers() iter.Seq[fit.Buffer] {
	var out []fit.Buffer
	d.read(func(c *cohort) {
		all := c.heap().Sorted()
		out = make([]fit.Buffer, len(all))
		for i, a := range all {
			out[i] = a.Copy()
		}
	})
	return slices.Values(out)
}

// Buffer returns the live buffer with the given id, if there is one.
func (d Device) Buffer(id fit.BufferID) (b fit.Buffer, ok bool) {
	d.read(func(c *cohort) {
		if a := c.heap().Find(id); a != nil {
			b, ok = a.Copy(), true
		}
	})
	return b, ok
}

// checkBuffer refuses a Buffer that makes no sense and completes its Size.
func checkBuffer(b *fit.Buffer) error {
	bad := func(field string, err error) error { return noSense(b.ID, field, err) }
	if b.Kind < fit.KindL1 || b.Kind >= numKinds {
		return bad("Kind", fmt.Errorf("%v is not allocated", b.Kind))
	}
	if field, err := b.CheckMode(); err != nil {
		return bad(field, err)
	}
	field := fieldOf(b)
	if field == "Range" && len(b.Parts) > 0 {
		return bad("Parts", errors.New("the buffer has Cores and Range already"))
	}
	var sum wide
	for p := range b.All() {
		if !b.Kind.InL1() {
			return bad(field, fmt.Errorf("a %v does not lie in L1", b.Kind))
		}
		if err := p.Range.Check(); err != nil {
			return bad(field, err)
		}
		if b.Unsized && !p.Range.IsEmpty() {
			return bad(field, fmt.Errorf("%v has bytes, and the buffer is unsized", p.Range))
		}
		sum.add(p.Range.Len(), p.Cores.Len())
	}
	if b.Size > l1.MaxAddr {
		return bad("Size", fmt.Errorf("%d bytes are above 2^63-1", b.Size))
	}
	if sum.beyond() {
		return bad(field, errors.New("sum of their bytes is above 2^63-1"))
	}
	if b.Size == 0 {
		b.Size = sum.lo
	}
	return nil
}

// fieldOf names the field that says where a buffer lies.
func fieldOf(b *fit.Buffer) string {
	if !b.Cores.IsEmpty() || b.Range != (l1.Range{}) {
		return "Range"
	}
	return "Parts"
}

// absent refuses a buffer whose id is in use on a device of s.
func (f *Fleet) absent(id fit.BufferID, s Set) error {
	var e *Error
	if !f.heaps.Has(id) {
		return f.faults.visit(s.s.slots)
	}
	for c := range f.shares(s.s.slots) {
		if c.heap().Find(id) != nil {
			e = e.also(ofBuffer(id, c.id(), ErrAllocated), c.n)
		}
		if err := f.faults.step(); err != nil {
			return err
		}
	}
	if e != nil {
		return e
	}
	return nil
}

// takes refuses a buffer if a device of s is removed, has its id, or lacks its cores.
func (f *Fleet) takes(b *fit.Buffer, s Set) error {
	if err := f.check(s); err != nil || s.s == nil {
		return err
	}
	if err := f.absent(b.ID, s); err != nil {
		return err
	}
	var last *l1.Spec
	for c := range f.shares(s.s.slots) {
		if c.spec == last {
			continue
		}
		last = c.spec
		if err := beyondGrid(b, c.id(), last); err != nil || s.s.spec != nil {
			return err // the others are the same
		}
	}
	return nil
}

// beyondGrid refuses parts outside the grid of a device. A service core may lie there.
func beyondGrid(b *fit.Buffer, on ID, spec *l1.Spec) error {
	if b.Kind == fit.KindService || spec.Cols == 0 {
		return nil
	}
	grid := spec.Grid().Cores()
	field, out := "Hidden", b.Hidden.Minus(grid)
	for p := range b.All() {
		if beyond := p.Cores.Minus(grid); !beyond.IsEmpty() {
			field, out = fieldOf(b), beyond
			break
		}
	}
	if core, ok := out.First(); ok {
		return noSense(b.ID, field, fmt.Errorf("core %v lies outside the grid of %dx%d of device %d", core, spec.Cols, spec.Rows, on))
	}
	return nil
}

// roomFor refuses a buffer with which a total of a device or mesh could exceed
// 2^63-1.
func (f *Fleet) roomFor(a *heap.Allocation, slots bitset.Bits) error {
	at, err := f.sums(slots, func(m *mesh) uint64 { return m.load }, func(c share) (sum, off, on uint64) {
		return c.load(), 0, a.Charge
	})
	if errors.Is(err, ErrOverflow) {
		return ofBuffer(a.ID, at, err)
	}
	return err
}

// load bounds every sum over the resident bytes of a device: dispatched and allocated.
// It stays below 2^63.
func (c *cohort) load() uint64 { return c.left.Charged() + c.heap().Charged() }

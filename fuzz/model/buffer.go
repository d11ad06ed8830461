package model

import (
	"maps"
	"math/big"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Buffer is something other than a circular buffer that takes memory of a device.
type Buffer struct {
	ID      uint64
	Kind    Kind
	Size    uint64          // its share in totals; 0 = the bytes of its parts
	Parts   []Part          // where it lies in L1
	Mode    Mode            // how an L1 buffer got its address
	Hidden  l1.CoreRangeSet // cores on which the address of a buffer that was allocated per core is not known
	Backing bool            // backs a mesh buffer: takes nothing that others do not take already
	Unsized bool            // its parts are empty and say where it starts
	Name    string
}

// A Part is one range of bytes on some cores.
type Part struct {
	Cores l1.CoreRangeSet
	Range l1.Range
}

// A Mode is the way in which an L1 buffer got its address.
type Mode string

// The modes. Parts at several addresses are per core without saying so.
const (
	Lockstep      Mode = ""
	PerCore       Mode = "per_core"
	RangeLockstep Mode = "range_lockstep"
)

// An allocation is a live buffer, painted.
type allocation struct {
	Buffer
	bytes canvas // none of backing buffers
}

// wrong returns why a buffer makes no sense, wherever it is to be.
func (b Buffer) wrong() error {
	if !b.Kind.allocated() || len(b.Parts) > 0 && !b.Kind.InL1() || b.Size > l1.MaxAddr {
		return ErrBuffer
	}
	for _, p := range b.Parts {
		if p.Range.Start > p.Range.End || p.Range.End > l1.MaxAddr || b.Unsized && !p.Range.IsEmpty() {
			return ErrBuffer
		}
	}
	if tooMuch(b.taken()) || !b.modeMakesSense() {
		return ErrBuffer
	}
	return nil
}

// modeMakesSense reports whether the mode is legal: only tensors may leave lockstep, range lockstep has
// one address, and no part lies on hidden cores.
func (b Buffer) modeMakesSense() bool {
	hidden := covered(b.Hidden)
	for _, p := range b.Parts {
		for c := range covered(p.Cores) {
			if hidden[c] {
				return false
			}
		}
	}
	switch b.Mode {
	case Lockstep:
		return len(hidden) == 0
	case PerCore:
		return b.Kind == L1 || b.Kind == GlobalCB
	case RangeLockstep:
		return (b.Kind == L1 || b.Kind == GlobalCB) && len(hidden) == 0 && len(b.addresses()) <= 1
	}
	return false
}

// OperandOf reports whether a global CB of a program lies in the buffer. Advice about the program cannot free it.
func (b Buffer) OperandOf(p *program.Program) bool {
	for _, cb := range p.CBs() {
		for _, part := range b.Parts {
			for c := range covered(part.Cores) {
				if cb.Global && cb.Fixed && part.Range.Start <= cb.Address && cb.Address < part.Range.End && covered(cb.Cores)[c] {
					return true
				}
			}
		}
	}
	return false
}

// addresses are where the parts with bytes start.
func (b Buffer) addresses() map[uint64]bool {
	out := map[uint64]bool{}
	for _, p := range b.Parts {
		if (b.Unsized || p.Range.Start < p.Range.End) && p.Cores.Len() > 0 {
			out[p.Range.Start] = true
		}
	}
	return out
}

// starts are the lowest addresses on each core.
func (a *allocation) starts() map[l1.Core]uint64 {
	out := map[l1.Core]uint64{}
	for c, bytes := range a.bytes {
		out[c] = bytes.start()
	}
	for _, p := range a.Parts {
		for c := range covered(p.Cores) {
			if low, ok := out[c]; a.Unsized && !a.Backing && (!ok || p.Range.Start < low) {
				out[c] = p.Range.Start
			}
		}
	}
	return out
}

// judgedAs is the mode that counts.
func (b Buffer) judgedAs() Mode {
	if len(b.addresses()) > 1 {
		return PerCore
	}
	return b.Mode
}

// everywhere reports whether the bytes of the buffer on any core are taken on all cores, for one more that is
// allocated in a mode: one list of free addresses serves all cores in lockstep. In the mode per core each core has its
// own list. Service cores share none.
func (b Buffer) everywhere(next Mode) bool {
	own := b.Kind == Kernel || b.Kind == Reserved || b.judgedAs() == PerCore
	return b.Kind != Service && (next == Lockstep || !own)
}

// Takes calls yield with the bytes that the buffer keeps from one more that is allocated in a mode on a core.
func (b Buffer) Takes(next Mode, core l1.Core, yield func(l1.Range)) {
	here := func(cores l1.CoreRangeSet) bool {
		return cores.Len() > 0 && (b.everywhere(next) || cores.Cores().Has(core))
	}
	if b.Backing {
		return
	}
	if here(b.Hidden) {
		yield(l1.Range{End: l1.MaxAddr}) // it may lie anywhere
	}
	for _, p := range b.Parts {
		if p.Range.IsEmpty() && !b.Unsized || !here(p.Cores) {
			continue
		}
		if b.Unsized {
			p.Range.End = l1.MaxAddr // it may end anywhere
		}
		yield(p.Range)
	}
}

// taken returns the bytes of the parts, on all their cores.
func (b Buffer) taken() *big.Int {
	sum := new(big.Int)
	for _, p := range b.Parts {
		if p.Range.Start < p.Range.End {
			sum.Add(sum, times(p.Range.End-p.Range.Start, len(covered(p.Cores))))
		}
	}
	return sum
}

// charge bounds the bytes that a buffer adds to sums.
func (b Buffer) charge() *big.Int {
	size := new(big.Int).SetUint64(b.Size)
	if taken := b.taken(); taken.Cmp(size) > 0 {
		return taken
	}
	return size
}

func times(bytes uint64, n int) *big.Int {
	out := new(big.Int).SetUint64(bytes)
	return out.Mul(out, big.NewInt(int64(n)))
}

func tooMuch(sum *big.Int) bool { return sum.Cmp(new(big.Int).SetUint64(l1.MaxAddr)) > 0 }

// outside reports whether a part names a core that the grid does not have. Service
// cores may lie there.
func (b Buffer) outside(spec l1.Spec) bool {
	if b.Kind == Service || spec.Cols == 0 {
		return false
	}
	named := covered(b.Hidden)
	for _, p := range b.Parts {
		maps.Copy(named, covered(p.Cores))
	}
	for c := range named {
		if int(c.X) >= spec.Cols || int(c.Y) >= spec.Rows {
			return true
		}
	}
	return false
}

// takers returns the devices with some ids, and all complaints about a buffer there except sums.
func (f *Fleet) takers(b Buffer, ids []uint64) (devices []*device, wrong complaints) {
	devices, err := f.find(ids)
	wrong = complaints{b.wrong(), err}
	for _, d := range devices {
		wrong.when(d.live[b.ID] != nil, ErrAllocated)
		wrong.when(b.outside(d.spec), ErrBuffer)
	}
	return devices, wrong
}

// Allocate counts a buffer on devices. None of them may have a buffer with its id.
func (f *Fleet) Allocate(b Buffer, ids []uint64) error {
	devices, wrong := f.takers(b, ids)
	wrong.when(f.Overloads(b, ids), ErrOverflow)
	if err := wrong.err(); err != nil {
		return err
	}
	a := b.paint()
	for _, d := range devices {
		d.live[b.ID] = a
	}
	f.settle()
	return nil
}

// paint puts a buffer on its cores.
func (b Buffer) paint() *allocation {
	b.Parts = slices.Clone(b.Parts)
	b.Parts = slices.DeleteFunc(b.Parts, func(p Part) bool { // which say nothing
		return len(covered(p.Cores)) == 0 && p.Range == (l1.Range{})
	})
	for i := range b.Parts {
		b.Parts[i].Cores = b.Parts[i].Cores.Cores().Ranges()
	}
	b.Hidden = b.Hidden.Cores().Ranges()
	if b.Size == 0 {
		b.Size = b.taken().Uint64()
	}
	a := &allocation{Buffer: b, bytes: canvas{}}
	for _, p := range b.Parts {
		if b.Backing || p.Range.IsEmpty() {
			continue
		}
		for c := range covered(p.Cores) {
			a.bytes.paint(c, p.Range)
		}
	}
	return a
}

// Overloads reports whether a buffer on the devices could raise the resident bytes of one of them
// or of a mesh above 2^63-1. Only refused buffers may be too large to be painted.
func (f *Fleet) Overloads(b Buffer, ids []uint64) bool {
	devices, _ := f.find(ids)
	return f.overloaded(devices, func(d *device) *big.Int { return new(big.Int).Add(d.load(d.left), b.charge()) })
}

// load bounds every sum over the resident bytes of a device, with the given residues of its
// dispatches.
func (d *device) load(left map[place]residue) *big.Int {
	sum := new(big.Int)
	for _, l := range left {
		sum.Add(sum, new(big.Int).SetUint64(l.bytes.count()))
	}
	for _, a := range d.live {
		sum.Add(sum, a.charge())
	}
	return sum
}

// overloaded reports whether devices that had new loads, or meshes of them, would have
// more than 2^63-1.
func (f *Fleet) overloaded(devices []*device, load func(*device) *big.Int) bool {
	for _, d := range devices {
		if tooMuch(load(d)) {
			return true
		}
	}
	for _, m := range f.meshes {
		sum, touched := new(big.Int), false
		for _, d := range m.members {
			if slices.Contains(devices, d) {
				touched = true
				sum.Add(sum, load(d))
				continue
			}
			sum.Add(sum, d.load(d.left))
		}
		if touched && tooMuch(sum) {
			return true
		}
	}
	return false
}

// Free takes the buffer with an id off devices, and returns the buffer of the first. All of them
// must have one.
func (f *Fleet) Free(id uint64, ids []uint64) (Buffer, error) {
	devices, err := f.find(ids)
	wrong := complaints{err}
	for _, of := range ids {
		d := f.devices[of]
		wrong.when(d != nil && d.live[id] == nil, ErrNotAllocated)
	}
	if err := wrong.err(); err != nil {
		return Buffer{}, err
	}
	var first Buffer
	for i, d := range devices {
		if i == 0 {
			first = d.live[id].Buffer
			first.Parts = slices.Clone(first.Parts)
		}
		delete(d.live, id)
	}
	f.settle()
	return first, nil
}

// Buffers returns the live buffers of a device, by id: with their sizes, and the cores of
// each part cut into rectangles as CoreSet.Ranges does.
func (f *Fleet) Buffers(id uint64) []Buffer {
	var out []Buffer
	if d := f.devices[id]; d != nil {
		for _, id := range slices.Sorted(maps.Keys(d.live)) {
			b := d.live[id].Buffer
			b.Parts = slices.Clone(b.Parts)
			out = append(out, b)
		}
	}
	return out
}

// sameBuffers reports whether the same is allocated on two devices.
func (d *device) sameBuffers(o *device) bool {
	return maps.EqualFunc(d.live, o.live, func(a, b *allocation) bool {
		return a == b || a.Kind == b.Kind && a.Size == b.Size && a.Backing == b.Backing && a.Unsized == b.Unsized && a.Name == b.Name && a.Mode == b.Mode &&
			maps.Equal(covered(a.Hidden), covered(b.Hidden)) &&
			slices.EqualFunc(a.Parts, b.Parts, func(p, q Part) bool {
				return p.Range == q.Range && maps.Equal(covered(p.Cores), covered(q.Cores))
			})
	})
}

// sums counts the buffers of a device.
func (d *device) sums() (t BufferTotals) {
	for _, a := range d.live {
		if a.Backing {
			t.Backings++
			t.Backing += a.Size
			continue
		}
		t.Count++
		switch a.Kind {
		case L1Small:
			t.L1Small += a.Size
		case DRAM:
			t.DRAM += a.Size
		case Trace:
			t.Trace += a.Size
		case System:
			t.System += a.Size
		case Kernel, Reserved:
			t.Kernels += a.Size
		default:
			t.L1 += a.Size
		}
	}
	return t
}

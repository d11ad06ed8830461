package fuzz_test

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Long lives beside a model of one word for each core: a bit for each of 64 bytes. It says less
// than the oracle, and a thousand times as quickly.

const (
	wordDevices  = 6 // a mesh of four and a mesh of two
	wordPrograms = 10
	wordBuffers  = 6
	wordLife     = 2_000 // calls
)

// A footprint holds the bytes of a program, in one of its two layouts.
type footprint struct {
	program *program.Program
	takes   masks
}

// A residue is who wrote a core last, and what that left.
type residue struct{ id, takes uint64 }

// A wordDevice is the model of a device.
type wordDevice struct {
	left [3]residue
	now  device.Totals // Peak as well
	peak [3]uint64     // of cores
}

// A wordWorld is a fleet and its model.
type wordWorld struct {
	r        *rand.Rand
	fleet    *device.Fleet
	devices  []device.Device
	meshes   [2]device.Mesh
	sets     [1 << wordDevices]device.Set
	programs [wordPrograms][2]footprint
	layout   [wordPrograms]int
	buffers  [wordBuffers]fit.Buffer
	bytes    [wordBuffers]masks

	on     [wordPrograms]uint // devices that have it
	lives  [wordBuffers]uint
	of     [wordDevices]wordDevice
	summed [2]uint64 // high-water marks of the meshes: registered
}

func popcount(m masks) (n uint64) {
	for _, w := range m {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}

// span draws a range and its bits.
func (w *wordWorld) span(from int) (l1.Range, uint64) {
	start := from + w.r.IntN(24)
	size := 1 + w.r.IntN(8)
	if w.r.IntN(3) == 0 {
		start = from
	}
	return l1.Range{Start: uint64(start), End: uint64(start + size)}, (1<<size - 1) << start
}

func newWordWorld(number uint64) (*wordWorld, error) {
	w := &wordWorld{r: rand.New(rand.NewPCG(number, 0)), fleet: device.NewFleet()}
	spec := l1.Spec{Name: "words", Cols: 3, Rows: 1, L1Size: 64}
	for i, cols := range []int{4, 2} {
		m, err := w.fleet.AddMesh(device.ID(4*i), 1, cols, spec)
		if err != nil {
			return nil, err
		}
		w.meshes[i] = m
		for d := range m.All() {
			w.devices = append(w.devices, d)
		}
	}
	for mask := range w.sets {
		var ids []device.ID
		for d := range w.devices {
			if mask>>d&1 == 1 {
				ids = append(ids, device.ID(d))
			}
		}
		s, err := w.fleet.Of(ids...)
		if err != nil {
			return nil, err
		}
		w.sets[mask] = s
	}
	for id := range w.programs {
		for layout := range 2 {
			if err := w.build(id, layout, spec); err != nil {
				return nil, err
			}
		}
	}
	for id := range w.buffers {
		x0 := w.r.IntN(3)
		x1 := x0 + w.r.IntN(3-x0)
		r, word := w.span(16 + w.r.IntN(17))
		w.buffers[id] = fit.Buffer{
			ID: fit.BufferID(id), Kind: fit.KindL1, Size: 1 + w.r.Uint64N(100),
			Parts: []fit.Part{{Cores: l1.Rect(uint8(x0), 0, uint8(x1), 0).Cores(), Range: r}},
		}
		for x := x0; x <= x1; x++ {
			w.bytes[id][x] = word
		}
	}
	return w, nil
}

// build draws a layout of a program: a range or two, each on cores in a row.
func (w *wordWorld) build(id, layout int, spec l1.Spec) error {
	f := &w.programs[id][layout]
	b := program.NewBuilder(program.ID(id))
	for x := 0; x < 3; x++ {
		last := x + w.r.IntN(3-x)
		r, word := w.span(0)
		b.Range(l1.Rect(uint8(x), 0, uint8(last), 0), r)
		for ; x < last; x++ {
			f.takes[x] = word
		}
		f.takes[x] = word
		if w.r.IntN(2) == 0 {
			break
		}
	}
	var err error
	f.program, err = b.Build(spec)
	return err
}

// here returns the footprint of a program in its present layout.
func (w *wordWorld) here(id int) *footprint { return &w.programs[id][w.layout[id]] }

// some draws devices: one, a mesh, any, all.
func (w *wordWorld) some() uint {
	switch w.r.IntN(6) {
	case 0:
		return 1<<wordDevices - 1
	case 1:
		return 0b1111
	case 2:
		return uint(w.r.IntN(1 << wordDevices))
	}
	return 1 << w.r.IntN(wordDevices)
}

// live plays a life and returns the first difference.
func (w *wordWorld) live(note func(op gen.Op, refused bool)) error {
	for call := range wordLife {
		op, refused, err := w.move()
		if err == nil {
			note(op, refused)
			err = w.compare(call)
		}
		if err != nil {
			return fmt.Errorf("call %d, %s: %w", call, op, err)
		}
	}
	return nil
}

// move makes a call, and changes the model as it should change.
func (w *wordWorld) move() (op gen.Op, refused bool, err error) {
	id, b, on := w.r.IntN(wordPrograms), w.r.IntN(wordBuffers), w.some()
	switch n := w.r.IntN(32); {
	case n < 9:
		refused, err = w.register(id, w.r.IntN(8) == 0, on)
		return gen.Register, refused, err
	case n < 15:
		got := w.fleet.Unregister(program.ID(id), w.sets[on])
		refused, err = want(got, device.ErrNotRegistered, on&^w.on[id] != 0)
		if !refused {
			w.on[id] &^= on
		}
		return gen.Unregister, refused, err
	case n < 17:
		got := w.fleet.UnregisterAll(program.ID(id))
		err = w.same(got, w.on[id])
		w.on[id] = 0
		return gen.UnregisterAll, false, err
	case n < 19:
		other := &w.programs[id][1-w.layout[id]]
		got, gotErr := w.fleet.Replace(program.ID(id), other.program)
		if refused, err = want(gotErr, device.ErrNotRegistered, w.on[id] == 0); !refused && err == nil {
			err = w.same(got, w.on[id])
			w.layout[id] = 1 - w.layout[id]
		}
		return gen.Replace, refused, err
	case n < 24:
		got := w.fleet.Dispatch(program.ID(id), w.sets[on])
		if refused, err = want(got, device.ErrNotRegistered, on&^w.on[id] != 0); !refused {
			w.write(id, on)
		}
		return gen.Dispatch, refused, err
	case n < 25:
		return gen.Evict, false, w.evict(id, on)
	case n < 28:
		got := w.fleet.Allocate(w.buffers[b], w.sets[on])
		if refused, err = want(got, device.ErrAllocated, on&w.lives[b] != 0); !refused {
			w.lives[b] |= on
		}
		return gen.Allocate, refused, err
	case n < 31:
		_, got := w.fleet.Free(fit.BufferID(b), w.sets[on])
		if refused, err = want(got, device.ErrNotAllocated, on&^w.lives[b] != 0); !refused {
			w.lives[b] &^= on
		}
		return gen.Free, refused, err
	}
	d := w.r.IntN(wordDevices)
	w.devices[d].ResetPeaks()
	w.of[d].now.Peak, w.of[d].peak = device.Peaks{}, [3]uint64{}
	return gen.ResetPeaks, false, nil
}

// want reports whether a call was refused, and complains if it should not have been, or should
// have.
func want(got, class error, refuse bool) (refused bool, err error) {
	switch {
	case refuse && !errors.Is(got, class):
		return false, fmt.Errorf("got %w, want %w", got, class)
	case !refuse && got != nil:
		return false, fmt.Errorf("got %w", got)
	}
	return refuse, nil
}

// same compares devices that a call returned.
func (w *wordWorld) same(got device.Set, want uint) error {
	mask := uint(0)
	for id := range got.All() {
		mask |= 1 << id
	}
	if mask != want {
		return fmt.Errorf("returned devices %b, want %b", mask, want)
	}
	return nil
}

// register registers a program, perhaps in another layout than it has.
func (w *wordWorld) register(id int, other bool, on uint) (refused bool, err error) {
	layout := w.layout[id]
	if other {
		layout = 1 - layout
	}
	p := w.programs[id][layout].program
	conflict := w.on[id] != 0 && on != 0 && !p.Equal(w.here(id).program)
	added, gotErr := w.fleet.Register(p, w.sets[on])
	switch {
	case conflict && !errors.Is(gotErr, device.ErrConflict):
		return false, fmt.Errorf("got %w, want a conflict", gotErr)
	case conflict:
		return true, nil
	case gotErr != nil:
		return false, gotErr
	}
	if err := w.same(added, on&^w.on[id]); err != nil {
		return false, err
	}
	if w.on[id] == 0 {
		w.layout[id] = layout
	}
	w.on[id] |= on
	return false, nil
}

// write leaves what a program takes on devices.
func (w *wordWorld) write(id int, on uint) {
	for d := range w.of {
		for x, word := range w.here(id).takes {
			if on>>d&1 == 1 && word != 0 {
				w.of[d].left[x] = residue{uint64(id) + 1, word}
			}
		}
	}
}

// evict takes away what a program left.
func (w *wordWorld) evict(id int, on uint) error {
	held := uint(0)
	for d := range w.of {
		for x := range w.of[d].left {
			if l := &w.of[d].left[x]; on>>d&1 == 1 && l.id == uint64(id)+1 {
				*l = residue{}
				held |= 1 << d
			}
		}
	}
	got, err := w.fleet.Evict(program.ID(id), w.sets[on])
	if err != nil {
		return err
	}
	return w.same(got, held)
}

// count counts a device anew, bit by bit, and raises its high-water marks.
func (w *wordWorld) count(d int) (cores [3]device.CoreTotals) {
	var t device.Totals
	var all, left, rest masks
	for id, on := range w.on {
		if on>>d&1 == 0 {
			continue
		}
		t.Programs++
		for x, word := range w.here(id).takes {
			if n := uint64(bits.OnesCount64(word)); n > 0 {
				all[x] |= word
				t.Logical += n
				cores[x].Logical += n
				cores[x].Programs++
			}
		}
	}
	for b, on := range w.lives {
		if on>>d&1 == 1 {
			t.Buffers.Count++
			t.Buffers.L1 += w.buffers[b].Size
			for x, word := range w.bytes[b] {
				rest[x] |= word
			}
		}
	}
	of := &w.of[d]
	for x, l := range of.left {
		left[x] = l.takes
		rest[x] |= l.takes
		n := uint64(bits.OnesCount64(all[x]))
		of.peak[x] = max(of.peak[x], n)
		cores[x].Registered, cores[x].Reserved, cores[x].Peak = n, n, of.peak[x]
		cores[x].Resident = uint64(bits.OnesCount64(l.takes))
		cores[x].Tracked = uint64(bits.OnesCount64(rest[x]))
		t.Core = max(t.Core, n)
		t.TrackedCore = max(t.TrackedCore, uint64(bits.OnesCount64(rest[x])))
	}
	t.Registered, t.Resident, t.Tracked = popcount(all), popcount(left), popcount(rest)
	t.Reserved = t.Registered
	p := of.now.Peak
	t.Peak = device.Peaks{
		Registered: max(p.Registered, t.Registered), Reserved: max(p.Reserved, t.Reserved), Logical: max(p.Logical, t.Logical),
		Core: max(p.Core, t.Core), Resident: max(p.Resident, t.Resident), Tracked: max(p.Tracked, t.Tracked),
		TrackedCore: max(p.TrackedCore, t.TrackedCore), L1: max(p.L1, t.Buffers.L1),
	}
	of.now = t
	return cores
}

// compare holds all devices and meshes against the model, now and then core by core.
func (w *wordWorld) compare(call int) error {
	var sums [2]uint64
	for d, got := range w.devices {
		cores := w.count(d)
		want := w.of[d].now
		if t := got.Totals(); t != want || got.Registered() != want.Registered || got.Resident() != want.Resident {
			return fmt.Errorf("device %d:\n got %+v,\nwant %+v", d, t, want)
		}
		sums[d/4] += want.Registered
		if call%8 != d {
			continue
		}
		for x := range cores {
			if c := got.Core(l1.Core{X: uint8(x)}); c != cores[x] {
				return fmt.Errorf("device %d, core %d: got %+v, want %+v", d, x, c, cores[x])
			}
		}
	}
	for i, m := range w.meshes {
		w.summed[i] = max(w.summed[i], sums[i])
		if t := m.Totals(); m.Registered() != sums[i] || t.Registered != sums[i] || t.Peak.Registered != w.summed[i] {
			return fmt.Errorf("mesh %d: got %+v, want %d, at most %d", i, t, sums[i], w.summed[i])
		}
	}
	if call%500 == 499 {
		return w.fleet.CheckInvariants()
	}
	return nil
}

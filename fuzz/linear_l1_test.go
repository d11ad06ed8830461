package fuzz_test

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// Concurrent histories of dispatches, allocations and enqueues, like the histories of
// registrations: Device.Resident reads atomically and promises an instant for one device; rows of
// a device, sums of the mesh and verdicts promise an instant for the whole fleet.

// resources is the small world with two buffers. On three cores with 64 bytes each what
// something holds is a word.
//
//	         0-0             1-0             2-0
//	B0  [56,64)         [56,64)         [56,64)          above all programs
//	B1  [24,32)                                          in the way of P0 and P2, but not of P1
type resources struct {
	*small
	holds   [3]masks // of programs
	buffers [2]fit.Buffer
	takes   [2]masks
}

func newResources(t *testing.T) *resources {
	w := &resources{small: newSmall(t)}
	word := func(from, to uint) uint64 { return 1<<to - 1<<from }
	w.holds = [3]masks{
		{word(0, 16), word(0, 40), word(16, 40)},
		{0, word(12, 20), 0},
		{word(0, 40), word(0, 40), word(0, 40)},
	}
	top := uint64(0xff) << 56
	w.takes = [2]masks{{top, top, top}, {word(24, 32), 0, 0}}
	w.buffers = [2]fit.Buffer{
		{ID: 0, Kind: fit.KindL1, Parts: []fit.Part{{Cores: l1.MustParseCoreRangeSet("{[0-0 - 2-0]}").Cores(), Range: l1.Range{Start: 56, End: 64}}}},
		{ID: 1, Kind: fit.KindL1, Parts: []fit.Part{{Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}").Cores(), Range: l1.Range{Start: 24, End: 32}}}},
	}
	return w
}

// chipState is the state of one device: programs and buffers as sets, and the last writer of each
// core, 0 for none.
type chipState struct {
	programs, buffers uint8
	left              [3]uint8
}

func (w *resources) resident(c chipState) (sum uint64) {
	for x, p := range c.left {
		if p > 0 {
			sum += uint64(bits.OnesCount64(w.holds[p-1][x]))
		}
	}
	return sum
}

func (w *resources) tracked(c chipState) (sum uint64) {
	for x, p := range c.left {
		var all uint64
		if p > 0 {
			all = w.holds[p-1][x]
		}
		for b, takes := range w.takes {
			if c.buffers>>b&1 == 1 {
				all |= takes[x]
			}
		}
		sum += uint64(bits.OnesCount64(all))
	}
	return sum
}

// blocks reports whether a program does not fit beside the buffers of a device.
func (c chipState) blocks(p int) bool { return p != 1 && c.buffers&2 != 0 }

// run returns the state after an Enqueue or Dispatch.
func (w *resources) run(c chipState, p int) chipState {
	c.programs |= 1 << p
	for x, bytes := range w.holds[p] {
		if bytes != 0 {
			c.left[x] = uint8(p + 1)
		}
	}
	return c
}

// A row is the result of reading several figures.
type row struct{ registered, resident, tracked, count uint64 }

func (w *resources) row(c chipState) row {
	return row{w.rows[c.programs].Registered, w.resident(c), w.tracked(c), uint64(bits.OnesCount8(c.buffers))}
}

func rowOf(t device.Totals) row {
	return row{t.Registered, t.Resident, t.Tracked, uint64(t.Buffers.Count)}
}

// one makes a call on one device. ok is false if it is refused there.
func (w *resources) one(c chipState, i input) (next chipState, ok bool) {
	switch i.op {
	case "enqueue":
		return w.run(c, i.program), !c.blocks(i.program)
	case "dispatch":
		return w.run(c, i.program), c.programs>>i.program&1 == 1
	case "allocate":
		next = c
		next.buffers |= 1 << i.program
		return next, next != c
	case "free":
		next = c
		next.buffers &^= 1 << i.program
		return next, next != c
	case "unregister all":
		c.programs &^= 1 << i.program
	}
	return c, true
}

type rowOutput struct {
	output
	row row
}

// whole is the model of everything but the lock-free loads of devices.
func (w *resources) whole() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return [2]chipState{} },
		Step: func(state, in, out any) (bool, any) {
			s, i, o := state.([2]chipState), in.(input), out.(rowOutput)
			switch i.op {
			case "row":
				return o.row == w.row(s[i.devices-1]), s
			case "mesh":
				a, b := w.row(s[0]), w.row(s[1])
				return o.row == row{a.registered + b.registered, a.resident + b.resident, a.tracked + b.tracked, a.count + b.count}, s
			case "check":
				refused := false
				for d := range s {
					refused = refused || i.devices>>d&1 == 1 && s[d].blocks(i.program)
				}
				return o.refused == refused, s
			}
			next, refused, changed := s, false, uint8(0)
			for d := range s {
				if i.devices>>d&1 == 0 {
					continue
				}
				var ok bool
				if next[d], ok = w.one(s[d], i); !ok {
					refused = true
				}
				if next[d].programs != s[d].programs {
					changed |= 1 << d
				}
			}
			if refused {
				return o.refused, s
			}
			return !o.refused && o.devices == changed, next
		},
	}
}

// single is the model of one device and its lock-free load.
func (w *resources) single(d int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return chipState{} },
		Step: func(state, in, out any) (bool, any) {
			c, i, o := state.(chipState), in.(input), out.(rowOutput)
			if i.op == "device" {
				return o.bytes == w.resident(c), c
			}
			next, ok := w.one(c, i)
			switch {
			case i.devices>>d&1 == 0:
				return true, c
			case o.refused: // because of this device, if it was the only one
				return i.devices != 1<<d || !ok, c
			}
			return ok, next
		},
	}
}

// concurrent lets clients loose on a new fleet and returns their operations.
func (w *resources) concurrent(t *testing.T, run uint64, read func(device.Mesh) row) []porcupine.Operation {
	return letLoose(t, w.spec, run, func(on *pair, random *rand.Rand) (input, any) {
		i := input{program: random.IntN(3), devices: uint8(1 + random.IntN(3))}
		var o rowOutput
		p := w.programs[i.program]
		switch random.IntN(12) {
		case 0, 1:
			i.op = "enqueue"
			added, err := on.fleet.Enqueue(p, on.sets[i.devices])
			o.devices, o.refused = bitsOf(added), err != nil
		case 2, 3:
			i.op = "dispatch"
			o.refused = errors.Is(on.fleet.Dispatch(p.ID(), on.sets[i.devices]), device.ErrNotRegistered)
		case 4, 5:
			i.op, i.program = "allocate", random.IntN(2)
			o.refused = errors.Is(on.fleet.Allocate(w.buffers[i.program], on.sets[i.devices]), device.ErrAllocated)
		case 6:
			i.op, i.program = "free", random.IntN(2)
			_, err := on.fleet.Free(fit.BufferID(i.program), on.sets[i.devices])
			o.refused = errors.Is(err, device.ErrNotAllocated)
		case 7:
			i.op, i.devices = "unregister all", 3
			o.devices = bitsOf(on.fleet.UnregisterAll(p.ID()))
		case 8:
			i.op, i.devices = "device", uint8(1+random.IntN(2))
			o.bytes = on.devices[i.devices-1].Resident()
		case 9:
			i.op, i.devices = "row", uint8(1+random.IntN(2))
			o.row = rowOf(on.devices[i.devices-1].Totals())
		case 10:
			i.op = "check"
			v, _ := on.fleet.Check(p, on.sets[i.devices])
			o.refused = !v.Fits()
		default:
			i.op = "mesh"
			o.row = read(on.mesh)
		}
		return i, o
	})
}

func (w *resources) check(history []porcupine.Operation) porcupine.CheckResult {
	of := func(keep func(input) bool) []porcupine.Operation {
		return slices.DeleteFunc(slices.Clone(history), func(o porcupine.Operation) bool { return !keep(o.Input.(input)) })
	}
	if r := porcupine.CheckOperationsTimeout(w.whole(), of(func(i input) bool { return i.op != "device" }), testkit.Patience); r != porcupine.Ok {
		return r
	}
	for d := range 2 {
		own := of(func(i input) bool {
			return i.op != "mesh" && i.op != "row" && i.op != "check" && (i.op != "device" || i.devices == 1<<d)
		})
		if r := porcupine.CheckOperationsTimeout(w.single(d), own, testkit.Patience); r != porcupine.Ok {
			return r
		}
	}
	return porcupine.Ok
}

func TestResidentIsLinearizable(t *testing.T) {
	w := newResources(t)
	for run := range uint64(histories / 4) {
		history := w.concurrent(t, run, func(m device.Mesh) row { return rowOf(m.Totals()) })
		require.Equal(t, porcupine.Ok, w.check(history), "history %d", run)
	}
}

// The checker can fail: a row of the mesh that is assembled device by device sees half of
// a call.
func TestResidentIsLinearizableFindsHalfACall(t *testing.T) {
	w := newResources(t)
	byDevice := func(m device.Mesh) (sum row) {
		for d := range m.All() {
			r := rowOf(d.Totals())
			sum.registered += r.registered
			sum.resident += r.resident
			sum.tracked += r.tracked
			sum.count += r.count
			time.Sleep(time.Microsecond) // let others in
		}
		return sum
	}
	for run := range uint64(10 * histories) {
		if w.check(w.concurrent(t, run, byDevice)) == porcupine.Illegal {
			t.Logf("found in history %d", run)
			return
		}
	}
	t.Fatal("half a call was never seen")
}

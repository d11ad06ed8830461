package fuzz_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// Concurrent histories: several clients call and read at once; every answer must be
// one that the calls, each at some instant between its start and its end, can give.
//
// There are two models. Device.Registered reads atomically and promises an instant
// for one device; so each device is held against its own history. Totals of a mesh, and
// which devices a Register added, promise an instant for the whole fleet, and so do the regions of a core.

// What the clients of a history do.
type input struct {
	op      string // "register", "unregister", "unregister all", "device", "core", "mesh"
	program int
	devices uint8 // set
}

type output struct {
	devices uint8 // that a call changed
	refused bool
	bytes   uint64 // that a read returned
}

// held says which of three programs each of two devices has: a set of programs, one
// bit each, per device.
type held [2]uint8

// wholeFleet is the model of everything but the lock-free loads of devices.
func (w *small) wholeFleet() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return held{} },
		Step: func(state, in, out any) (bool, any) {
			h, i, o := state.(held), in.(input), out.(output)
			var has uint8 // devices that have the program
			for d := range h {
				has |= h[d] >> i.program & 1 << d
			}
			switch i.op {
			case "register":
				return o.devices == i.devices&^has, h.with(i.program, i.devices)
			case "unregister":
				if i.devices&^has != 0 {
					return o.refused, h
				}
				return !o.refused, h.without(i.program, i.devices)
			case "unregister all":
				return o.devices == has, h.without(i.program, has)
			case "core":
				return o.bytes == w.cores[h[i.devices-1]][1].Registered, h
			}
			return o.bytes == w.rows[h[0]].Registered+w.rows[h[1]].Registered, h
		},
	}
}

func (h held) with(p int, devices uint8) held {
	for d := range h {
		h[d] |= devices >> d & 1 << p
	}
	return h
}

func (h held) without(p int, devices uint8) held {
	for d := range h {
		h[d] &^= devices >> d & 1 << p
	}
	return h
}

// oneDevice is the model of one device and its lock-free total.
func (w *small) oneDevice(d int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return uint8(0) },
		Step: func(state, in, out any) (bool, any) {
			h, i, o := state.(uint8), in.(input), out.(output)
			bit, named, changed := uint8(1)<<i.program, i.devices>>d&1 == 1, o.devices>>d&1 == 1
			switch {
			case i.op == "device":
				return o.bytes == w.rows[h].Registered, h
			case i.op == "register" && named:
				return changed == (h&bit == 0), h | bit
			case i.op == "unregister" && named && !o.refused:
				return h&bit != 0, h &^ bit
			case i.op == "unregister" && i.devices == 1<<d: // refused because of this device
				return h&bit == 0, h
			case i.op == "unregister all":
				return changed == (h&bit != 0), h &^ bit
			}
			return true, h
		},
	}
}

// readMesh is how the sum over the mesh is read; the proof below reads it badly.
type readMesh func(device.Mesh) uint64

// A pair is a fleet with a mesh of two devices.
type pair struct {
	fleet   *device.Fleet
	mesh    device.Mesh
	devices []device.Device
	sets    [4]device.Set // by the bits of the devices
}

func bitsOf(s device.Set) (out uint8) {
	for id := range s.All() {
		out |= 1 << id
	}
	return out
}

// letLoose lets four clients play on a new pair at once and returns their operations. play makes
// one call.
func letLoose(t *testing.T, spec l1.Spec, run uint64, play func(on *pair, random *rand.Rand) (in input, out any)) []porcupine.Operation {
	const clients, calls = 4, 25
	f := device.NewFleet()
	mesh, err := f.AddMesh(0, 1, 2, spec)
	require.NoError(t, err)
	devices := slices.Collect(mesh.All())
	on := &pair{f, mesh, devices, [4]device.Set{1: devices[0].Set(), 2: devices[1].Set(), 3: mesh.Set()}}
	var seen [clients][]porcupine.Operation
	var start, done sync.WaitGroup
	start.Add(1)
	began := time.Now()
	for c := range clients {
		done.Go(func() {
			random := rand.New(rand.NewPCG(run, uint64(c)))
			start.Wait()
			for range calls {
				call := time.Since(began).Nanoseconds()
				in, out := play(on, random)
				seen[c] = append(seen[c], porcupine.Operation{
					ClientId: c, Input: in, Call: call, Output: out, Return: time.Since(began).Nanoseconds(),
				})
			}
		})
	}
	start.Done()
	done.Wait()
	require.NoError(t, f.CheckInvariants())
	return slices.Concat(seen[:]...)
}

// concurrent lets clients loose on a new fleet and returns their operations.
func (w *small) concurrent(t *testing.T, run uint64, read readMesh) []porcupine.Operation {
	return letLoose(t, w.spec, run, func(on *pair, random *rand.Rand) (input, any) {
		i := input{program: random.IntN(3), devices: uint8(1 + random.IntN(3))}
		var o output
		p := w.programs[i.program]
		switch random.IntN(10) {
		case 0, 1, 2:
			i.op = "register"
			added, _ := on.fleet.Register(p, on.sets[i.devices])
			o.devices = bitsOf(added)
		case 3, 4:
			i.op = "unregister"
			o.refused = on.fleet.Unregister(p.ID(), on.sets[i.devices]) != nil
		case 5:
			i.op = "unregister all"
			o.devices = bitsOf(on.fleet.UnregisterAll(p.ID()))
		case 6:
			i.op, i.devices = "device", uint8(1+random.IntN(2))
			o.bytes = on.devices[i.devices-1].Registered()
		case 7:
			i.op, i.devices = "core", uint8(1+random.IntN(2))
			for r := range on.devices[i.devices-1].Regions(l1.Core{X: 1}) {
				o.bytes += r.Len()
			}
		default:
			i.op = "mesh"
			o.bytes = read(on.mesh)
		}
		return i, o
	})
}

// check returns the first answer of the models that is not Ok. Unknown, when the time
// is up, is no better than Illegal.
func (w *small) check(history []porcupine.Operation) porcupine.CheckResult {
	of := func(keep func(input) bool) []porcupine.Operation {
		var out []porcupine.Operation
		for _, o := range history {
			if keep(o.Input.(input)) {
				out = append(out, o)
			}
		}
		return out
	}
	if r := porcupine.CheckOperationsTimeout(w.wholeFleet(), of(func(i input) bool { return i.op != "device" }), testkit.Patience); r != porcupine.Ok {
		return r
	}
	for d := range 2 {
		own := of(func(i input) bool { return i.op != "mesh" && i.op != "core" && (i.op != "device" || i.devices == 1<<d) })
		if r := porcupine.CheckOperationsTimeout(w.oneDevice(d), own, testkit.Patience); r != porcupine.Ok {
			return r
		}
	}
	return porcupine.Ok
}

const histories = 1000

func TestLinearizable(t *testing.T) {
	w := newSmall(t)
	reads := []readMesh{
		device.Mesh.Registered,
		func(m device.Mesh) uint64 { return m.Totals().Registered },
	}
	for run := range uint64(histories) {
		history := w.concurrent(t, run, reads[run%2])
		require.Equal(t, porcupine.Ok, w.check(history), "history %d", run)
	}
}

// The checker can fail: a sum over the mesh that is assembled device by device, each
// under the lock, sees half of a call. The race detector has nothing to say about it.
func TestLinearizableFindsHalfACall(t *testing.T) {
	w := newSmall(t)
	byDevice := func(m device.Mesh) (sum uint64) {
		for d := range m.All() {
			sum += d.Totals().Registered
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

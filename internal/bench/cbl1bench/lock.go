package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Some calls visit a whole fleet. The measures are how long they take, and for how long they keep
// others waiting.

// waiting is the row of how long others have waited for a look.
const waiting = "others wait at most"

// A look is such a call on a fleet.
type look struct {
	name   string
	made   func() (*device.Fleet, error)
	call   func(*device.Fleet) error
	before func(*device.Fleet) // nil, or what comes right before it
	again  func(*device.Fleet) // makes the fleet as it was, nil if it is
	took   float64             // ns that are aimed at
	waited float64             // ns that others are to wait at most, 0 if that is not asked
}

// look measures a call, and then how long a call beside it waits.
func (r *runner) look(x look) error {
	f, err := x.made()
	if err != nil {
		return err
	}
	took, waited := math.Inf(1), value{n: math.Inf(1), unit: "ms"}
	for range r.rounds {
		runtime.GC()
		if x.before != nil {
			x.before(f)
		}
		took = min(took, float64(stopwatch(func() { err = x.call(f) })))
		if x.again != nil {
			x.again(f)
		}
		if err != nil {
			return err
		}
	}
	r.add(row{workload: x.name, what: "a call", value: value{n: took / 1e6, unit: "ms"}, goal: aimAtMost(x.took / 1e6)})
	if x.waited == 0 {
		return nil
	}
	if waited = oneProcessor(); waited.instead == "" {
		waited = value{n: math.Inf(1), unit: "ms"}
		for range r.rounds {
			waited.n = min(waited.n, waits(f, x.call)/1e6)
		}
	}
	r.add(row{workload: x.name, what: waiting, value: waited, goal: aimAtMost(x.waited / 1e6)})
	return nil
}

// oneProcessor is a value that says so if there is one only: what happens beside something
// else needs two.
func oneProcessor() (v value) {
	if runtime.GOMAXPROCS(0) < 2 {
		v.instead = "needs 2 CPUs"
	}
	return v
}

// waits returns the ns that the slowest of many calls needs that write nothing, but
// have to wait for the lock, beside a call.
func waits(f *device.Fleet, call func(*device.Fleet) error) float64 {
	var done atomic.Bool
	var beside sync.WaitGroup
	ready, longest := make(chan struct{}), time.Duration(0)
	beside.Go(func() {
		close(ready)
		for !done.Load() {
			start := time.Now()
			f.UnregisterAll(math.MaxUint64)
			longest = max(longest, time.Since(start))
		}
	})
	<-ready
	_ = call(f) // an error has been seen before
	done.Store(true)
	beside.Wait()
	return float64(longest)
}

// fleetOf returns a fleet of devices in one row, each with calls of its own.
func fleetOf(devices int, spec l1.Spec, own func(*device.Fleet, device.Set, int) error) (*device.Fleet, error) {
	f := device.NewFleet()
	mesh, err := f.AddMesh(0, 1, devices, spec)
	if err != nil {
		return nil, err
	}
	i := 0
	for d := range mesh.All() {
		if err := own(f, d.Set(), i); err != nil {
			return nil, err
		}
		i++
	}
	return f, nil
}

// snapshot looks at devices with one own program each.
func snapshot(r *runner) error {
	spec, n := l1.N150(), r.size.own
	made := func() (*device.Fleet, error) {
		return fleetOf(n, spec, func(f *device.Fleet, s device.Set, i int) error {
			_, err := f.Register(sized(program.ID(i), spec, uint64(1+i)), s)
			return err
		})
	}
	bytes := func(id int) uint64 { return uint64(32 * (1 + id)) } // on each core
	for _, x := range []look{
		{name: "snapshot", took: 0.1e9, call: func(f *device.Fleet) error {
			all := f.Snapshot()
			for _, id := range []int{0, n / 2, n - 1} {
				if d, ok := all.Device(device.ID(id)); !ok || d.Totals().Registered != bytes(id)*uint64(spec.NumCores()) {
					return fmt.Errorf("snapshot: device %d does not have %d bytes a core", id, bytes(id))
				}
			}
			return nil
		}},
		{name: "headroom", took: 0.1e9, call: func(f *device.Fleet) error {
			all, err := f.Headroom(nil, f.Set())
			if err == nil && (len(all) != n || all[n-1].Free != spec.Usable().End-spec.CBBase-bytes(n-1)) {
				err = errors.New("headroom: it is not that of each device")
			}
			return err
		}},
		{name: "room", took: 0.1e9, call: func(f *device.Fleet) error {
			room, err := f.Room(l1.CoreSet{}, f.Set())
			if err == nil && room.Range.Start != spec.CBBase+bytes(n-1) {
				err = errors.New("room: it does not begin above the largest program")
			}
			return err
		}},
		{name: "invariants", took: 1e9, call: (*device.Fleet).CheckInvariants},
	} {
		x.name, x.made, x.waited = fmt.Sprintf("%s/devices=%d", x.name, n), made, 2e6
		if err := r.look(x); err != nil {
			return err
		}
	}
	return nil
}

// sized returns a program of so many units of 32 bytes on the whole grid.
func sized(id program.ID, spec l1.Spec, units uint64) *program.Program {
	return must(program.Place(id, "", spec, program.CB{Cores: spec.Grid(), Size: 32 * units}))
}

// marks registers a program on devices that hold the same, but had their own before.
func marks(r *runner) error {
	spec := l1.N150()
	common := sized(program.ID(r.size.marked), spec, 1)
	return r.look(look{
		name: fmt.Sprintf("marks/devices=%d", r.size.marked), took: 20e6,
		made: func() (*device.Fleet, error) {
			return fleetOf(r.size.marked, spec, func(f *device.Fleet, s device.Set, i int) error {
				p := sized(program.ID(i), spec, uint64(2+i))
				if _, err := f.Register(p, s); err != nil {
					return err
				}
				return f.Unregister(p.ID(), s)
			})
		},
		call: func(f *device.Fleet) error {
			_, err := f.Register(common, f.Set())
			return err
		},
		again: func(f *device.Fleet) { f.UnregisterAll(common.ID()) },
	})
}

// refused enqueues a program that fits on no device, beside buffers that no two devices share: on
// one set of cores, and on many.
func refused(r *runner) error {
	spec, n := l1.P150(), r.size.refused
	cores := slices.Collect(spec.Grid().Cores().All())
	made := func() (*device.Fleet, error) {
		return fleetOf(r.size.devices, spec, func(f *device.Fleet, s device.Set, i int) error {
			for k := range n {
				at := spec.CBBase + 32*uint64(k*r.size.devices+i)
				b := fit.Buffer{ID: fit.BufferID(i*n + k), Kind: fit.KindL1, Cores: spec.Grid().Cores(), Range: l1.Range{Start: at, End: at + 32}}
				if err := f.Allocate(b, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, groups := range []int{1, 10, len(cores)} {
		b := program.NewBuilder(0)
		for i := range groups {
			size := (spec.L1Size-spec.CBBase)/32*32 - 32*uint64(i)
			part := cores[i*len(cores)/groups : (i+1)*len(cores)/groups]
			b.CB(program.CB{Cores: l1.CoreSetOf(part...).Ranges(), Size: size})
		}
		large := must(b.Build(spec))
		if err := r.look(look{
			name: fmt.Sprintf("refused/devices=%d/buffers=%d/groups=%d", r.size.devices, n, groups),
			took: 10e6 * float64(groups), waited: 2e6, made: made,
			call: func(f *device.Fleet) error {
				v, err := f.Check(large, f.Set())
				if err == nil && v.Fits() {
					err = errors.New("refused: what does not fit was not refused")
				}
				return err
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

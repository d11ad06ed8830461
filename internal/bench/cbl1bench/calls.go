package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Some calls on one device are long: they have much to look at.

// registered puts programs on all devices of a fleet.
func registered(f *device.Fleet, programs ...*program.Program) error {
	for _, p := range programs {
		if _, err := f.Register(p, f.Set()); err != nil {
			return err
		}
	}
	return nil
}

// strewn returns programs with the ids from 1 on: each has a range of its own on each of some cores.
func strewn(spec l1.Spec, programs int, on func(i int) []l1.Core) (out []*program.Program) {
	rnd := rand.New(rand.NewPCG(16, 0))
	for i := range programs {
		b := program.NewBuilder(program.ID(1 + i))
		for _, c := range on(i) {
			start := spec.CBBase + 32*rnd.Uint64N(20_000)
			b.Range(l1.CoreSetOf(c).Ranges(), l1.Range{Start: start, End: start + 32*(1+rnd.Uint64N(2_000))})
		}
		out = append(out, must(b.Build(spec)))
	}
	return out
}

// withPrograms returns a device with programs.
func withPrograms(spec l1.Spec, programs []*program.Program) func() (*device.Fleet, error) {
	return func() (*device.Fleet, error) {
		return fleetOf(1, spec, func(f *device.Fleet, _ device.Set, _ int) error { return registered(f, programs...) })
	}
}

// changeAfterSnapshot is the first change behind a snapshot, which has to leave alone what the snapshot looks at.
func changeAfterSnapshot(r *runner) error {
	spec, live := l1.N150(), r.size.cached
	cores := slices.Collect(spec.Grid().Cores().All())
	one := strewn(spec, live, func(i int) []l1.Core { return cores[i%len(cores):][:1] })
	var all []*program.Program
	for i := range live {
		all = append(all, sized(program.ID(1+i), spec, uint64(1+i)))
	}
	for _, x := range []struct {
		name     string
		programs []*program.Program
		took     float64
	}{
		{"one core", one, 20e3}, {"the grid", all, 20e3},
		{"other ranges on each core", strewn(spec, live, func(int) []l1.Core { return cores }), 100e3},
	} {
		last := x.programs[live-1]
		if err := r.look(look{
			name: fmt.Sprintf("change/live=%d/%s", live, x.name), took: x.took, made: withPrograms(spec, x.programs),
			before: func(f *device.Fleet) { f.Snapshot() },
			call:   func(f *device.Fleet) error { return f.Unregister(last.ID(), f.Set()) },
			again:  func(f *device.Fleet) { _ = registered(f, last) },
		}); err != nil {
			return err
		}
	}
	return nil
}

// largeLeaves is a large program that leaves, above many others.
func largeLeaves(r *runner) error {
	spec, live := l1.P150(), 2*r.size.cached
	cores := slices.Collect(spec.Grid().Cores().All())
	below := strewn(spec, live, func(int) []l1.Core { return cores })
	large := sized(program.ID(1+live), spec, (spec.L1Size-spec.CBBase)/32)
	return r.look(look{
		name: fmt.Sprintf("leave/live=%d", live), took: 4e6, made: withPrograms(spec, append(below, large)),
		call:  func(f *device.Fleet) error { return f.Unregister(large.ID(), f.Set()) },
		again: func(f *device.Fleet) { _ = registered(f, large) },
	})
}

// usage is the Usage of a device beside buffers on rectangles.
func usage(r *runner) error {
	spec, n := l1.N150(), r.size.cached
	return r.look(look{
		name: fmt.Sprintf("usage/buffers=%d", n), took: 1e6,
		made: func() (*device.Fleet, error) {
			rnd := rand.New(rand.NewPCG(17, 0))
			return fleetOf(1, spec, func(f *device.Fleet, s device.Set, _ int) error {
				for i := range n {
					x, y := uint8(rnd.UintN(8)), uint8(rnd.UintN(8))
					on := l1.Rect(x/2, y/2, x, y).Cores()
					at := spec.CBBase + 32*rnd.Uint64N(40_000)
					if err := f.Allocate(fit.Buffer{ID: fit.BufferID(i), Kind: fit.KindL1, Cores: on, Range: l1.Range{Start: at, End: at + 1024}}, s); err != nil {
						return err
					}
				}
				return nil
			})
		},
		call: func(f *device.Fleet) error {
			d, err := f.Device(0)
			if err == nil && d.Usage(device.BasisResident).Tracked != d.Totals().Tracked {
				err = errors.New("usage: it is not what is tracked")
			}
			return err
		},
	})
}

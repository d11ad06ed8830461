package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/baseline"
	"github.com/cbl1/cbl1/program"
)

// A fleet is the engine as a contender: a mesh of devices.
type fleet struct {
	*device.Fleet
	mesh    device.Mesh
	devices []device.Device
	single  []device.Set        // of each device
	sets    map[*int]device.Set // by the first element of the list of devices
	measure baseline.Measure
	buffers bool // the history has buffers, whose bytes are tracked too
}

var _ baseline.Follower = (*fleet)(nil)

// newFleet returns an empty fleet for h, with the sets of devices that h names. A user holds such
// sets, so making them is not measured.
func newFleet(h history) *fleet {
	f := &fleet{Fleet: device.NewFleet(), sets: map[*int]device.Set{}, measure: h.measure}
	f.mesh = must(f.AddMesh(0, 1, h.devices, h.spec))
	f.devices = slices.Collect(f.mesh.All())
	for _, d := range f.devices {
		f.single = append(f.single, d.Set())
	}
	for _, steps := range [][]step{h.before, h.steps} {
		for i := range steps {
			f.set(steps[i].devices)
			f.buffers = f.buffers || steps[i].buffer != nil
		}
	}
	return f
}

// set returns the devices as a Set. Steps on the same devices share one list.
func (f *fleet) set(devices []int) device.Set {
	switch len(devices) {
	case 1:
		return f.single[devices[0]]
	case len(f.devices):
		return f.mesh.Set()
	}
	s, ok := f.sets[&devices[0]]
	if !ok {
		ids := make([]device.ID, len(devices))
		for i, d := range devices {
			ids[i] = device.ID(d)
		}
		s = must(f.Of(ids...))
		f.sets[&devices[0]] = s
	}
	return s
}

// Register registers p on the devices.
func (f *fleet) Register(p *program.Program, devices []int) {
	must(f.Fleet.Register(p, f.set(devices)))
}

// Unregister takes p off the devices.
func (f *fleet) Unregister(p *program.Program, devices []int) {
	check(f.Fleet.Unregister(p.ID(), f.set(devices)))
}

// Dispatch dispatches p.
func (f *fleet) Dispatch(p *program.Program, devices []int) {
	check(f.Fleet.Dispatch(p.ID(), f.set(devices)))
}

// Enqueue enqueues p, if it fits.
func (f *fleet) Enqueue(p *program.Program, devices []int) {
	_, err := f.Fleet.Enqueue(p, f.set(devices))
	if _, refused := errors.AsType[fit.Verdict](err); !refused {
		check(err)
	}
}

// Allocate allocates b.
func (f *fleet) Allocate(b *fit.Buffer, devices []int) {
	check(f.Fleet.Allocate(*b, f.set(devices)))
}

// Free frees b.
func (f *fleet) Free(b *fit.Buffer, devices []int) { must(f.Fleet.Free(b.ID, f.set(devices))) }

// Total returns the bytes of the measure. Without buffers the tracked bytes are the resident
// ones, which have a query of their own.
func (f *fleet) Total(i int) uint64 {
	switch d := f.devices[i]; {
	case f.measure == baseline.Reserved:
		return d.Registered() + d.Totals().Reserved
	case f.measure == baseline.Registered:
		return d.Registered()
	case f.buffers:
		return d.Totals().Tracked
	default:
		return d.Resident()
	}
}

// must returns v. The histories are legal, so an error is a bug.
func must[V any](v V, err error) V {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(fmt.Sprintf("cbl1bench: %v", err))
	}
}

package bench

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An Engine is the engine as a contender: a mesh of devices.
type Engine struct {
	Mesh    device.Mesh
	fleet   *device.Fleet
	devices []device.Device
	single  []device.Set        // of each device; empty until it is needed
	several map[*int]device.Set // by the first element of the list of devices
}

var _ baseline.Contender = (*Engine)(nil)

// NewEngine returns an empty fleet of one mesh that has the given number of devices.
func NewEngine(spec l1.Spec, devices int) *Engine {
	f := &Engine{fleet: device.NewFleet(), several: map[*int]device.Set{}}
	f.Mesh = must(f.fleet.AddMesh(0, 1, devices, spec))
	f.devices = slices.Collect(f.Mesh.All())
	f.single = make([]device.Set, devices)
	return f
}

// Device returns a device by its number.
func (f *Engine) Device(i int) device.Device { return f.devices[i] }

// Prepare makes the sets of devices that steps name. A user holds such sets, so making them is not
// measured.
func (f *Engine) Prepare(steps []Call) {
	for i := range steps {
		f.set(steps[i].Devices)
	}
}

// set returns the devices as a Set. Steps on the same devices share one list.
func (f *Engine) set(devices []int) device.Set {
	if len(devices) == 1 {
		s := &f.single[devices[0]]
		if *s == (device.Set{}) {
			*s = f.devices[devices[0]].Set()
		}
		return *s
	}
	if len(devices) == len(f.devices) {
		return f.Mesh.Set()
	}
	s, ok := f.several[&devices[0]]
	if !ok {
		ids := make([]device.ID, len(devices))
		for i, d := range devices {
			ids[i] = device.ID(d)
		}
		s = must(f.fleet.Of(ids...))
		f.several[&devices[0]] = s
	}
	return s
}

// Register registers p on the devices.
func (f *Engine) Register(p *program.Program, devices []int) {
	if _, err := f.fleet.Register(p, f.set(devices)); err != nil {
		panic(err)
	}
}

// Unregister takes p off the devices.
func (f *Engine) Unregister(p *program.Program, devices []int) {
	if err := f.fleet.Unregister(p.ID(), f.set(devices)); err != nil {
		panic(err)
	}
}

// Total returns the registered bytes of the device.
func (f *Engine) Total(device int) uint64 { return f.devices[device].Registered() }

// reserving is an Engine that reports reserved bytes too.
type reserving struct{ *Engine }

// Reserved returns the reserved bytes of the device.
func (f reserving) Reserved(device int) uint64 { return f.devices[device].Totals().Reserved }

// CheckInvariants recounts everything.
func (f *Engine) CheckInvariants() error { return f.fleet.CheckInvariants() }

// must returns v. The histories of this package are legal, so an error is a bug.
func must[V any](v V, err error) V {
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err))
	}
	return v
}

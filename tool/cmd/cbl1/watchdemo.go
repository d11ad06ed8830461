package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
)

// A demo is an event log of an invented workload, the same each time.
type demo struct {
	following
	devices int
	steps   int
	rand    *rand.Rand
	live    []program.ID // the oldest first
	next    program.ID   // not live
}

// mostDemo is how many devices a demo has at most.
const mostDemo = 1024

func newDemo(devices int) (*demo, error) {
	if devices > mostDemo {
		return nil, fmt.Errorf("a demo has %d devices at most", mostDemo)
	}
	d := &demo{devices: devices, rand: rand.New(rand.NewPCG(1, 2)), next: 1}
	d.done = make(chan struct{})
	close(d.done) // nothing is read
	d.begin()
	for id := range devices {
		d.declare(id)
	}
	for range 4 * devices {
		d.step()
	}
	return d, nil
}

// tell applies an event.
func (d *demo) tell(e event.Event) error {
	err := d.session.Apply(&e)
	d.notes.Take(&e, err)
	return err
}

// declare adds a device with things that stay there: tensors in DRAM, a trace, and on two of three
// devices a tensor in L1, beside which the largest programs do not fit on some.
func (d *demo) declare(id int) {
	spec, on := l1.N150(), event.Some([]device.ID{device.ID(id)})
	_ = d.tell(event.Event{Kind: event.KindDevice, Device: device.ID(id), Spec: spec}) // notes have errors
	at := l1.Range{Start: spec.L1Size - uint64(id%3)<<17, End: spec.L1Size}
	for _, b := range []fit.Buffer{
		{ID: 1, Kind: fit.KindDRAM, Size: uint64(1+id%5) << 30, Name: "weights"},
		{ID: 2, Kind: fit.KindTrace, Size: 24 << 20, Name: "trace"},
		{ID: 3, Kind: fit.KindL1, Cores: spec.Grid().Cores(), Range: at, Name: "activations"},
	} {
		_ = d.tell(event.Event{Kind: event.KindAllocate, Devices: on, Buffer: b}) // notes have errors
	}
}

// step runs a program on one device. The oldest program is forgotten when there are many.
func (d *demo) step() {
	d.steps++
	on := event.Some([]device.ID{device.ID(d.rand.IntN(d.devices))})
	x, y := uint8(1+d.rand.IntN(8)), uint8(1+d.rand.IntN(8))
	_ = d.tell(event.Event{Kind: event.KindProgram, Program: d.next, Name: fmt.Sprintf("program %d", d.steps), CBs: []event.CB{
		{CB: program.CB{Cores: l1.Rect(0, 0, x-1, y-1), Size: uint64(1+d.rand.IntN(32)) << 15}},
		{CB: program.CB{Cores: l1.Rect(0, 0, x/2, y/2), Size: uint64(1+d.rand.IntN(8)) << 14}},
	}}) // it is only defined
	if d.tell(event.Event{Kind: event.KindEnqueue, Program: d.next, Devices: on}) != nil {
		return // it does not fit, and is left out
	}
	if d.live, d.next = append(d.live, d.next), d.next+1; len(d.live) > 8*d.devices {
		d.next, d.live = d.live[0], d.live[1:]
		_ = d.tell(event.Event{Kind: event.KindUnregister, Program: d.next}) // it is registered
	}
}

func (d *demo) look(at watch.DeviceKey, detail bool) (watch.Snapshot, error) {
	for range d.devices {
		d.step()
	}
	return d.following.look(at, detail)
}

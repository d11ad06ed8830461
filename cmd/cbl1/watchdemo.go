package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/watch"
)

// A demo is a fleet that makes up what it does, the same each time.
type demo struct {
	fleet device.Fleet
	rand  *rand.Rand
	next  uint64
	live  []program.ID
}

// mostDemo is how many devices a demo has at most.
const mostDemo = 1024

func newDemo(devices int) (*demo, error) {
	if devices > mostDemo {
		return nil, fmt.Errorf("a demo has %d devices at most", mostDemo)
	}
	d := &demo{rand: rand.New(rand.NewPCG(1, 2))}
	for id := range devices {
		if _, err := d.fleet.AddDevice(device.ID(id), l1.N150()); err != nil {
			return nil, err
		}
	}
	for range 4 * devices {
		d.step()
	}
	return d, nil
}

// step runs a program on one device, and forgets one now and then.
func (d *demo) step() {
	d.next++
	id := device.ID(d.rand.IntN(d.fleet.Set().Len()))
	x, y := uint8(1+d.rand.IntN(8)), uint8(1+d.rand.IntN(8))
	p, err := program.Place(program.ID(d.next), fmt.Sprintf("program %d", d.next), l1.N150(),
		program.CB{Cores: l1.Rect(0, 0, x-1, y-1), Size: uint64(1+d.rand.IntN(32)) << 15},
		program.CB{Cores: l1.Rect(0, 0, x/2, y/2), Size: uint64(1+d.rand.IntN(8)) << 14})
	if err != nil {
		return
	}
	set, err := d.fleet.Of(id)
	if err != nil {
		return
	}
	if _, err := d.fleet.Enqueue(p, set); err == nil { // one that does not fit is left out
		d.live = append(d.live, p.ID())
	}
	if len(d.live) > 8*d.fleet.Set().Len() {
		d.fleet.UnregisterAll(d.live[0])
		d.live = d.live[1:]
	}
}

func (d *demo) look(at watch.Place, detail bool) (watch.Snapshot, error) {
	for range d.fleet.Set().Len() {
		d.step()
	}
	now := snapshot(watch.SourceLog)
	now.Devices = watch.Fleet(&d.fleet)
	if of, err := d.fleet.Device(device.ID(at.Device)); err == nil && detail {
		now.Detail = watch.DetailOf(of)
	}
	return now, nil
}

func (d *demo) close() {}

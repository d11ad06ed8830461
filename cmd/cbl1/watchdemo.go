package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/live/watch"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A demo is a fleet with an invented workload, the same each time.
type demo struct {
	fleet   device.Fleet
	rand    *rand.Rand
	next    uint64
	live    []program.ID
	refused []string // the last of them
	count   int64    // of them
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
		if err := d.allocate(id); err != nil {
			return nil, err
		}
	}
	for range 4 * devices {
		d.step()
	}
	return d, nil
}

// allocate gives a device what stays there: tensors in DRAM and a trace, and on two of three devices
// one in L1, beside which the largest programs do not fit on some.
func (d *demo) allocate(id int) error {
	set, err := d.fleet.Of(device.ID(id))
	if err != nil {
		return err
	}
	spec := l1.N150()
	buffers := []fit.Buffer{
		{ID: 1, Kind: fit.KindDRAM, Size: uint64(1+id%5) << 30, Name: "weights"},
		{ID: 2, Kind: fit.KindTrace, Size: 24 << 20, Name: "trace"},
	}
	if bytes := uint64(id%3) << 17; bytes > 0 {
		buffers = append(buffers, fit.Buffer{
			ID: 3, Kind: fit.KindL1, Cores: spec.Grid().Cores(), Range: l1.Range{Start: spec.L1Size - bytes, End: spec.L1Size}, Name: "activations",
		})
	}
	for _, b := range buffers {
		if err := d.fleet.Allocate(b, set); err != nil {
			return err
		}
	}
	return nil
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
	if _, err := d.fleet.Enqueue(p, set); err != nil { // one that does not fit is left out
		d.refused, d.count = append(d.refused, err.Error()), d.count+1
		d.refused = d.refused[max(0, len(d.refused)-3):]
	} else {
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
	if d.count > 0 {
		now.Refused, now.Odd = slices.Clone(d.refused), []watch.Odd{{Code: string(event.CodeDoesNotFit), Count: d.count}}
	}
	if of, err := d.fleet.Device(device.ID(at.Device)); err == nil && detail {
		now.Detail = watch.DetailOf(of)
	}
	return now, nil
}

func (d *demo) close() {}

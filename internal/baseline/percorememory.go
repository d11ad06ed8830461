package baseline

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// PerCoreMemory keeps the last writer of each core of each device, and the sum over the cores, as
// upstream's pull request 53721 does. Once a device has had buffers, each of its cores has a
// BoundaryCount of the buffers and of the last writer.
type PerCoreMemory struct {
	images
	devices []memory
}

// A memory is the L1 of one device.
type memory struct {
	registered map[program.ID]bool
	cores      []*spot         // the last writers
	counts     []BoundaryCount // by core; nil as long as the device has had no buffer
	total      uint64
	heap       map[fit.BufferID]block
	low        uint64 // the lowest address of a buffer
}

// NewPerCoreMemory returns a PerCoreMemory for numbered devices of one Spec.
func NewPerCoreMemory(spec l1.Spec, devices int) *PerCoreMemory {
	m := &PerCoreMemory{images: newImages(spec), devices: make([]memory, devices)}
	for i := range m.devices {
		m.devices[i] = memory{
			registered: map[program.ID]bool{},
			cores:      make([]*spot, spec.NumCores()),
			heap:       map[fit.BufferID]block{},
			low:        l1.MaxAddr,
		}
	}
	return m
}

// Register notes that the devices have p.
func (m *PerCoreMemory) Register(p *program.Program, devices []int) {
	for _, i := range devices {
		m.devices[i].registered[p.ID()] = true
	}
}

// Unregister notes that they do not.
func (m *PerCoreMemory) Unregister(p *program.Program, devices []int) {
	for _, i := range devices {
		delete(m.devices[i].registered, p.ID())
	}
}

// Dispatch writes p to its cores, except where it was the last writer.
func (m *PerCoreMemory) Dispatch(p *program.Program, devices []int) {
	x := m.of(p)
	for _, i := range devices {
		d := &m.devices[i]
		for k := range x.spots {
			s := &x.spots[k]
			for _, c := range s.cores {
				if d.cores[c] != s {
					d.write(c, s)
				}
			}
		}
	}
}

// write puts s on a core in place of the last writer.
func (d *memory) write(core int32, s *spot) {
	old := d.cores[core]
	d.cores[core] = s
	if d.counts == nil {
		if old != nil {
			d.total -= old.bytes
		}
		d.total += s.bytes
		return
	}
	count := &d.counts[core]
	if old != nil {
		for _, r := range old.ranges {
			d.total -= count.Remove(r)
		}
	}
	for _, r := range s.ranges {
		d.total += count.Add(r)
	}
}

// Enqueue compares the end of p with an address that is kept.
func (m *PerCoreMemory) Enqueue(p *program.Program, devices []int) {
	x := m.of(p)
	for _, i := range devices {
		if x.end > m.devices[i].low {
			return
		}
	}
	m.Register(p, devices)
	m.Dispatch(p, devices)
}

// Allocate counts b on each of its cores.
func (m *PerCoreMemory) Allocate(b *fit.Buffer, devices []int) {
	x := m.block(b)
	for _, i := range devices {
		d := &m.devices[i]
		d.count()
		d.heap[x.id] = x
		d.low = min(d.low, x.low)
		for _, part := range x.parts {
			for _, c := range part.cores {
				d.total += d.counts[c].Add(part.Range)
			}
		}
	}
}

// count begins to count on each core, if that has not happened.
func (d *memory) count() {
	if d.counts != nil {
		return
	}
	d.counts = make([]BoundaryCount, len(d.cores))
	for c, s := range d.cores {
		if s != nil {
			for _, r := range s.ranges {
				d.counts[c].Add(r)
			}
		}
	}
}

// Free takes b back.
func (m *PerCoreMemory) Free(b *fit.Buffer, devices []int) {
	for _, i := range devices {
		d := &m.devices[i]
		x := d.heap[b.ID]
		delete(d.heap, b.ID)
		for _, part := range x.parts {
			for _, c := range part.cores {
				d.total -= d.counts[c].Remove(part.Range)
			}
		}
		if x.low > d.low {
			continue
		}
		d.low = l1.MaxAddr
		for _, o := range d.heap {
			d.low = min(d.low, o.low)
		}
	}
}

// Total returns a number that is kept.
func (m *PerCoreMemory) Total(device int) uint64 { return m.devices[device].total }

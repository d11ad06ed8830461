package baseline

import (
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// DenseMemory is upstream's method for resident bytes: each device keeps the list of its live
// programs with the time of their last dispatch, and a list of its buffers. Each query of a total
// walks all programs to find the last writer of each core, gathers its ranges there and the ranges
// of the buffers, sorts and merges. Changes cost nothing, queries everything.
type DenseMemory struct {
	images
	devices []past
	clock   uint64
	cores   gathered
	writers []int // by core: the last dispatch, +1; 0 between queries
	done    []int // scratch
}

// A past is the memory of a device.
type past struct {
	live  []dispatched
	index map[program.ID]int
	heap  []block
}

// A dispatched is a live program and when it was dispatched last, 0 for never.
type dispatched struct {
	*image
	at uint64
}

// NewDenseMemory returns a DenseMemory for numbered devices of one Spec.
func NewDenseMemory(spec l1.Spec, devices int) *DenseMemory {
	m := &DenseMemory{
		images:  newImages(spec),
		devices: make([]past, devices),
		cores:   make(gathered, spec.NumCores()),
		writers: make([]int, spec.NumCores()),
	}
	for i := range m.devices {
		m.devices[i].index = map[program.ID]int{}
	}
	return m
}

// Register adds p to the lists of the devices.
func (m *DenseMemory) Register(p *program.Program, devices []int) {
	for _, i := range devices {
		d := &m.devices[i]
		d.index[p.ID()] = len(d.live)
		d.live = append(d.live, dispatched{image: m.of(p)})
	}
}

// Unregister takes p from the lists of the devices.
func (m *DenseMemory) Unregister(p *program.Program, devices []int) {
	for _, i := range devices {
		d := &m.devices[i]
		k, last := d.index[p.ID()], len(d.live)-1
		d.live[k] = d.live[last]
		d.index[d.live[k].id] = k
		d.live = d.live[:last]
		delete(d.index, p.ID())
	}
}

// Dispatch notes the time.
func (m *DenseMemory) Dispatch(p *program.Program, devices []int) {
	m.clock++
	for _, i := range devices {
		d := &m.devices[i]
		d.live[d.index[p.ID()]].at = m.clock
	}
}

// Enqueue walks the buffers of the devices for the lowest one.
func (m *DenseMemory) Enqueue(p *program.Program, devices []int) {
	end := m.of(p).end
	for _, i := range devices {
		for _, b := range m.devices[i].heap {
			if b.low < end {
				return
			}
		}
	}
	for k, i := range devices {
		if _, ok := m.devices[i].index[p.ID()]; !ok {
			m.Register(p, devices[k:k+1])
		}
	}
	m.Dispatch(p, devices)
}

// Allocate adds b to the lists of the devices.
func (m *DenseMemory) Allocate(b *fit.Buffer, devices []int) {
	x := m.block(b)
	for _, i := range devices {
		m.devices[i].heap = append(m.devices[i].heap, x)
	}
}

// Free takes b from the lists of the devices.
func (m *DenseMemory) Free(b *fit.Buffer, devices []int) {
	for _, i := range devices {
		d := &m.devices[i]
		d.heap = slices.DeleteFunc(d.heap, func(o block) bool { return o.id == b.ID })
	}
}

// Total walks the live programs and buffers of a device.
func (m *DenseMemory) Total(device int) uint64 {
	d := &m.devices[device]
	for i, p := range d.live {
		if p.at == 0 {
			continue
		}
		for _, c := range p.writes {
			if w := m.writers[c]; w == 0 || p.at > d.live[w-1].at {
				m.writers[c] = i + 1
			}
		}
	}
	m.done = m.done[:0]
	for _, w := range m.writers {
		if w == 0 || slices.Contains(m.done, w) {
			continue
		}
		m.done = append(m.done, w)
		m.gather(d.live[w-1].buffers, w)
	}
	clear(m.writers)
	for _, b := range d.heap {
		for _, part := range b.parts {
			m.cores.add(part)
		}
	}
	return m.cores.count()
}

// gather adds the ranges of buffers on the cores that have the given writer.
func (m *DenseMemory) gather(buffers []buffer, writer int) {
	for _, b := range buffers {
		for _, c := range b.cores {
			if m.writers[c] == writer {
				m.cores[c] = append(m.cores[c], b.Range)
			}
		}
	}
}

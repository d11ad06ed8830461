package bench

import (
	"errors"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/baseline"
	"github.com/cbl1/cbl1/program"
)

// A Memory is the engine as a contender for the contents of L1: residues of dispatches, and
// buffers.
type Memory struct {
	Engine
	buffers bool // the workload has buffers
}

var _ baseline.Memory = (*Memory)(nil)

// NewMemory returns a Memory of one mesh for w, with the sets of devices that w names.
func NewMemory(w Workload) *Memory {
	buffer := func(s Call) bool { return s.Buffer != nil }
	m := &Memory{
		Engine:  *NewEngine(w.Spec, w.Devices),
		buffers: slices.ContainsFunc(w.Before, buffer) || slices.ContainsFunc(w.Steps, buffer),
	}
	m.Prepare(w.Before)
	m.Prepare(w.Steps)
	return m
}

// Dispatch dispatches p.
func (m *Memory) Dispatch(p *program.Program, devices []int) {
	if err := m.fleet.Dispatch(p.ID(), m.set(devices)); err != nil {
		panic(err)
	}
}

// Enqueue enqueues p, if it fits.
func (m *Memory) Enqueue(p *program.Program, devices []int) {
	_, err := m.fleet.Enqueue(p, m.set(devices))
	if err == nil {
		return
	}
	if _, refused := errors.AsType[fit.Verdict](err); !refused {
		panic(err)
	}
}

// Allocate allocates b.
func (m *Memory) Allocate(b *fit.Buffer, devices []int) {
	if err := m.fleet.Allocate(*b, m.set(devices)); err != nil {
		panic(err)
	}
}

// Free frees b.
func (m *Memory) Free(b *fit.Buffer, devices []int) {
	must(m.fleet.Free(b.ID, m.set(devices)))
}

// Total returns the tracked bytes. Without buffers these are the resident bytes, which have a query
// of their own.
func (m *Memory) Total(device int) uint64 {
	if m.buffers {
		return m.devices[device].Totals().Tracked
	}
	return m.devices[device].Resident()
}

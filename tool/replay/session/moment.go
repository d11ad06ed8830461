package session

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// A moment writes what a fleet holds.
type moment struct {
	fleet *device.Fleet
	out   *event.Writer
	used  map[program.ID]bool
	next  program.ID // perhaps not used
}

// write writes an event. The writer keeps the error.
func (m *moment) write(e *event.Event) {
	if m.out.Err() == nil {
		_ = m.out.Write(e) // Err has it
	}
}

// declare writes the devices and the registered programs.
func (m *moment) declare() {
	for d := range m.fleet.Devices() {
		m.out.Observe(device.Notice{Kind: device.NoticeDeviceAdded, Set: d.Set(), Spec: d.Spec()})
		if d.Hybrid() {
			m.out.Observe(device.Notice{Kind: device.NoticeHybridSet, Set: d.Set(), Hybrid: true})
		}
	}
	for p := range m.fleet.Programs() {
		m.used[p.ID()] = true
		m.out.Observe(device.Notice{Kind: device.NoticeRegistered, Program: p, Set: m.fleet.Where(p.ID())})
	}
}

// dispatch writes what dispatches left.
func (m *moment) dispatch(ls remnants) {
	on := event.Some(ls.devices)
	whole, parts := ls.order(m.registered)
	for _, l := range whole {
		m.write(&event.Event{Kind: event.KindDispatch, Program: l.program.ID(), Devices: on})
	}
	for _, l := range parts {
		for m.used[m.next] {
			m.next++
		}
		definition := l.definition(m.next)
		m.write(&definition)
		for _, kind := range []event.Kind{event.KindRegister, event.KindDispatch, event.KindUnregister} {
			m.write(&event.Event{Kind: kind, Program: m.next, Devices: on})
		}
	}
}

// registered reports whether a program, and not another one under its id, is registered on all of some
// devices.
func (m *moment) registered(p *program.Program, on []device.ID) bool {
	now, ok := m.fleet.Program(p.ID())
	where := m.fleet.Where(p.ID())
	return ok && now == p && !slices.ContainsFunc(on, func(id device.ID) bool { return !where.Has(id) })
}

// allocate writes the buffers.
func (m *moment) allocate() {
	for d := range m.fleet.Devices() {
		for b := range d.Buffers() {
			m.out.Observe(device.Notice{Kind: device.NoticeAllocated, Buffer: b, Set: d.Set()})
		}
	}
}

package replay

import (
	"io"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// WriteMoment writes an event log that begins now: the devices, what is registered, what dispatches
// left, buffers, and what the logs have said that they do not show. Whoever reads it has the figures of
// this fleet, with high-water marks that begin now, and without traces. What a program left that is not
// registered any more, or where something was evicted, is told by a program of its name that is there
// for a moment. Other logs wait meanwhile. Cost: O(n log n) in what is there, core by core and device by
// device. The error is that of w.
func (s *Shared) WriteMoment(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.session.Fleet()
	m := moment{fleet: f, out: event.NewWriter(w), used: map[program.ID]bool{}}
	m.write(&event.Event{Kind: event.KindHeader})
	m.declare()
	for _, ls := range leftoversOf(f) {
		m.dispatch(ls)
	}
	m.allocate()
	m.out.Observe(device.Event{Kind: device.EventPeaksReset, Set: f.Set()})
	for i := range s.unseen {
		m.write(&s.unseen[i])
	}
	return m.out.Err()
}

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

// declare tells of devices, and of what is registered.
func (m *moment) declare() {
	for d := range m.fleet.Devices() {
		m.out.Observe(device.Event{Kind: device.EventDeviceAdded, Set: d.Set(), Spec: d.Spec()})
		if d.Hybrid() {
			m.out.Observe(device.Event{Kind: device.EventHybridSet, Set: d.Set(), Hybrid: true})
		}
	}
	for p := range m.fleet.Programs() {
		m.used[p.ID()] = true
		m.out.Observe(device.Event{Kind: device.EventRegistered, Program: p, Set: m.fleet.Where(p.ID())})
	}
}

// dispatch tells what dispatches left.
func (m *moment) dispatch(ls *leftovers) {
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

// allocate tells of buffers.
func (m *moment) allocate() {
	for d := range m.fleet.Devices() {
		for b := range d.Buffers() {
			m.out.Observe(device.Event{Kind: device.EventAllocated, Buffer: b, Set: d.Set()})
		}
	}
}

// maxUnseen is how many events of what is not shown are kept.
const maxUnseen = 1000

// see keeps what a log says that it does not show. Beyond what is kept, one event stands for all.
func (s *Shared) see(e *event.Event) {
	if e.Kind != event.KindHidden && e.Kind != event.KindAnomaly {
		return
	}
	kept := event.Event{Pos: event.Pos{Node: -1}, Kind: e.Kind, Code: e.Code, Count: e.Count, Detail: e.Detail, Devices: e.Devices}
	switch n := len(s.unseen); {
	case n < maxUnseen:
		s.unseen = append(s.unseen, kept)
	case e.Kind == event.KindHidden:
		s.unseen[n-1] = event.Event{Pos: event.Pos{Node: -1}, Kind: event.KindHidden, Code: e.Code, Count: 1, Detail: "more is hidden than is told apart"}
	}
}

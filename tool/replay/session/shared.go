package session

import (
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A Shared is a Session that several logs feed (Feed). The zero Shared is empty and ready to
// use; it must not be copied. Its methods may be called at the same time.
type Shared struct {
	// Heard, if not nil, gets each event after it was applied, with its *RefusedError, one call after the other.
	// It is set before the first event, and keeps all logs waiting.
	Heard func(e *event.Event, refused error)

	mu      sync.Mutex
	session Session
	unseen  []event.Event // what logs say of what they do not show
}

// Fleet returns the fleet.
func (s *Shared) Fleet() *device.Fleet { return s.session.Fleet() }

// Feed is Session.Stream for a log whose first event, its header, names the session: of returns it, and an error
// of it ends the log. Each event is applied as a whole, before or after events of other logs. An answer is about
// the fleet at that moment. All logs share ids; each has its own running operations. The effects of a log stay
// when its events end. Only this log waits for w.
func Feed(events iter.Seq2[*event.Event, error], of func(header *event.Event) (*Shared, error), w io.Writer) error {
	var s *Shared
	var own source.Running
	return stream(events, w, func(e *event.Event) (answers [2][]byte, err error) {
		if s == nil {
			if s, err = of(e); err != nil {
				return answers, err
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.session.state.Running = own
		answers, err = s.session.step(e)
		own = s.session.state.Running
		s.see(e)
		if s.Heard != nil {
			s.Heard(e, err)
		}
		return answers, nil
	})
}

// WriteMoment writes an event log that begins now: devices, registered programs, what dispatches left, buffers,
// and things that the logs do not show. A reader of it has the figures of this fleet, with high-water marks that
// begin now, and without traces. Leftovers of a program that is not registered any more, or was partly evicted,
// come from a program of its name that is there for a moment. Other logs wait meanwhile. Cost: O(n log n) in the
// content of all cores of all devices. The error comes from w.
func (s *Shared) WriteMoment(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.session.Fleet()
	m := moment{fleet: f, out: event.NewWriter(w), used: map[program.ID]bool{}}
	m.write(&event.Event{Kind: event.KindHeader})
	m.declare()
	for _, ls := range remnantsOf(f) {
		m.dispatch(ls)
	}
	m.allocate()
	m.out.Observe(device.Notice{Kind: device.NoticePeaksReset, Set: f.Set()})
	for i := range s.unseen {
		m.write(&s.unseen[i])
	}
	return m.out.Err()
}

// maxUnseen is how many events of hidden things are kept.
const maxUnseen = 1000

// see keeps what a log says that it does not show. One event stands for all others.
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

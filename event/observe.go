package event

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Observe writes an operation of a fleet, with the definition of a program where the log lacks it.
// It is made for device.Fleet.Observe; see Err.
func (w *Writer) Observe(happened device.Notice) {
	if w.err != nil {
		return
	}
	e := Event{Kind: kindOfDevice(happened.Kind), T: w.T, Process: w.Process, Tag: w.Tag}
	if e.Kind == "" {
		w.keep(fmt.Errorf("event of kind %d is not known to this version of the event log", happened.Kind))
		return
	}
	switch happened.Kind {
	case device.NoticeDeviceAdded, device.NoticeMeshAdded:
		e.Spec, e.Rows, e.Cols = happened.Spec, happened.Rows, happened.Cols
		for e.Device = range happened.Set.All() {
			break
		}
	case device.NoticeRegistered:
		w.define(happened.Program)
		e.Program = happened.Program.ID()
	case device.NoticeReplaced:
		w.replace(&e, happened)
	case device.NoticeUnregistered:
		e.Program = happened.Program.ID()
		delete(w.defined, e.Program) // it may still be on other devices: then it is defined again
	case device.NoticeRefused:
		e.Refused = true
		if happened.Trace != 0 {
			e.Kind = KindReplay
			break
		}
		w.define(happened.Program)
		e.Program = happened.Program.ID()
		delete(w.defined, e.Program) // it may be nowhere, and never come again
	case device.NoticeHybridSet:
		if !happened.Hybrid {
			e.Kind = KindLockstep
		}
	case device.NoticeDispatched, device.NoticeEvicted, device.NoticeTraceRecorded:
		e.Program = happened.Program.ID()
	case device.NoticeAllocated:
		e.setBuffer(happened.Buffer)
	case device.NoticeFreed:
		e.Buffer.ID = happened.Buffer.ID
	}
	e.Trace = uint64(happened.Trace)
	e.setDevices(happened.Set)
	w.tell(&e)
}

// tell writes an event. It cannot return an error to its caller: Err keeps it.
func (w *Writer) tell(e *Event) {
	if w.err == nil {
		w.keep(w.Write(e))
	}
}

func (w *Writer) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *Writer) replace(e *Event, happened device.Notice) {
	w.define(happened.Program)
	e.Program = happened.Old.ID()
	if id := happened.Program.ID(); id != e.Program {
		e.With = Some(id)
		delete(w.defined, e.Program)
	}
	if happened.Program.Len() == 0 { // which is then nowhere
		delete(w.defined, happened.Program.ID())
	}
}

// define writes the definition of a program, unless the log has it. CBs are written as stated, so
// that a reader of the log places them alike.
func (w *Writer) define(p *program.Program) {
	if w.defined[p.ID()] == p {
		return
	}
	w.defined[p.ID()] = p
	e := Event{
		Kind: KindProgram, T: w.T, Process: w.Process, Tag: w.Tag, Program: p.ID(), Name: p.Name(), AsWritten: p.AsWritten(),
		Bases: slices.Collect(p.Bases()),
	}
	groups := map[int]int{} // alias, which may be any number -> group
	for _, placed := range p.CBs() {
		cb := CB{CB: placed.CB}
		if cb.Alias != 0 {
			if groups[cb.Alias] == 0 {
				groups[cb.Alias] = len(groups) + 1
			}
			cb.Alias = groups[cb.Alias]
		}
		e.CBs = append(e.CBs, cb)
	}
	w.tell(&e)
}

// setDevices stores the ids of s. A log has them where the kind has devices.
func (e *Event) setDevices(s device.Set) {
	list := make([]device.ID, 0, s.Len())
	for id := range s.All() {
		list = append(list, id)
	}
	e.Devices = Some(list)
}

func (e *Event) setBuffer(b fit.Buffer) {
	for part := range b.All() {
		e.Parts = append(e.Parts, Part{Cores: Some(part.Cores), Range: part.Range})
	}
	b.Parts, b.Cores, b.Range = nil, l1.CoreSet{}, l1.Range{}
	e.Buffer = b
}

// kindOfDevice returns the kind of an event of a fleet, "" if this version of the log has none.
func kindOfDevice(k device.NoticeKind) Kind {
	kinds := [...]Kind{
		device.NoticeDeviceAdded: KindDevice, device.NoticeMeshAdded: KindMesh, device.NoticeDeviceRemoved: KindRemove,
		device.NoticeRegistered: KindRegister, device.NoticeUnregistered: KindUnregister, device.NoticeReplaced: KindReplace,
		device.NoticeDispatched: KindDispatch, device.NoticeEvicted: KindEvict,
		device.NoticeTraceBegun: KindTraceBegin, device.NoticeTraceRecorded: KindRecord, device.NoticeTraceEnded: KindTraceEnd,
		device.NoticeTraceReplayed: KindReplay, device.NoticeTraceReleased: KindRelease,
		device.NoticeAllocated: KindAllocate, device.NoticeFreed: KindFree, device.NoticePeaksReset: KindResetPeaks,
		device.NoticeRefused:   KindEnqueue, // of a trace it is a replay
		device.NoticeHybridSet: KindHybrid,
	}
	if int(k) >= len(kinds) {
		return ""
	}
	return kinds[k]
}

package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxDevices is how many devices a source may have: far more than any machine, and few
// enough that no line of a log takes much memory.
const maxDevices = 1 << 16

// A Session is a device.Fleet that follows events, and answers what is asked about it.
// The zero Session is empty and ready to use; it must not be copied. It belongs to one
// goroutine; its Fleet may be read by others.
type Session struct {
	fleet    device.Fleet
	source   string // of the header: "" for a log of its own
	devices  int
	programs map[program.ID]*definition
	traces   map[uint64]device.TraceID
	running

	launched []launched // by the run at hand

	grids  map[device.ID]grid       // of devices that have none in the fleet
	latest map[device.ID]program.ID // of the last run that was told
	users  map[ranOn]int            // runs of a program on a device

	anomalies map[event.Code]*RefusalCount
}

// A ranOn is a program on a device.
type ranOn struct {
	device  device.ID
	program program.ID
}

// Fleet returns the fleet. Whoever changes it must know what will be told next.
func (s *Session) Fleet() *device.Fleet { return &s.fleet }

// Apply makes the call that an event stands for. A program is placed for the Spec of
// the first of the devices that it is registered on. Queries, and what a source says of
// itself, change nothing.
//
// What the fleet refuses is a *RefusedError: it is counted, nothing has changed, and
// the next event may be applied.
func (s *Session) Apply(e *event.Event) error {
	if e.Anomaly.Has(event.AnomalyDuplicateKey) {
		s.count(e, event.CodeDuplicateKey, nil)
	}
	code, err := s.apply(e)
	if err == nil {
		return nil
	}
	if code == "" {
		code = event.CodeOf(err)
	}
	refused := &RefusedError{Event: *e, Op: s.op(), Name: s.nameOf(e), Code: code, Err: err}
	s.count(e, code, refused)
	return refused
}

// Anomalies returns how often each thing was odd, by code.
func (s *Session) Anomalies() []RefusalCount {
	var out []RefusalCount
	for _, code := range slices.Sorted(maps.Keys(s.anomalies)) {
		out = append(out, *s.anomalies[code])
	}
	return out
}

// Stream applies events and writes to w: the answers to queries, and an answer "anomaly" for
// each refused event. Each is one call of Write, made before the next event is asked for. An
// error comes from the events or from w.
func (s *Session) Stream(events iter.Seq2[*event.Event, error], w io.Writer) error {
	return stream(events, w, func(e *event.Event) ([2][]byte, error) {
		answers, _ := s.step(e) // which says what was refused
		return answers, nil
	})
}

// stream writes what is answered to each event.
func stream(events iter.Seq2[*event.Event, error], w io.Writer, step func(*event.Event) ([2][]byte, error)) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		answers, err := step(e)
		if err != nil {
			return err
		}
		for _, answer := range answers {
			if answer == nil {
				continue
			}
			if _, err := w.Write(answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// step applies an event, and returns the complaint about it and its answer.
func (s *Session) step(e *event.Event) (answers [2][]byte, refused error) {
	if refused = s.Apply(e); refused != nil || e.Anomaly != 0 {
		answers[0] = s.complaint(e, refused)
	}
	if e.Kind == event.KindQuery {
		answers[1] = s.Answer(e)
	}
	return answers, refused
}

func (s *Session) count(e *event.Event, code event.Code, refused *RefusedError) {
	c := s.anomalies[code]
	if c == nil {
		if s.anomalies == nil {
			s.anomalies = map[event.Code]*RefusalCount{}
		}
		c = &RefusalCount{Code: code, Line: e.Pos.Line}
		if refused != nil {
			c.Detail = refused.Error()
		}
		s.anomalies[code] = c
	}
	c.Count++
}

// nameOf returns the name of the program that an event names; "" if nobody knows one.
func (s *Session) nameOf(e *event.Event) string {
	switch e.Kind {
	case event.KindProgram:
		return e.Name
	case event.KindRegister, event.KindUnregister, event.KindReplace, event.KindDispatch, event.KindEnqueue, event.KindEvict,
		event.KindRecord, event.KindRun:
		if def := s.programs[e.Program]; def != nil {
			return def.name
		}
	}
	return ""
}

// opOf returns the operations in which an event happened.
func (s *Session) opOf(e *event.Event) string {
	if e.Op.OK {
		return shown.Clip(e.Op.V, shown.MaxPath)
	}
	return s.op()
}

// apply makes the call. The code is "" where the error tells it.
func (s *Session) apply(e *event.Event) (code event.Code, err error) {
	switch e.Kind {
	case event.KindQuery, event.KindCBsFreed, event.KindExecuted, event.KindHidden, event.KindAnomaly, event.KindUpstream,
		event.KindEnd, event.KindAgain:
		return "", nil
	case event.KindHeader:
		if e.Pos.Node > 0 {
			return event.CodeHeaderAgain, errors.New("a header that is not the first line")
		}
		s.source = e.Source
		return "", nil
	case event.KindTorn:
		return event.CodeTornLine, errors.New("the last line is cut")
	case event.KindOpStart, event.KindOpEnd:
		return s.operation(e)
	case event.KindDevice:
		return s.addDevices(e, 1, 1)
	case event.KindMesh:
		return s.addDevices(e, e.Rows, e.Cols)
	case event.KindProgram:
		if s.programs == nil {
			s.programs = map[program.ID]*definition{}
		}
		s.programs[e.Program] = &definition{
			id: e.Program, name: e.Name, op: s.opOf(e), asWritten: e.AsWritten, bases: e.Bases, cbs: e.CBs,
		}
		return "", nil
	case event.KindTraceBegin, event.KindRecord, event.KindTraceEnd, event.KindReplay, event.KindRelease:
		return s.trace(e)
	case event.KindReplace:
		return s.replace(e)
	case event.KindRun:
		return s.run(e)
	case event.KindRegister, event.KindDispatch, event.KindEnqueue, event.KindEvict, event.KindUnregister, event.KindRemove,
		event.KindResetPeaks, event.KindHybrid, event.KindLockstep, event.KindAllocate, event.KindFree:
		return s.on(e)
	}
	return event.CodeUnknownEvent, errors.New("no such event")
}

func (s *Session) addDevices(e *event.Event, rows, cols int) (event.Code, error) {
	spec := s.specOf(e)
	if e.Role != "" {
		if d, err := s.fleet.Device(e.Device); err == nil {
			return s.declaredAgain(d, spec)
		}
	}
	if rows > 0 && cols > 0 && rows > (maxDevices-s.devices)/cols {
		return event.CodeTooMany, fmt.Errorf("a log has %d devices at most", maxDevices)
	}
	var err error
	if e.Kind == event.KindDevice {
		_, err = s.fleet.AddDevice(e.Device, spec)
	} else {
		_, err = s.fleet.AddMesh(e.Device, rows, cols, spec)
	}
	if err == nil {
		s.devices += rows * cols
		s.learnGrid(e, rows*cols)
	}
	return "", err
}

// declaredAgain takes in that a source knows a device better now. Only what no figure
// of the fleet depends on may differ.
func (s *Session) declaredAgain(d device.Device, spec l1.Spec) (event.Code, error) {
	was := d.Spec()
	spec.Cols, spec.Rows, spec.Name = was.Cols, was.Rows, was.Name
	if was != spec {
		return event.CodeDeviceExists, &device.Error{About: device.AboutDevice, Device: d.ID(), Err: device.ErrDeviceExists}
	}
	return "", nil
}

// on makes a call that names devices.
func (s *Session) on(e *event.Event) (event.Code, error) {
	if e.Unknown || e.Again || e.Earlier && len(e.Parts) == 0 && e.Buffer.Hidden.IsEmpty() {
		return "", nil // a buffer that lives nowhere that is known
	}
	set, err := s.set(e)
	if err != nil {
		return "", err
	}
	switch e.Kind {
	case event.KindRemove:
		if err = s.fleet.Remove(set); err == nil {
			s.devices -= set.Len()
			for id := range set.All() {
				delete(s.grids, id)
			}
		}
	case event.KindResetPeaks:
		for id := range set.All() {
			if d, err := s.fleet.Device(id); err == nil { // it was there just now
				d.ResetPeaks()
			}
		}
	case event.KindHybrid, event.KindLockstep:
		_, err = s.fleet.SetHybrid(set, e.Kind == event.KindHybrid)
	case event.KindRegister, event.KindEnqueue:
		p, code, err := s.place(e.Program, set)
		if err == nil {
			err = s.allOnGrid(e.Program, set)
		}
		switch {
		case err != nil:
			return code, err
		case e.Kind == event.KindEnqueue:
			_, err = s.fleet.Enqueue(p, set)
		default:
			_, err = s.fleet.Register(p, set)
		}
		return "", err
	case event.KindDispatch:
		err = s.fleet.Dispatch(e.Program, set)
	case event.KindEvict:
		_, err = s.fleet.Evict(e.Program, set)
	case event.KindUnregister:
		if e.Devices.OK {
			err = s.fleet.Unregister(e.Program, set)
		} else if s.fleet.UnregisterAll(e.Program).Len() == 0 {
			return event.CodeNotRegistered, fmt.Errorf("program %d: %w", e.Program, device.ErrNotRegistered)
		}
	case event.KindAllocate:
		return s.allocate(e, set)
	case event.KindFree:
		return s.free(e, set)
	}
	return "", err
}

// set returns the devices that an event names, or all.
func (s *Session) set(e *event.Event) (device.Set, error) {
	if !e.Devices.OK {
		return s.fleet.Set(), nil
	}
	return s.fleet.Of(e.Devices.V...)
}

func (s *Session) replace(e *event.Event) (event.Code, error) {
	p, code, err := s.place(e.With.Or(e.Program), s.fleet.Where(e.Program))
	if err != nil {
		return code, err
	}
	_, err = s.fleet.Replace(e.Program, p)
	return "", err
}

func (s *Session) trace(e *event.Event) (event.Code, error) {
	id, known := s.traces[e.Trace]
	if e.Kind == event.KindTraceBegin {
		return s.beginTrace(e, known)
	}
	if !known {
		return event.CodeNoTrace, fmt.Errorf("trace %d: %w", e.Trace, device.ErrNoTrace)
	}
	var err error
	switch e.Kind {
	case event.KindRecord:
		err = s.fleet.Record(id, e.Program)
	case event.KindTraceEnd:
		err = s.fleet.EndTrace(id)
	case event.KindReplay:
		err = s.fleet.Replay(id)
	case event.KindRelease:
		if err = s.fleet.ReleaseTrace(id); err == nil {
			delete(s.traces, e.Trace)
		}
	}
	// The fleet numbers traces for itself; the log's number is what people know.
	if t, ok := errors.AsType[*device.Error](err); ok {
		t.Trace = device.TraceID(e.Trace)
	}
	return "", err
}

func (s *Session) beginTrace(e *event.Event, known bool) (event.Code, error) {
	if known {
		return event.CodeTraceExists, fmt.Errorf("trace %d was begun and not released", e.Trace)
	}
	set, err := s.set(e)
	if err != nil {
		return "", err
	}
	id, err := s.fleet.BeginTrace(set)
	if err != nil {
		return "", err
	}
	if s.traces == nil {
		s.traces = map[uint64]device.TraceID{}
	}
	s.traces[e.Trace] = id
	return "", nil
}

// allocate counts a buffer, or lays one anew whose place is known better now.
func (s *Session) allocate(e *event.Event, set device.Set) (event.Code, error) {
	b := e.Buffer
	if b.Name == "" {
		b.Name = s.opOf(e)
	}
	for _, part := range e.Parts {
		if part.Range.IsEmpty() && !part.Cores.OK && !b.Unsized {
			continue // it lies nowhere, and where that is does not matter
		}
		cores := part.Cores.V
		if !part.Cores.OK {
			var err error
			if cores, err = s.grid(set); err != nil {
				return event.CodeSpec, err
			}
		}
		b.Parts = append(b.Parts, fit.Part{Cores: cores, Range: part.Range})
	}
	if e.Corrects {
		return "", s.correct(b, set)
	}
	return "", s.fleet.Allocate(b, set)
}

// correct lays a buffer anew on all devices of a set, or on none. Devices may have different ones under its id.
func (s *Session) correct(b fit.Buffer, set device.Set) error {
	var was []func() error // puts back
	for id := range set.All() {
		if d, err := s.fleet.Device(id); err == nil { // it was there just now
			if old, ok := d.Buffer(b.ID); ok {
				was = append(was, func() error { return s.fleet.Allocate(old, d.Set()) })
			}
		}
	}
	if _, err := s.fleet.Free(b.ID, set); err != nil {
		return err
	}
	err := s.fleet.Allocate(b, set)
	if err != nil {
		for _, put := range was {
			err = errors.Join(err, put()) // that fitted before
		}
	}
	return err
}

// free takes a buffer off the devices that the event names or, where it names none, off
// all that have it.
func (s *Session) free(e *event.Event, set device.Set) (event.Code, error) {
	if !e.Devices.OK {
		if set = s.fleet.Holding(e.Buffer.ID); set.Len() == 0 {
			return event.CodeNotAllocated, fmt.Errorf("buffer %d: %w", e.Buffer.ID, device.ErrNotAllocated)
		}
	}
	_, err := s.fleet.Free(e.Buffer.ID, set)
	return "", err
}

// grid returns the cores that all devices of a set have.
func (s *Session) grid(set device.Set) (l1.CoreSet, error) {
	var cols, rows int
	if spec, ok := set.Spec(); ok && len(s.grids) == 0 && spec.Cols > 0 {
		return spec.Grid().Cores(), nil
	}
	for id := range set.All() {
		d, err := s.fleet.Device(id)
		if err != nil {
			return l1.CoreSet{}, err
		}
		spec := s.judged(d)
		switch {
		case spec.Cols == 0:
			return l1.CoreSet{}, fmt.Errorf("device %d: its grid is not known: name the cores", id)
		case cols != 0 && cmp.Or(cmp.Compare(cols, spec.Cols), cmp.Compare(rows, spec.Rows)) != 0:
			return l1.CoreSet{}, fmt.Errorf("device %d: its grid is %dx%d, that of another one %dx%d: name the cores", id, spec.Cols, spec.Rows, cols, rows)
		}
		cols, rows = spec.Cols, spec.Rows
	}
	return l1.Spec{Cols: cols, Rows: rows}.Grid().Cores(), nil
}

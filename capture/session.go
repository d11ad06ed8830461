package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxLogDevices is how many devices a log may have: far more than any machine, and
// few enough that no line of a log takes much memory.
const maxLogDevices = 1 << 16

// maxOps is how many of the operations that run inside each other are named.
const maxOps = 100

// A Session is a device.Fleet that is fed by the events of a log, and answers what is
// asked about it. The zero Session is empty and ready to use; it must not be copied.
// It belongs to one goroutine; its Fleet may be read by others.
type Session struct {
	fleet    device.Fleet
	devices  int
	programs map[program.ID]*definition
	traces   map[uint64]device.TraceID
	ops      []string
	deeper   int // operations that run inside the last of ops and have no name there

	anomalies map[LogCode]*LogAnomaly
}

// A definition is a program as the log states it, and as it was placed.
type definition struct {
	name, op string
	cbs      []program.CB
	placed   map[l1.Spec]*program.Program
}

// Fleet returns the fleet. Whoever changes it must know what the log will say next.
func (s *Session) Fleet() *device.Fleet { return &s.fleet }

// Apply makes the call that an event stands for. A program is placed for the Spec of
// the first of the devices that it is registered on. Queries change nothing.
//
// What the fleet refuses is a *LogError: it is counted, nothing has changed, and the
// next event may be applied.
func (s *Session) Apply(e *LogEvent) error {
	if e.Anomaly.Has(AnomalyDuplicateKey) {
		s.count(e, LogCodeDuplicateKey, nil)
	}
	code, err := s.apply(e)
	if err == nil {
		return nil
	}
	if code == "" {
		code = codeOf(err)
	}
	refused := &LogError{Event: *e, Op: s.op(), Code: code, Err: err}
	s.count(e, code, refused)
	return refused
}

// Anomalies returns how often each thing was odd, by code.
func (s *Session) Anomalies() []LogAnomaly {
	var out []LogAnomaly
	for _, code := range slices.Sorted(maps.Keys(s.anomalies)) {
		out = append(out, *s.anomalies[code])
	}
	return out
}

// Stream applies the events of a log and writes to w, each with one call of Write and
// before the next line is read: the answers to queries, and an answer "anomaly" for
// each event that was refused. The error is an *InputError of the log or that of w.
func (s *Session) Stream(l *Log, w io.Writer) error {
	for e, err := range l.Events() {
		if err != nil {
			return err
		}
		if err := s.Apply(e); err != nil || e.Anomaly != 0 {
			if _, err := w.Write(s.complaint(e, err)); err != nil {
				return err
			}
		}
		if e.Kind == LogQuery {
			if _, err := w.Write(s.Answer(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Session) count(e *LogEvent, code LogCode, refused *LogError) {
	c := s.anomalies[code]
	if c == nil {
		if s.anomalies == nil {
			s.anomalies = map[LogCode]*LogAnomaly{}
		}
		c = &LogAnomaly{Code: code, Line: e.Pos.Line}
		if refused != nil {
			c.Detail = refused.Error()
		}
		s.anomalies[code] = c
	}
	c.Count++
}

func (s *Session) op() string { return strings.Join(s.ops, " > ") }

// apply makes the call. The code is "" where the error tells it.
func (s *Session) apply(e *LogEvent) (code LogCode, err error) {
	switch e.Kind {
	case LogQuery:
		return "", nil
	case LogTorn:
		return LogCodeTornLine, errors.New("the last line is cut")
	case LogHeader:
		return LogCodeHeaderAgain, errors.New("a header that is not the first line")
	case LogOpStart:
		if len(s.ops) == maxOps {
			s.deeper++
		} else {
			s.ops = append(s.ops, e.Name)
		}
		return "", nil
	case LogOpEnd:
		switch {
		case s.deeper > 0:
			s.deeper--
		case len(s.ops) > 0:
			s.ops = s.ops[:len(s.ops)-1]
		default:
			return LogCodeNoOp, errors.New("no operation is running")
		}
		return "", nil
	case LogDevice:
		return s.addDevices(e, 1, 1)
	case LogMesh:
		return s.addDevices(e, e.Rows, e.Cols)
	case LogProgram:
		if s.programs == nil {
			s.programs = map[program.ID]*definition{}
		}
		s.programs[e.Program] = &definition{name: e.Name, op: s.op(), cbs: e.CBs}
		return "", nil
	case LogTraceBegin, LogRecord, LogTraceEnd, LogReplay, LogRelease:
		return s.trace(e)
	case LogReplace:
		return s.replace(e)
	case LogRegister, LogDispatch, LogEnqueue, LogEvict, LogUnregister, LogRemove, LogResetPeaks, LogAllocate, LogFree:
		return s.on(e)
	}
	return LogCodeUnknownEvent, errors.New("no such event")
}

func (s *Session) addDevices(e *LogEvent, rows, cols int) (LogCode, error) {
	if rows > 0 && cols > 0 && rows > (maxLogDevices-s.devices)/cols {
		return LogCodeTooMany, fmt.Errorf("a log has %d devices at most", maxLogDevices)
	}
	var err error
	if e.Kind == LogDevice {
		_, err = s.fleet.AddDevice(e.Device, e.Spec)
	} else {
		_, err = s.fleet.AddMesh(e.Device, rows, cols, e.Spec)
	}
	if err == nil {
		s.devices += rows * cols
	}
	return "", err
}

// on makes a call that names devices.
func (s *Session) on(e *LogEvent) (LogCode, error) {
	set, err := s.set(e)
	if err != nil {
		return "", err
	}
	switch e.Kind {
	case LogRemove:
		if err = s.fleet.Remove(set); err == nil {
			s.devices -= set.Len()
		}
	case LogResetPeaks:
		for id := range set.All() {
			if d, err := s.fleet.Device(id); err == nil { // it was there just now
				d.ResetPeaks()
			}
		}
	case LogRegister, LogEnqueue:
		p, code, err := s.place(e.Program, set)
		switch {
		case err != nil:
			return code, err
		case e.Kind == LogEnqueue:
			_, err = s.fleet.Enqueue(p, set)
		default:
			_, err = s.fleet.Register(p, set)
		}
		return "", err
	case LogDispatch:
		err = s.fleet.Dispatch(e.Program, set)
	case LogEvict:
		_, err = s.fleet.Evict(e.Program, set)
	case LogUnregister:
		if e.Devices.OK {
			err = s.fleet.Unregister(e.Program, set)
		} else if s.fleet.UnregisterAll(e.Program).Len() == 0 {
			return LogCodeNotRegistered, fmt.Errorf("program %d: %w", e.Program, device.ErrNotRegistered)
		}
	case LogAllocate:
		return s.allocate(e, set)
	case LogFree:
		if !e.Devices.OK {
			if set, err = s.having(e.Buffer.ID); err != nil {
				return "", err
			}
			if set.Len() == 0 {
				return LogCodeNotAllocated, fmt.Errorf("buffer %d: %w", e.Buffer.ID, device.ErrNotAllocated)
			}
		}
		_, err = s.fleet.Free(e.Buffer.ID, set)
	}
	return "", err
}

// set returns the devices that an event names, or all.
func (s *Session) set(e *LogEvent) (device.Set, error) {
	if !e.Devices.OK {
		return s.fleet.Set(), nil
	}
	return s.fleet.Of(e.Devices.V...)
}

// having returns the devices that have a buffer.
func (s *Session) having(id device.BufferID) (device.Set, error) {
	var ids []device.ID
	for d := range s.fleet.Devices() {
		if _, ok := d.Buffer(id); ok {
			ids = append(ids, d.ID())
		}
	}
	return s.fleet.Of(ids...)
}

// place returns a program as it is defined now, placed for the first of some devices.
// The fleet refuses it on others.
func (s *Session) place(id program.ID, set device.Set) (*program.Program, LogCode, error) {
	def := s.programs[id]
	if def == nil {
		return nil, LogCodeUndefined, fmt.Errorf("program %d: no event has defined it", id)
	}
	var spec l1.Spec
	for first := range set.All() {
		if d, err := s.fleet.Device(first); err == nil { // it was there just now
			spec = d.Spec()
		}
		break
	}
	if p := def.placed[spec]; p != nil {
		return p, "", nil
	}
	b := program.NewBuilder(id)
	for _, cb := range def.cbs {
		b.CB(cb)
	}
	p, err := b.Build(spec)
	if err != nil {
		return nil, "", err
	}
	if def.placed == nil {
		def.placed = map[l1.Spec]*program.Program{}
	}
	def.placed[spec] = p
	return p, "", nil
}

func (s *Session) replace(e *LogEvent) (LogCode, error) {
	p, code, err := s.place(e.With.Or(e.Program), s.fleet.Where(e.Program))
	if err != nil {
		return code, err
	}
	_, err = s.fleet.Replace(e.Program, p)
	return "", err
}

func (s *Session) trace(e *LogEvent) (LogCode, error) {
	id, known := s.traces[e.Trace]
	if e.Kind == LogTraceBegin {
		if known {
			return LogCodeTraceExists, fmt.Errorf("trace %d was begun and not released", e.Trace)
		}
		set, err := s.set(e)
		if err != nil {
			return "", err
		}
		if id, err = s.fleet.BeginTrace(set); err != nil {
			return "", err
		}
		if s.traces == nil {
			s.traces = map[uint64]device.TraceID{}
		}
		s.traces[e.Trace] = id
		return "", nil
	}
	if !known {
		return LogCodeNoTrace, fmt.Errorf("trace %d: %w", e.Trace, device.ErrNoTrace)
	}
	var err error
	switch e.Kind {
	case LogRecord:
		err = s.fleet.Record(id, e.Program)
	case LogTraceEnd:
		err = s.fleet.EndTrace(id)
	case LogReplay:
		err = s.fleet.Replay(id)
	case LogRelease:
		if err = s.fleet.ReleaseTrace(id); err == nil {
			delete(s.traces, e.Trace)
		}
	}
	// The fleet numbers traces for itself; the log's number is what people know.
	if t, ok := errors.AsType[*device.TraceError](err); ok {
		err = &device.TraceError{Trace: device.TraceID(e.Trace), Err: t.Err}
	}
	return "", err
}

func (s *Session) allocate(e *LogEvent, set device.Set) (LogCode, error) {
	b := e.Buffer
	if b.Name == "" {
		b.Name = s.op()
	}
	for _, part := range e.Parts {
		cores := part.Cores.V
		if !part.Cores.OK {
			var err error
			if cores, err = s.grid(set); err != nil {
				return LogCodeSpec, err
			}
		}
		b.Parts = append(b.Parts, device.Part{Cores: cores, Range: part.Range})
	}
	return "", s.fleet.Allocate(b, set)
}

// grid returns the cores that all devices of a set have.
func (s *Session) grid(set device.Set) (l1.CoreSet, error) {
	var cols, rows int
	for id := range set.All() {
		d, err := s.fleet.Device(id)
		if err != nil {
			return l1.CoreSet{}, err
		}
		spec := d.Spec()
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

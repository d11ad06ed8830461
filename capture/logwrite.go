package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A LogWriter writes what happens in a fleet as an event log, so that a Session that
// reads it has an equal fleet. It must be made by NewLogWriter.
//
//	w := capture.NewLogWriter(file)
//	fleet.Observe(w.Observe)
//
// It writes each line with one call of Write, while the fleet is locked: give it
// something with a buffer if that is slow. It keeps the latest definition of each
// program that is registered.
type LogWriter struct {
	// T is the time of the events that follow, a number as it is to be written; ""
	// leaves it out. Process and Tag likewise.
	T, Process, Tag string

	w       io.Writer
	defined map[program.ID]*program.Program // as it stands in the log
	err     error
}

// NewLogWriter returns a LogWriter for a fleet that has no devices yet. It writes the
// header to w at once; see Err.
func NewLogWriter(w io.Writer) *LogWriter {
	l := &LogWriter{w: w, defined: map[program.ID]*program.Program{}}
	version := LogVersion
	l.write(logLine{Event: LogHeader, Version: &version})
	return l
}

// Err returns the first error of writing, after which nothing more is written, or why
// an event cannot be told in a log.
func (l *LogWriter) Err() error { return l.err }

// Observe writes an event. It is made for device.Fleet.Observe and must not be called
// by several goroutines at once.
func (l *LogWriter) Observe(e device.Event) {
	line := logLine{Event: kindOfEvent(e.Kind)}
	if e.Kind != device.EventMeshAdded && e.Kind != device.EventDeviceAdded {
		line.setDevices(e.Set)
	}
	switch e.Kind {
	case device.EventDeviceAdded, device.EventMeshAdded:
		for id := range e.Set.All() {
			if line.Device = &id; e.Kind == device.EventMeshAdded {
				line.Device, line.First, line.Rows, line.Cols = nil, &id, &e.Rows, &e.Cols
			}
			break
		}
		if _, err := l1.ParseArch(string(e.Spec.Arch)); err != nil && e.Spec.Arch != "" {
			l.fail(err)
		}
		line.Spec = newLogSpec(e.Spec)
	case device.EventRegistered:
		l.define(e.Program)
		line.setProgram(e.Program)
	case device.EventReplaced:
		l.define(e.Program)
		line.setProgram(e.Old)
		line.Devices = nil
		if id := e.Program.ID(); id != e.Old.ID() {
			line.With = &id
			delete(l.defined, e.Old.ID())
		}
	case device.EventUnregistered:
		delete(l.defined, e.Program.ID()) // it may still be on other devices: then it is defined again
		line.setProgram(e.Program)
	case device.EventDispatched, device.EventEvicted:
		line.setProgram(e.Program)
	case device.EventRefused:
		if e.Trace != 0 {
			line.setTrace(e.Trace)
			line.Devices = nil
			break
		}
		l.define(e.Program)
		delete(l.defined, e.Program.ID()) // it may be nowhere, and never come again
		line.Event = LogEnqueue
		line.setProgram(e.Program)
	case device.EventTraceBegun:
		line.setTrace(e.Trace)
	case device.EventTraceRecorded:
		line.setTrace(e.Trace)
		line.setProgram(e.Program)
		line.Devices = nil
	case device.EventTraceEnded, device.EventTraceReplayed, device.EventTraceReleased:
		line.setTrace(e.Trace)
		line.Devices = nil
	case device.EventAllocated:
		line.setBuffer(e.Buffer)
	case device.EventFreed:
		line.Buffer = &e.Buffer.ID
	case device.EventDeviceRemoved, device.EventPeaksReset:
	default:
		l.fail(fmt.Errorf("event of kind %d is not known to this version of the event log", e.Kind))
	}
	l.write(line)
}

func kindOfEvent(k device.EventKind) LogKind {
	switch k {
	case device.EventDeviceAdded:
		return LogDevice
	case device.EventMeshAdded:
		return LogMesh
	case device.EventDeviceRemoved:
		return LogRemove
	case device.EventRegistered:
		return LogRegister
	case device.EventUnregistered:
		return LogUnregister
	case device.EventReplaced:
		return LogReplace
	case device.EventDispatched:
		return LogDispatch
	case device.EventEvicted:
		return LogEvict
	case device.EventTraceBegun:
		return LogTraceBegin
	case device.EventTraceRecorded:
		return LogRecord
	case device.EventTraceEnded:
		return LogTraceEnd
	case device.EventTraceReplayed, device.EventRefused:
		return LogReplay
	case device.EventTraceReleased:
		return LogRelease
	case device.EventAllocated:
		return LogAllocate
	case device.EventFreed:
		return LogFree
	case device.EventPeaksReset:
		return LogResetPeaks
	}
	return ""
}

// define writes the definition of a program, unless the log has it. CBs are written as
// they were stated, so that whoever reads the log places them as they were placed.
func (l *LogWriter) define(p *program.Program) {
	if l.defined[p.ID()] == p {
		return
	}
	l.defined[p.ID()] = p
	line := logLine{Event: LogProgram, CBs: []logCB{}}
	line.setProgram(p)
	groups := map[int]int{} // alias, which may be any number -> group
	for _, placed := range p.CBs() {
		cb := logCB{Cores: placed.Cores.String(), Size: placed.Size, Global: placed.Global}
		if placed.Alias != 0 {
			if groups[placed.Alias] == 0 {
				groups[placed.Alias] = len(groups) + 1
			}
			cb.Alias = groups[placed.Alias]
		}
		if placed.Kind != program.CircularBuffer {
			cb.Kind = device.Kind(placed.Kind).Name()
		}
		if placed.Fixed {
			cb.Address = &placed.Address
		}
		for _, index := range placed.Indices {
			cb.Indices = append(cb.Indices, logIndex{index.Number, index.PageSize})
		}
		line.CBs = append(line.CBs, cb)
	}
	l.write(line)
}

func (l *LogWriter) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *LogWriter) write(line logLine) {
	if l.err != nil {
		return
	}
	line.T, line.Process, line.Tag = json.Number(l.T), l.Process, l.Tag
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil { // T is no number
		l.fail(err)
		return
	}
	if b.Len() > MaxNode {
		l.fail(fmt.Errorf("event %s: %w", line.Event, ErrTooLarge))
		return
	}
	_, err := l.w.Write(b.Bytes())
	l.fail(err)
}

// A logLine is an event as it is written.
type logLine struct {
	Event   LogKind     `json:"event"`
	Version *int        `json:"version,omitempty"`
	T       json.Number `json:"t,omitempty"`
	Process string      `json:"process,omitempty"`
	Tag     string      `json:"tag,omitempty"`

	Device *device.ID `json:"device,omitempty"`
	First  *device.ID `json:"first,omitempty"`
	Rows   *int       `json:"rows,omitempty"`
	Cols   *int       `json:"cols,omitempty"`
	Spec   *logSpec   `json:"spec,omitempty"`

	Trace   *device.TraceID  `json:"trace,omitempty"`
	Program *program.ID      `json:"program,omitempty"`
	With    *program.ID      `json:"with,omitempty"`
	Buffer  *device.BufferID `json:"buffer,omitempty"`
	Kind    string           `json:"kind,omitempty"`
	Name    string           `json:"name,omitempty"`
	CBs     []logCB          `json:"cbs,omitzero"`
	Devices []device.ID      `json:"devices,omitzero"`
	Size    uint64           `json:"size,omitempty"`
	Backing bool             `json:"backing,omitempty"`
	Parts   []logPart        `json:"parts,omitempty"`
}

type logSpec struct {
	Name      string  `json:"name"`
	Arch      l1.Arch `json:"arch,omitempty"`
	Cols      int     `json:"cols"`
	Rows      int     `json:"rows"`
	L1Size    uint64  `json:"l1_size"`
	CBBase    uint64  `json:"cb_base"`
	CBAlign   uint64  `json:"cb_align"`
	L1Align   uint64  `json:"l1_align"`
	L1Small   uint64  `json:"l1_small"`
	CBIndices int     `json:"cb_indices"`
}

type logCB struct {
	Kind    string     `json:"kind,omitempty"`
	Cores   string     `json:"cores"`
	Size    uint64     `json:"size"`
	Address *uint64    `json:"address,omitempty"`
	Global  bool       `json:"global,omitempty"`
	Indices []logIndex `json:"indices,omitempty"`
	Alias   int        `json:"alias,omitempty"`
}

type logIndex struct {
	Index    int    `json:"index"`
	PageSize uint64 `json:"page_size,omitempty"`
}

type logPart struct {
	Cores   string `json:"cores"`
	Address uint64 `json:"address"`
	Size    uint64 `json:"size"`
}

func (line *logLine) setDevices(s device.Set) {
	line.Devices = make([]device.ID, 0, s.Len())
	for id := range s.All() {
		line.Devices = append(line.Devices, id)
	}
}

func (line *logLine) setProgram(p *program.Program) {
	id := p.ID()
	line.Program = &id
}

func (line *logLine) setTrace(id device.TraceID) { line.Trace = &id }

func (line *logLine) setBuffer(b device.Buffer) {
	line.Buffer, line.Kind, line.Name, line.Size, line.Backing = &b.ID, b.Kind.Name(), b.Name, b.Size, b.Backing
	for part := range b.All() {
		line.Parts = append(line.Parts, logPart{part.Cores.String(), part.Range.Start, part.Range.Len()})
	}
}

func newLogSpec(s l1.Spec) *logSpec {
	return &logSpec{s.Name, s.Arch, s.Cols, s.Rows, s.L1Size, s.CBBase, s.CBAlign, s.L1Align, s.L1Small, s.CBIndices}
}

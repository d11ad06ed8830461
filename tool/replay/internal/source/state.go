package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// maxDevices is how many devices a source may have: far more than any machine, and few
// enough that no line of a log takes much memory.
const maxDevices = 1 << 16

// A When is where in a source something happened.
type When struct {
	At uint64 // the counter of a node, or a line
	T  json.Number
	Op answer.Name // functions that were running
}

// A State is what the events of a source have made so far: a device.Fleet, and what the fleet does not keep. The zero
// State is empty and ready to use.
type State struct {
	Fleet    device.Fleet
	Captured bool // the header names a source that saw what ran. Else programs are registered, and lines name places
	devices  int
	Programs Definitions
	traces   traces
	Grids    Grids // of devices that have none in the fleet
	Running  Running

	Launched []Launch // by the run at hand
	ran      ranCounts
}

// Apply makes the call that an event stands for. A program is placed for the Spec of the first of the devices that it
// is registered on. What the fleet refuses has changed nothing, and has a code.
func (s *State) Apply(e *event.Event) (event.Code, error) {
	code, err := s.call(e)
	if err != nil && code == "" {
		code = event.CodeOf(err)
	}
	return code, err
}

// OpOf returns the operations in which an event happened.
func (s *State) OpOf(e *event.Event) string {
	if e.Op.OK {
		return shown.Clip(e.Op.V, shown.MaxPath)
	}
	return s.Running.Op()
}

// Now returns when an event happened.
func (s *State) Now(e *event.Event) When {
	return When{e.Node, json.Number(e.T), answer.Name(s.OpOf(e))}
}

// call makes the call. The code is "" where the error has it.
func (s *State) call(e *event.Event) (code event.Code, err error) {
	if e.Refused {
		return "", nil
	}
	switch e.Kind {
	case event.KindQuery, event.KindCBsFreed, event.KindExecuted, event.KindHidden, event.KindAnomaly, event.KindUpstream,
		event.KindEnd:
		return "", nil
	case event.KindHeader:
		if e.Pos.Node > 0 {
			return event.CodeHeaderAgain, errors.New("a header that is not the first line")
		}
		s.Captured = e.Source != ""
		return "", nil
	case event.KindTorn:
		return event.CodeTornLine, errors.New("the last line is cut")
	case event.KindOpStart, event.KindOpEnd:
		return s.Running.operation(e)
	case event.KindDevice:
		return s.addDevices(e, 1, 1)
	case event.KindMesh:
		return s.addDevices(e, e.Rows, e.Cols)
	case event.KindProgram:
		if s.Programs == nil {
			s.Programs = Definitions{}
		}
		s.Programs[e.Program] = &Definition{
			id: e.Program, Name: e.Name, Op: s.OpOf(e), asWritten: e.AsWritten, bases: e.Bases, cbs: e.CBs,
		}
		return "", nil
	case event.KindTraceBegin:
		set, err := s.Set(e)
		return s.traces.begin(e, &s.Fleet, set, err)
	case event.KindRecord, event.KindTraceEnd, event.KindReplay, event.KindRelease:
		return s.traces.call(e, &s.Fleet)
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

func (s *State) addDevices(e *event.Event, rows, cols int) (event.Code, error) {
	spec := e.Spec
	if e.Role != "" || s.Captured {
		spec = Gridless(spec)
	}
	if e.Role != "" {
		if d, err := s.Fleet.Device(e.Device); err == nil {
			return declaredAgain(d, spec)
		}
	}
	if rows > 0 && cols > 0 && rows > (maxDevices-s.devices)/cols {
		return event.CodeTooMany, fmt.Errorf("a log has %d devices at most", maxDevices)
	}
	var err error
	if e.Kind == event.KindDevice {
		_, err = s.Fleet.AddDevice(e.Device, spec)
	} else {
		_, err = s.Fleet.AddMesh(e.Device, rows, cols, spec)
	}
	if err == nil {
		s.devices += rows * cols
		s.Grids.learn(e, rows*cols, s.Captured)
	}
	return "", err
}

// declaredAgain checks a device that its source knows better now. Only what no figure of the fleet depends on may
// differ.
func declaredAgain(d device.Device, spec l1.Spec) (event.Code, error) {
	was := d.Spec()
	spec.Cols, spec.Rows, spec.Name = was.Cols, was.Rows, was.Name
	if was != spec {
		return event.CodeDeviceExists, &device.Error{About: device.AboutDevice, Device: d.ID(), Err: device.ErrDeviceExists}
	}
	return "", nil
}

// on makes a call that names devices.
func (s *State) on(e *event.Event) (event.Code, error) {
	if e.Unknown || e.Again || e.Earlier && len(e.Parts) == 0 && e.Buffer.Hidden.IsEmpty() {
		return "", nil // a buffer that lives nowhere that is known
	}
	set, err := s.Set(e)
	if err != nil {
		return "", err
	}
	switch e.Kind {
	case event.KindRemove:
		if err = s.Fleet.Remove(set); err == nil {
			s.devices -= set.Len()
			for id := range set.All() {
				delete(s.Grids, id)
			}
		}
	case event.KindResetPeaks:
		for id := range set.All() {
			if d, err := s.Fleet.Device(id); err == nil { // it was there just now
				d.ResetPeaks()
			}
		}
	case event.KindHybrid, event.KindLockstep:
		_, err = s.Fleet.SetHybrid(set, e.Kind == event.KindHybrid)
	case event.KindRegister, event.KindEnqueue:
		p, code, err := s.Place(e.Program, set)
		if err == nil {
			err = s.Grids.refuseAny(s.Programs[e.Program], &s.Fleet, set)
		}
		switch {
		case err != nil:
			return code, err
		case e.Kind == event.KindEnqueue:
			_, err = s.Fleet.Enqueue(p, set)
		default:
			_, err = s.Fleet.Register(p, set)
		}
		return "", err
	case event.KindDispatch:
		err = s.Fleet.Dispatch(e.Program, set)
	case event.KindEvict:
		_, err = s.Fleet.Evict(e.Program, set)
	case event.KindUnregister:
		if e.Devices.OK {
			err = s.Fleet.Unregister(e.Program, set)
		} else if s.Fleet.UnregisterAll(e.Program).Len() == 0 {
			return event.CodeNotRegistered, fmt.Errorf("program %d: %w", e.Program, device.ErrNotRegistered)
		}
	case event.KindAllocate:
		return s.allocate(e, set)
	case event.KindFree:
		if _, err = s.Fleet.Free(e.Buffer.ID, set); err == nil && !e.Devices.OK && set.Len() == 0 {
			return event.CodeNotAllocated, fmt.Errorf("buffer %d: %w", e.Buffer.ID, device.ErrNotAllocated)
		}
	}
	return "", err
}

// Place returns a program as it is defined now, placed for the first of some devices.
// The fleet refuses it on others.
func (s *State) Place(id program.ID, set device.Set) (*program.Program, event.Code, error) {
	def := s.Programs[id]
	if def == nil {
		return nil, event.CodeUndefined, errUndefined(id)
	}
	spec, same := set.Spec()
	if !same {
		for first := range set.All() {
			if d, err := s.Fleet.Device(first); err == nil { // it was there just now
				spec = d.Spec()
			}
			break
		}
	}
	p, err := def.Placed(spec)
	return p, "", err
}

// Set returns the devices that an event names, or all. A free that names none is about the devices that have the
// buffer.
func (s *State) Set(e *event.Event) (device.Set, error) {
	switch {
	case !e.Devices.OK && e.Kind == event.KindFree:
		return s.Fleet.Holding(e.Buffer.ID), nil
	case !e.Devices.OK:
		return s.Fleet.Set(), nil
	}
	return s.Fleet.Of(e.Devices.V...)
}

func (s *State) replace(e *event.Event) (event.Code, error) {
	p, code, err := s.Place(e.With.Or(e.Program), s.Fleet.Where(e.Program))
	if err != nil {
		return code, err
	}
	_, err = s.Fleet.Replace(e.Program, p)
	return "", err
}

// allocate counts a buffer, or lays one anew whose place is known better now.
func (s *State) allocate(e *event.Event, set device.Set) (event.Code, error) {
	b := e.Buffer
	if b.Name == "" {
		b.Name = s.OpOf(e)
	}
	var err error
	if b.Parts, err = s.PartsOf(e, set); err != nil {
		return event.CodeSpec, err
	}
	if e.Corrects {
		return "", correct(&s.Fleet, b, set)
	}
	return "", s.Fleet.Allocate(b, set)
}

// PartsOf returns where a buffer lies. A part without cores is on all that the devices have in common.
func (s *State) PartsOf(e *event.Event, set device.Set) (out []fit.Part, err error) {
	for _, part := range e.Parts {
		if part.Range.IsEmpty() && !part.Cores.OK && !e.Buffer.Unsized {
			continue // it lies nowhere, and where that is does not matter
		}
		cores := part.Cores.V
		if !part.Cores.OK {
			if cores, err = s.Grids.Common(&s.Fleet, set); err != nil {
				return nil, err
			}
		}
		out = append(out, fit.Part{Cores: cores, Range: part.Range})
	}
	return out, nil
}

// correct lays a buffer anew on all devices of a set, or on none. Devices may have different ones under its id.
func correct(f *device.Fleet, b fit.Buffer, set device.Set) error {
	var was []func() error // puts back
	for id := range set.All() {
		if d, err := f.Device(id); err == nil { // it was there just now
			if old, ok := d.Buffer(b.ID); ok {
				was = append(was, func() error { return f.Allocate(old, d.Set()) })
			}
		}
	}
	if _, err := f.Free(b.ID, set); err != nil {
		return err
	}
	err := f.Allocate(b, set)
	if err != nil {
		for _, put := range was {
			err = errors.Join(err, put()) // that fitted before
		}
	}
	return err
}

// run registers a program and makes it resident: it did run, whatever a check says. A run that goes on takes the
// place of its shorter form. Of an aborted one nothing is resident.
//
// Outside the grid of one of its devices it is a device.ErrGrid, and registered nowhere. Its shorter form is not
// registered any more.
func (s *State) run(e *event.Event) (event.Code, error) {
	if def := s.Programs[e.Program]; def != nil && e.Continues && len(e.On) > 0 {
		def.shorter = s.Programs[s.ran.latest[e.On[0].Device]]
	}
	all, code, err := s.Programs.launches(e, &s.Fleet)
	if err != nil {
		return code, err
	}
	s.Launched = all
	if def := s.Programs[e.Program]; def != nil {
		def.shorter = nil // which no one needs any more
	}
	for _, on := range e.On {
		if err = s.Grids.refuse(s.Programs[e.Program], &s.Fleet, on.Device); err != nil {
			break
		}
	}
	if err == nil {
		err = registerAll(&s.Fleet, all)
	}
	if err != nil && !errors.Is(err, device.ErrGrid) {
		return "", err
	}
	if !e.Inferred {
		for _, on := range e.On {
			s.ran.add(on.Device, e, &s.Fleet)
		}
	}
	if err != nil {
		return "", err
	}
	for _, l := range all {
		for _, p := range l.content.Programs {
			if e.Aborted {
				break
			}
			if err := s.Fleet.Dispatch(p.ID(), l.set); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// Judge judges a program on some devices as the fleet does, or beside the grids that
// it does not have.
func (s *State) Judge(p *program.Program, set device.Set) (fit.Verdict, error) {
	v, err := s.Fleet.Check(p, set)
	if err != nil || s.Grids.refuseAny(s.Programs[p.ID()], &s.Fleet, set) == nil {
		return v, err
	}
	places, err := s.Grids.places(&s.Fleet, set)
	if err != nil {
		return v, err
	}
	return fit.Check(p, places...), nil
}

// maxOps is how many of the operations that run inside each other are named.
const maxOps = 100

// A Running has the operations of one log that run now, outermost first.
type Running struct {
	Ops    []string
	path   string // of ops, made when it is read; "" after a change
	deeper int    // operations that run inside the last of ops and have no name there
}

// Op returns the operations that are running, outermost first. The last one is whole. Those
// around it are clipped to 1 KiB together: names nested 100 deep would fill memory otherwise.
func (r *Running) Op() string {
	if last := len(r.Ops) - 1; last >= 0 && r.path == "" {
		if r.path = r.Ops[last]; last > 0 {
			r.path = shown.ClipJoined(r.Ops[:last], " > ", shown.MaxOutput) + " > " + r.path
		}
	}
	return r.path
}

// operation starts or ends an operation.
func (r *Running) operation(e *event.Event) (event.Code, error) {
	switch {
	case e.Kind == event.KindOpStart && len(r.Ops) == maxOps:
		r.deeper++
	case e.Kind == event.KindOpStart:
		r.Ops, r.path = append(r.Ops, shown.Clip(e.Name, shown.MaxName)), ""
	case r.deeper > 0:
		r.deeper--
	case len(r.Ops) > 0:
		r.Ops, r.path = r.Ops[:len(r.Ops)-1], ""
	default:
		return event.CodeNoOp, errors.New("no operation is running")
	}
	return "", nil
}

// maxText is the length in bytes that no text of a refusal exceeds.
const maxText = 300

// Refusal says in one line of at most 300 bytes why an event was refused. The name is of its program.
func Refusal(e *event.Event, name string, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: %s", e.Pos.Line, shown.Name(string(e.Kind), 60))
	if name != "" {
		fmt.Fprintf(&b, " (%s)", shown.Name(name, 40))
	}
	b.WriteString(": ")
	b.WriteString(shown.Escape(err.Error()))
	return shown.Head(b.String(), maxText)
}

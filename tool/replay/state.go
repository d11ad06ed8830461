package replay

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

// A when is where in a source something happened.
type when struct {
	at uint64 // the counter of a node, or a line
	t  json.Number
	op answer.Name // functions that were running
}

// A state is what the events of a source have made so far: a device.Fleet, and what the fleet does not keep. The zero
// state is empty and ready to use.
type state struct {
	fleet    device.Fleet
	source   string // of the header: "" for a log of its own
	devices  int
	programs definitions
	traces   traces
	grids    grids // of devices that have none in the fleet
	running  running

	launched []launched // by the run at hand
	ran      ranCounts
}

// apply makes the call that an event stands for. A program is placed for the Spec of the first of the devices that it
// is registered on. What the fleet refuses has changed nothing, and has a code.
func (s *state) apply(e *event.Event) (event.Code, error) {
	code, err := s.call(e)
	if err != nil && code == "" {
		code = event.CodeOf(err)
	}
	return code, err
}

// opOf returns the operations in which an event happened.
func (s *state) opOf(e *event.Event) string {
	if e.Op.OK {
		return shown.Clip(e.Op.V, shown.MaxPath)
	}
	return s.running.op()
}

// now returns when an event happened.
func (s *state) now(e *event.Event) when {
	return when{e.Node, json.Number(e.T), answer.Name(s.opOf(e))}
}

// call makes the call. The code is "" where the error has it.
func (s *state) call(e *event.Event) (code event.Code, err error) {
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
		s.source = e.Source
		return "", nil
	case event.KindTorn:
		return event.CodeTornLine, errors.New("the last line is cut")
	case event.KindOpStart, event.KindOpEnd:
		return s.running.operation(e)
	case event.KindDevice:
		return s.addDevices(e, 1, 1)
	case event.KindMesh:
		return s.addDevices(e, e.Rows, e.Cols)
	case event.KindProgram:
		if s.programs == nil {
			s.programs = definitions{}
		}
		s.programs[e.Program] = &definition{
			id: e.Program, name: e.Name, op: s.opOf(e), asWritten: e.AsWritten, bases: e.Bases, cbs: e.CBs,
		}
		return "", nil
	case event.KindTraceBegin:
		set, err := s.set(e)
		return s.traces.begin(e, &s.fleet, set, err)
	case event.KindRecord, event.KindTraceEnd, event.KindReplay, event.KindRelease:
		return s.traces.call(e, &s.fleet)
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

func (s *state) addDevices(e *event.Event, rows, cols int) (event.Code, error) {
	spec := e.Spec
	if e.Role != "" || s.source != "" {
		spec = gridless(spec)
	}
	if e.Role != "" {
		if d, err := s.fleet.Device(e.Device); err == nil {
			return declaredAgain(d, spec)
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
		s.grids.learn(e, rows*cols, s.source != "")
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
func (s *state) on(e *event.Event) (event.Code, error) {
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
			err = s.grids.refuseAny(s.programs[e.Program], &s.fleet, set)
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
		if _, err = s.fleet.Free(e.Buffer.ID, set); err == nil && !e.Devices.OK && set.Len() == 0 {
			return event.CodeNotAllocated, fmt.Errorf("buffer %d: %w", e.Buffer.ID, device.ErrNotAllocated)
		}
	}
	return "", err
}

// place returns a program as it is defined now, placed for the first of some devices.
// The fleet refuses it on others.
func (s *state) place(id program.ID, set device.Set) (*program.Program, event.Code, error) {
	def := s.programs[id]
	if def == nil {
		return nil, event.CodeUndefined, errUndefined(id)
	}
	spec, same := set.Spec()
	if !same {
		for first := range set.All() {
			if d, err := s.fleet.Device(first); err == nil { // it was there just now
				spec = d.Spec()
			}
			break
		}
	}
	p, err := def.placed(spec)
	return p, "", err
}

// set returns the devices that an event names, or all. A free that names none is about the devices that have the
// buffer.
func (s *state) set(e *event.Event) (device.Set, error) {
	switch {
	case !e.Devices.OK && e.Kind == event.KindFree:
		return s.fleet.Holding(e.Buffer.ID), nil
	case !e.Devices.OK:
		return s.fleet.Set(), nil
	}
	return s.fleet.Of(e.Devices.V...)
}

func (s *state) replace(e *event.Event) (event.Code, error) {
	p, code, err := s.place(e.With.Or(e.Program), s.fleet.Where(e.Program))
	if err != nil {
		return code, err
	}
	_, err = s.fleet.Replace(e.Program, p)
	return "", err
}

// allocate counts a buffer, or lays one anew whose place is known better now.
func (s *state) allocate(e *event.Event, set device.Set) (event.Code, error) {
	b := e.Buffer
	if b.Name == "" {
		b.Name = s.opOf(e)
	}
	var err error
	if b.Parts, err = s.partsOf(e, set); err != nil {
		return event.CodeSpec, err
	}
	if e.Corrects {
		return "", correct(&s.fleet, b, set)
	}
	return "", s.fleet.Allocate(b, set)
}

// partsOf returns where a buffer lies. A part without cores is on all that the devices have in common.
func (s *state) partsOf(e *event.Event, set device.Set) (out []fit.Part, err error) {
	for _, part := range e.Parts {
		if part.Range.IsEmpty() && !part.Cores.OK && !e.Buffer.Unsized {
			continue // it lies nowhere, and where that is does not matter
		}
		cores := part.Cores.V
		if !part.Cores.OK {
			if cores, err = s.grids.common(&s.fleet, set); err != nil {
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
func (s *state) run(e *event.Event) (event.Code, error) {
	if def := s.programs[e.Program]; def != nil && e.Continues && len(e.On) > 0 {
		def.shorter = s.programs[s.ran.latest[e.On[0].Device]]
	}
	all, code, err := s.programs.launches(e, &s.fleet)
	if err != nil {
		return code, err
	}
	s.launched = all
	if def := s.programs[e.Program]; def != nil {
		def.shorter = nil // which no one needs any more
	}
	for _, on := range e.On {
		if err = s.grids.refuse(s.programs[e.Program], &s.fleet, on.Device); err != nil {
			break
		}
	}
	if err == nil {
		err = registerAll(&s.fleet, all)
	}
	if err != nil && !errors.Is(err, device.ErrGrid) {
		return "", err
	}
	if !e.Inferred {
		for _, on := range e.On {
			s.ran.add(on.Device, e, &s.fleet)
		}
	}
	if err != nil {
		return "", err
	}
	for _, l := range all {
		for _, p := range l.content.programs {
			if e.Aborted {
				break
			}
			if err := s.fleet.Dispatch(p.ID(), l.set); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// judge judges a program on some devices as the fleet does, or beside the grids that
// it does not have.
func (s *state) judge(p *program.Program, set device.Set) (fit.Verdict, error) {
	v, err := s.fleet.Check(p, set)
	if err != nil || s.grids.refuseAny(s.programs[p.ID()], &s.fleet, set) == nil {
		return v, err
	}
	places, err := s.grids.places(&s.fleet, set)
	if err != nil {
		return v, err
	}
	return fit.Check(p, places...), nil
}

// maxOps is how many of the operations that run inside each other are named.
const maxOps = 100

// A running has the operations of one log that run now, outermost first.
type running struct {
	ops    []string
	path   string // of ops, made when it is read; "" after a change
	deeper int    // operations that run inside the last of ops and have no name there
}

// op returns the operations that are running, outermost first. The last one is whole. Those
// around it are clipped to 1 KiB together: names nested 100 deep would fill memory otherwise.
func (r *running) op() string {
	if last := len(r.ops) - 1; last >= 0 && r.path == "" {
		if r.path = r.ops[last]; last > 0 {
			r.path = shown.ClipJoined(r.ops[:last], " > ", shown.MaxOutput) + " > " + r.path
		}
	}
	return r.path
}

// operation starts or ends an operation.
func (r *running) operation(e *event.Event) (event.Code, error) {
	switch {
	case e.Kind == event.KindOpStart && len(r.ops) == maxOps:
		r.deeper++
	case e.Kind == event.KindOpStart:
		r.ops, r.path = append(r.ops, shown.Clip(e.Name, shown.MaxName)), ""
	case r.deeper > 0:
		r.deeper--
	case len(r.ops) > 0:
		r.ops, r.path = r.ops[:len(r.ops)-1], ""
	default:
		return event.CodeNoOp, errors.New("no operation is running")
	}
	return "", nil
}

// maxText is the length in bytes that no text of a refusal exceeds.
const maxText = 300

// refusal says in one line of at most 300 bytes why an event was refused. The name is of its program.
func refusal(e *event.Event, name string, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: %s", e.Pos.Line, shown.Name(string(e.Kind), 60))
	if name != "" {
		fmt.Fprintf(&b, " (%s)", shown.Name(name, 40))
	}
	b.WriteString(": ")
	b.WriteString(shown.Escape(err.Error()))
	return shown.Head(b.String(), maxText)
}

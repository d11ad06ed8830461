package replay

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"iter"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/replay/internal/same"
)

// Options say what a Result is to have besides. The zero value asks for nothing.
type Options struct {
	// Only narrows what the Result says, Held left out.
	Only Filter
	// Ask, if not nil, asks what holds a byte; Result.Held answers.
	Ask *Question
	// Runs asks for Result.Runs.
	Runs bool
	// Buffers asks for Device.ProgramsBuffers.
	Buffers bool
	// Timeline asks for Result.Timeline. It costs a look at the figures of each device that an
	// event changes.
	Timeline bool
	// Moments asks for Timeline.Moments. Those of a device name at most so many residents, each on every
	// set of cores on which it lay; up to 480 moments may name four times as many, and one any number. It
	// needs Timeline.
	Moments int
	// Groups asks for L1Peak.Groups.
	Groups bool
	// OnePeak leaves out the composition of all peaks but the highest one, the first of equals:
	// L1Peak.Kinds, Shared, Residents, Groups, WithKernels, Top and Largest. A composition costs
	// the residents of a core, for each device that differs from the others; L1Peak.Composed
	// has it for those that are asked. It leaves out DeviceL1.Groups, which DeviceL1.LaidGroups has.
	OnePeak bool
	// GroupsAt asks for DeviceL1.Groups: what lay on every core after the node with this
	// counter, or that line of a log.
	GroupsAt event.Opt[uint64]
	// Scarce asks for DeviceL1.Scarce: when so much of L1 was free. It costs a look at the buffers
	// of a device where that may have come; after 2^26 buffers no more is looked at.
	Scarce []Scarcity
	// Room, if not nil, asks for the room of one more L1 buffer; Result.Room answers. It costs
	// memory for each distinct place of a buffer.
	Room *RoomQuestion
	// Progress, if not nil, is called now and then with the place of an event: the bytes and nodes read.
	Progress func(event.Pos)
}

// Run makes the Result of events to their end. The name file is only shown. Errors are
// those of the events, and an *event.InputError for sums beyond 2^63-1. Memory grows
// with the ids of programs and with live buffers, not with the number of events.
func Run(file string, events iter.Seq2[*event.Event, error], opt Options) (*Result, error) {
	r, count := newReplay(file, opt), 0
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if count++; opt.Progress != nil && count%4096 == 0 {
			opt.Progress(e.Pos)
		}
		if e.Kind == event.KindAgain {
			r = newReplay(file, opt)
			continue
		}
		if err := r.event(e); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// A replay is a Result in the making: a fleet that follows events, and for each of its
// devices a row of what the fleet does not keep.
type replay struct {
	opt     Options
	session Session
	told    []device.Event // by the fleet, because of the event at hand
	deaf    bool           // a change is only to be looked through

	result   Result
	common   *commonRows // of all devices
	rows     rows
	due      dueMoments
	contents map[*program.Program]*content
	traces   map[device.TraceID][]*program.Program
	forgets  forgetting

	// By kind of buffer. What is registered and alive in a log is the same: until it is
	// unregistered. In a capture what ran stays registered, and is alive until its free.
	registered, alive [numKinds]*device.Fleet
	executed          *device.Fleet            // what was executed where it is not what was dispatched
	strays            map[device.ID]Dispatched // executions on devices that nobody had met

	beyond struct { // the last buffer that ended beyond L1
		id fit.BufferID
		at uint64
	}
	checks checks
	runs   runs
	rooms  rooms
	notes  notes
	seeds  [2]maphash.Seed // of sums of what lives on a device
	spelt  spelling
	ranAs  struct { // the last one that was asked for
		of   runName
		name sum128
	}
	count   int64 // of events
	begun   bool  // there was something besides the header
	ended   bool
	asked   bool // Options.Ask is answered
	grouped bool // Options.GroupsAt is answered
	looks   int  // buffers that were looked at for Options.Scarce

	specs       map[l1.Spec]*l1.Spec // of the devices of a log, each once
	respecified bool                 // a device came back as another one
}

func newReplay(file string, opt Options) *replay {
	r := &replay{
		opt: opt, contents: map[*program.Program]*content{},
		traces: map[device.TraceID][]*program.Program{}, executed: device.NewFleet(), strays: map[device.ID]Dispatched{},
		common: &commonRows{}, forgets: forgetting{patience: patience}, checks: newChecks(), notes: notes{},
		rooms: rooms{limits: []*RoomLimit{fit.Nobody: nil}}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	r.rows = rows{Map: same.New(r.split), fleet: &r.session.fleet, fresh: map[likeness]*row{}}
	r.result.File, r.result.Addresses, r.result.Only = file, AddressesNone, opt.Only
	r.session.fleet.Observe(func(e device.Event) {
		if !r.deaf {
			r.told = append(r.told, e)
		}
	})
	r.registered[program.CircularBuffer] = &r.session.fleet
	return r
}

// ofRuns reports whether the source saw what ran, and not how it was planned.
func (r *replay) ofRuns() bool { return r.session.source != "" }

// event applies an event and takes in what it led to.
func (r *replay) event(e *event.Event) error {
	r.count++
	known := len(r.notes)
	err := r.happens(e)
	if e.T != "" && len(r.notes) > known {
		r.notes.date(at(e), json.Number(e.T))
	}
	r.forget()
	return err
}

func (r *replay) happens(e *event.Event) error {
	r.judge(e)
	if r.opt.Ask != nil && !r.asked && beyond(r.opt.Ask.At, e) {
		r.ask()
	}
	if !r.grouped && beyond(r.opt.GroupsAt, e) {
		r.group()
	}
	if beyond(r.due.at, e) {
		r.keepMoments()
	}
	if e.Kind == event.KindHeader && !r.begun {
		r.header(e)
		return nil
	}
	r.begun = true
	r.result.Nodes = max(r.result.Nodes, e.Pos.Node+1) // unless an end says otherwise
	r.before(e)
	r.deaf = e.Kind == event.KindResetPeaks // which is told of each device for itself
	err := r.session.Apply(e)
	r.deaf = false
	if err != nil && e.Corrects {
		r.told = r.told[:0] // the buffer was taken off and put back
	}
	if err := r.notice(e, err); err != nil {
		return err
	}
	if err == nil || isType[fit.Verdict](err) || errors.Is(err, device.ErrGrid) {
		if err := r.enqueue(e); err != nil {
			return err
		}
	}
	for _, happened := range r.told {
		if err := r.take(e, happened); err != nil {
			return err
		}
	}
	if r.opt.Timeline {
		r.sample(e)
	}
	r.told = r.told[:0]
	switch {
	case err == nil:
		return r.source(e)
	case e.Kind == event.KindRun && errors.Is(err, device.ErrGrid):
		return r.run(e, true) // it did run
	}
	return nil // it changed nothing
}

func (r *replay) header(e *event.Event) {
	_ = r.session.Apply(e) // the first one
	r.result.Log = !r.ofRuns()
	for kind := range numKinds {
		if r.registered[kind] == nil {
			r.registered[kind] = device.NewFleet()
		}
		if r.alive[kind] = r.registered[kind]; r.ofRuns() {
			r.alive[kind] = device.NewFleet()
		}
	}
}

// source takes in the events that are no calls of the fleet, and the fields of the others
// that the fleet does not keep.
func (r *replay) source(e *event.Event) error {
	switch e.Kind {
	case event.KindMesh:
		r.result.Layouts = append(r.result.Layouts, MeshLayout{uint64(e.Device), e.Rows, e.Cols})
	case event.KindDevice:
		if e.Role != "" {
			r.declare(e)
		}
	case event.KindRun:
		return r.run(e, false)
	case event.KindCBsFreed:
		return r.cbsFreed(e)
	case event.KindExecuted:
		return r.execute(e)
	case event.KindAllocate:
		return r.allocated(e)
	case event.KindFree:
		r.freedUnknown(e)
	case event.KindHidden:
		r.hidden(e)
	case event.KindAnomaly:
		r.anomaly(e, false)
	case event.KindResetPeaks:
		set, _ := r.session.set(e) // it was there just now
		for _, d := range r.rows.of(set) {
			r.reset(d, e)
		}
	case event.KindUpstream:
		r.result.Upstream = e.Upstream
	case event.KindEnd:
		r.ended = true
		r.result.Nodes, r.result.Rank, r.result.Windows = e.Nodes, e.Rank, slices.Clone(e.Windows)
		r.result.Spec = Spec{Spec: e.Spec, ArchFrom: e.From.Arch, BaseFrom: e.From.Base, SmallFrom: smallFrom(e)}
	}
	return nil
}

// before writes down the peaks that an event could hide, and keeps those that the fleet
// is about to forget.
func (r *replay) before(e *event.Event) {
	switch e.Kind {
	case event.KindRun:
		for _, on := range e.On {
			r.settle(r.rows.Get(on.Device))
		}
		return
	case event.KindReplay:
		for _, d := range r.rows.All() {
			r.settle(d)
		}
		return
	case event.KindAllocate, event.KindFree, event.KindEnqueue, event.KindDispatch, event.KindEvict, event.KindRemove, event.KindResetPeaks:
	default:
		return
	}
	var set device.Set
	var err error
	if e.Kind == event.KindFree && !e.Devices.OK {
		set = r.session.fleet.Holding(e.Buffer.ID)
	} else {
		set, err = r.session.set(e)
	}
	if err != nil {
		return // it will be refused
	}
	if e.Kind == event.KindAllocate && !e.Corrects {
		return // it may make the peak a higher one
	}
	for _, d := range r.rows.of(set) {
		if e.Kind == event.KindRemove {
			r.keep(d)
		}
		r.settle(d)
	}
}

// notice counts what is odd about an event.
func (r *replay) notice(e *event.Event, err error) error {
	if e.Anomaly.Has(event.AnomalyDuplicateKey) {
		r.notes.note(CodeDuplicateKey, at(e), "")
	}
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok {
		return nil
	}
	code, detail := CodeEventRefused, refused.Error()
	if r.ofRuns() { // whose lines nobody knows
		detail = string(e.Kind) + ": " + shown.Escape(refused.Err.Error())
	}
	switch refused.Code {
	case event.CodeDoesNotFit:
		return nil // which Checks say
	case event.CodeUnknownEvent:
		r.notes.note(CodeUnknownType, at(e), detail)
		r.notes[CodeUnknownType].Hidden = true // it may be anything
		return nil
	case event.CodeGrid:
		if e.Kind == event.KindRun || e.Kind == event.KindEnqueue {
			code = CodeOutsideGrid // which Checks say too
			if e, ok := errors.AsType[*device.Error](err); ok && r.ofRuns() {
				detail = e.Err.Error()
			}
		}
	case event.CodeCannotTell:
		r.result.doubted++
	case event.CodeNoOp:
		code = CodeEndWithoutStart
	case event.CodeNotAllocated:
		code = CodeFreeUnknown
	case event.CodeTornLine:
		code = CodeTornLine
	case event.CodeOverflow:
		if r.ofRuns() {
			return r.tooMuch(e, refused.Err)
		}
	}
	r.notes.note(code, at(e), detail)
	return nil
}

// inputError is the error of an event that no Result can have.
func (r *replay) inputError(e *event.Event, reason string, err error) error {
	if r.ofRuns() {
		return &event.InputError{File: r.result.File, Node: int64(e.Node), Reason: reason, Err: err}
	}
	return &event.InputError{File: r.result.File, Line: e.Pos.Line, Offset: e.Pos.Offset, Node: -1, Reason: reason, Err: err}
}

// tooMuch is the error of a sum that no figure can hold. A fleet may have another error.
func (r *replay) tooMuch(e *event.Event, err error) error {
	if err != nil && !errors.Is(err, device.ErrOverflow) {
		return r.internal(e, err)
	}
	return r.inputError(e, "sizes sum to more than 2^63-1 bytes", err)
}

func (r *replay) internal(e *event.Event, err error) error { return r.inputError(e, err.Error(), err) }

// hidden takes in what a source cannot show.
func (r *replay) hidden(e *event.Event) {
	if e.Code == hiddenApart {
		for _, id := range e.Devices.V {
			r.result.Checks.Apart = append(r.result.Checks.Apart, uint64(id))
		}
		return
	}
	if code := Code(e.Code); code == CodeCacheHit || code == CodeFreeWithoutCBs {
		r.result.Hits.Unknown += max(e.Count, 1)
	}
	r.anomaly(e, true)
}

// anomaly takes in what a source found odd of itself. It is about the whole of it if it
// has no place there.
func (r *replay) anomaly(e *event.Event, hidden bool) {
	a := AnomalyCount{Code: Code(e.Code), Count: max(e.Count, 1), First: NodeAt(at(e)), Detail: e.Detail, Hidden: hidden}
	if e.Pos.Node < 0 {
		a.First = -1
	}
	if a.Code == CodeInferred {
		r.result.Hits.Inferred += a.Count
	}
	r.notes.add(a)
}

// hiddenApart is the code of L1 buffers under ids that no check looks at.
const hiddenApart = "buffers-apart"

// opOf returns the operations in which an event happened.
func (r *replay) opOf(e *event.Event) Name { return Name(r.session.opOf(e)) }

// label names a program of a log for people.
func (r *replay) label(p *program.Program, e *event.Event) Name {
	name := Name(p.Name())
	if def := r.session.programs[p.ID()]; name == "" && def != nil {
		name = Name(def.name) // of a definition that was not placed
	}
	if name == "" {
		name = Name("program " + strconv.FormatUint(uint64(p.ID()), 10))
	}
	if op := r.opOf(e); op != "" {
		return op + " > " + name
	}
	return name
}

// contentOf describes a program of a log.
func (r *replay) contentOf(p *program.Program) (*content, error) {
	if c := r.contents[p]; c != nil {
		return c, nil
	}
	fixed := map[int]bool{}
	for i, cb := range p.CBs() {
		fixed[i] = cb.Fixed
	}
	c, err := newContent([]*program.Program{p}, func(_, cb int) bool { return !fixed[cb] })
	if err != nil {
		return nil, err
	}
	c.asTold(p, r.session.programs[p.ID()])
	r.contents[p] = c
	r.forgets.programs.came++
	return c, nil
}

// notes are anomalies by code.
type notes map[Code]*AnomalyCount

// note counts an anomaly. The first one that is noted stays the first.
func (n notes) note(code Code, at int64, detail string) { n.noteAll(code, at, detail, 1) }

// noteAll counts an anomaly that so many devices have.
func (n notes) noteAll(code Code, at int64, detail string, devices int) {
	have := n[code]
	if have == nil {
		have = &AnomalyCount{Code: code, First: NodeAt(at), Detail: detail}
		n[code] = have
	}
	have.Count += int64(devices)
}

// date gives the anomalies that were first noted at an event its time.
func (n notes) date(at int64, t json.Number) {
	for _, have := range n {
		if have.First == NodeAt(at) {
			have.T = t
		}
	}
}

// add takes in the anomalies of a code that a source has counted.
func (n notes) add(a AnomalyCount) {
	have := n[a.Code]
	if have == nil {
		n[a.Code] = &a
		return
	}
	have.Count += a.Count
	have.Hidden = have.Hidden || a.Hidden
	if a.First < have.First && a.First >= 0 {
		have.First, have.T, have.Detail = a.First, a.T, a.Detail
	}
}

// at is the place of an event in its source: the counter of a node, or a line.
func at(e *event.Event) int64 { return int64(e.Node) }

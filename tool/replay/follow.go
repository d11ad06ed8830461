package replay

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
	"github.com/cbl1/cbl1/tool/tensor"
)

// A replay is a Result in the making: a fleet that follows events, and stages that get its changes. No stage knows
// another one.
type replay struct {
	state   source.State
	changes []device.Notice // operations of the fleet for the current event
	result  answer.Result
	rows    rows
	specs   specs
	notes   notes
	seen    struct { // of the source
		begun bool // there was something besides the header
		ended bool
	}

	catalogue   catalogue
	books       books
	naming      naming
	outside     outside
	executions  executions
	marker      marker
	checks      checks
	recording   recording
	tensors     *tensor.Table
	subscribers *subscribers
}

// event applies an event and passes its effects to the stages.
func (r *replay) event(e *event.Event) error {
	r.marker.count++
	known := len(r.notes)
	if err := r.happens(e); err != nil {
		return r.failed(e, err)
	}
	if e.T != "" && len(r.notes) > known {
		r.notes.date(at(e), json.Number(e.T))
	}
	r.forget()
	return nil
}

// happens applies an event. Some stages see the fleet before it, and others see its effects.
func (r *replay) happens(e *event.Event) error {
	r.judge(e)
	for _, before := range r.subscribers.before {
		before(e, &r.rows, &r.marker)
	}
	if e.Kind == event.KindHeader && !r.seen.begun {
		_, _ = r.state.Apply(e) // the first one
		r.books.ledger.begin()
		return nil
	}
	r.seen.begun = true
	r.result.Nodes = max(r.result.Nodes, e.Pos.Node+1) // unless an end has another number
	r.before(e)
	code, err := r.state.Apply(e)
	if err != nil && e.Corrects {
		r.changes = r.changes[:0] // the buffer was taken off and put back
	}
	if err := r.notice(e, code, err); err != nil {
		return err
	}
	if judged(err) {
		if err := r.enqueue(e); err != nil {
			return err
		}
	}
	for _, happened := range r.changes {
		if err := r.take(e, happened); err != nil {
			return err
		}
	}
	for _, changed := range r.subscribers.changed {
		changed(r.changed(e))
	}
	r.changes = r.changes[:0]
	switch {
	case err == nil:
		r.recording.take(e, func() []device.ID { return slices.Collect(r.state.Fleet.Set().All()) })
		if r.recording.on && e.Kind == event.KindRegister {
			for _, registered := range r.subscribers.registered {
				registered(r.rows.named(e), r.state.Programs[e.Program], e)
			}
		}
		return r.source(e)
	case e.Kind == event.KindRun && errors.Is(err, device.ErrGrid):
		r.run(e, true) // it did run
	}
	return nil // it changed nothing
}

// changed returns the rows that an event has changed, and the operation that did it.
func (r *replay) changed(e *event.Event) (out []*row, now source.When) {
	now = r.state.Now(e)
	named := r.state.Captured
	for _, notice := range r.changes {
		out = append(out, r.rows.of(notice.Set)...)
		switch {
		case named:
		case notice.Program != nil:
			now, named = r.runs(notice.Program, e), true
		case now.Op == "":
			now.Op = answer.Name(notice.Buffer.Name)
		}
	}
	return out, now
}

// source handles the events that are no calls of the fleet, and the fields of others that the fleet does not keep.
func (r *replay) source(e *event.Event) error {
	switch e.Kind {
	case event.KindMesh:
		r.result.Layouts = append(r.result.Layouts, answer.MeshLayout{First: uint64(e.Device), Rows: e.Rows, Cols: e.Cols})
	case event.KindDevice:
		if e.Role != "" {
			r.declare(e)
		}
	case event.KindRun:
		r.run(e, false)
	case event.KindCBsFreed:
		for _, d := range r.rows.named(e) {
			if err := r.books.free(d); err != nil {
				return err
			}
		}
	case event.KindExecuted:
		return r.executions.execute(e.Devices.V, &r.rows, func(d *row) (*source.Content, error) {
			return r.state.Programs.Executed(e, d.dev, r.state.Grids, &r.state.Fleet)
		})
	case event.KindAllocate:
		return r.outside.allocated(e, &r.rows, r.notes)
	case event.KindFree:
		r.outside.freed(e, r.checks.result.Runs > 0, r.notes)
	case event.KindHidden, event.KindAnomaly:
		if e.Kind == event.KindHidden && e.Code == hiddenApart {
			for _, id := range e.Devices.V {
				r.checks.result.Apart = append(r.checks.result.Apart, uint64(id))
			}
			return nil
		}
		r.result.Hits.Count(e)
		r.notes.anomaly(e)
	case event.KindResetPeaks:
		set, _ := r.state.Set(e) // it was there just now
		for _, d := range r.rows.of(set) {
			r.books.reset(d)
			r.marker.reset(d, r.state.Now(e))
		}
	case event.KindUpstream:
		r.result.Upstream = e.Upstream
	case event.KindEnd:
		r.seen.ended = true
		r.result.Nodes, r.result.Rank = e.Nodes, e.Rank
		r.specs.of = answer.Spec{Spec: e.Spec, ArchFrom: e.From.Arch, BaseFrom: e.From.Base, SmallFrom: smallFrom(e)}
	}
	return nil
}

// hiddenApart is the code of L1 buffers under ids that no check covers.
const hiddenApart = string(answer.CodeBuffersApart)

// before keeps the marks that an event could hide, or that the fleet will forget with it.
func (r *replay) before(e *event.Event) {
	switch e.Kind {
	case event.KindRun:
		for _, on := range e.On {
			r.marker.keep(r.rows.Get(on.Device))
		}
		return
	case event.KindReplay:
		for _, d := range r.rows.All() {
			r.marker.keep(d)
		}
		return
	case event.KindAllocate, event.KindFree, event.KindEnqueue, event.KindDispatch, event.KindEvict, event.KindRemove, event.KindResetPeaks:
	default:
		return
	}
	set, err := r.state.Set(e)
	if err != nil || e.Kind == event.KindAllocate && !e.Corrects {
		return // it will be refused, or may make the peak a higher one
	}
	for _, d := range r.rows.of(set) {
		if e.Kind == event.KindRemove {
			r.books.keep(d)
		}
		r.marker.keep(d)
	}
}

// notice counts odd things about an event, which the fleet may have refused.
func (r *replay) notice(e *event.Event, refused event.Code, err error) error {
	if e.Anomaly.Has(event.AnomalyDuplicateKey) {
		r.notes.note(answer.CodeDuplicateKey, at(e), "")
	}
	if e.Refused {
		r.notes.note(answer.CodeRefused, at(e), "")
	}
	if err == nil {
		return nil
	}
	code, detail := answer.CodeEventRefused, source.Refusal(e, r.state.Programs.NameOf(e), err)
	if r.state.Captured { // whose lines are not known
		detail = string(e.Kind) + ": " + shown.Escape(err.Error())
	}
	switch refused {
	case event.CodeDoesNotFit:
		return nil // which Checks say
	case event.CodeUnknownEvent:
		r.notes.note(answer.CodeUnknownType, at(e), detail)
		r.notes[answer.CodeUnknownType].Hidden = true // it may be anything
		return nil
	case event.CodeGrid:
		if e.Kind == event.KindRun || e.Kind == event.KindEnqueue {
			code = answer.CodeOutsideGrid // which Checks say too
			if e, ok := errors.AsType[*device.Error](err); ok && r.state.Captured {
				detail = e.Err.Error()
			}
		}
	case event.CodeCannotTell:
		r.result.Doubted++
	case event.CodeNoOp:
		code = answer.CodeEndWithoutStart
	case event.CodeNotAllocated:
		code = answer.CodeFreeUnknown
	case event.CodeTornLine:
		code = answer.CodeTornLine
	case event.CodeOverflow:
		if r.state.Captured {
			return err
		}
	}
	r.notes.note(code, at(e), detail)
	return nil
}

// judged reports whether a verdict about a program may be asked for: err is nil, says that it does not fit, or that it
// lies outside the grid.
func judged(err error) bool {
	_, refused := errors.AsType[fit.Verdict](err)
	return err == nil || refused || errors.Is(err, device.ErrGrid)
}

// failed is the error of an event that no Result can have: of a sum that no figure can hold, or one of the fleet.
func (r *replay) failed(e *event.Event, err error) error {
	out := &event.InputError{File: r.result.File, Line: e.Pos.Line, Offset: e.Pos.Offset, Node: -1, Err: err}
	out.Reason = err.Error()
	if errors.Is(err, device.ErrOverflow) {
		out.Reason = "sizes sum to more than 2^63-1 bytes"
	}
	if r.state.Captured {
		out.Line, out.Offset, out.Node = 0, 0, int64(e.Node)
	}
	return out
}

// judge passes enqueued programs on, unless the next event enqueues more at the same moment.
func (r *replay) judge(next *event.Event) {
	if all := r.checks.due(next); len(all) > 0 {
		for _, launched := range r.subscribers.launched {
			launched(r.checks.moment, all)
		}
		r.checks.judge(all, r.notes)
	}
}

// forget drops everything that no later event can refer to.
func (r *replay) forget() {
	if r.catalogue.turn.comes(r.catalogue.patience) {
		gone := r.catalogue.forget(r.state.Programs, &r.rows)
		r.catalogue.turn.looked += forgetAnswers(r.checks.known, gone) + forgetAnswers(r.checks.others.fits, gone)
	}
}

package session

import (
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A Session is a device.Fleet that follows events, and answers queries about it. The zero Session is empty and
// ready to use; it must not be copied. It belongs to one goroutine; its Fleet may be read by others.
type Session struct {
	state    source.State
	refusals refusals
}

// Fleet returns the fleet. A caller that changes it must know the events to come.
func (s *Session) Fleet() *device.Fleet { return &s.state.Fleet }

// Apply makes the call that an event stands for. A program is placed for the Spec of
// the first of the devices that it is registered on. Queries, and what a source says of
// itself, change nothing.
//
// What the fleet refuses is a *RefusedError: it is counted, nothing has changed, and
// the next event may be applied.
func (s *Session) Apply(e *event.Event) error {
	if e.Anomaly.Has(event.AnomalyDuplicateKey) {
		s.refusals.count(e, event.CodeDuplicateKey, nil)
	}
	code, err := s.state.Apply(e)
	if err == nil {
		return nil
	}
	refused := &RefusedError{Event: *e, Op: s.state.Running.Op(), Name: s.state.Programs.NameOf(e), Code: code, Err: err}
	s.refusals.count(e, code, refused)
	return refused
}

// Anomalies returns how often each thing was odd, by code.
func (s *Session) Anomalies() []RefusalCount {
	var out []RefusalCount
	for _, code := range slices.Sorted(maps.Keys(s.refusals)) {
		out = append(out, *s.refusals[code])
	}
	return out
}

// Stream applies events and writes to w: the answers to queries, and an answer "anomaly" for each refused event.
// Each is one call of Write, before the next event is read. An error comes from the events or from w.
func (s *Session) Stream(events iter.Seq2[*event.Event, error], w io.Writer) error {
	return stream(events, w, func(e *event.Event) ([2][]byte, error) {
		answers, _ := s.step(e) // which says what was refused
		return answers, nil
	})
}

// stream writes the answers to each event.
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
		answers[0] = line(e, s.Anomaly(e, refused))
	}
	if e.Kind == event.KindQuery {
		answers[1] = s.Answer(e)
	}
	return answers, refused
}

// A RefusedError says why a Session refused an event, which then has changed nothing.
type RefusedError struct {
	Event event.Event
	Op    string // operations that were running, outermost first, joined by " > "
	Name  string // of the program that the event names; "" if it is not known
	Code  event.Code
	Err   error // of package device or program, or a text
}

// Error is one line of at most 300 bytes.
func (e *RefusedError) Error() string { return source.Refusal(&e.Event, e.Name, e.Err) }

func (e *RefusedError) Unwrap() error { return e.Err }

// A RefusalCount says how often something was odd, and where first.
type RefusalCount struct {
	Code   event.Code `json:"code"`
	Count  int64      `json:"count"`
	Line   int64      `json:"first_line"`
	Detail string     `json:"detail"` // of the first one
}

// refusals are counts of odd things.
type refusals map[event.Code]*RefusalCount

// count counts an odd thing about an event, or a refusal.
func (r *refusals) count(e *event.Event, code event.Code, refused *RefusedError) {
	c := (*r)[code]
	if c == nil {
		if *r == nil {
			*r = refusals{}
		}
		c = &RefusalCount{Code: code, Line: e.Pos.Line}
		if refused != nil {
			c.Detail = refused.Error()
		}
		(*r)[code] = c
	}
	c.Count++
}

package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Query returns the answer to a query about the fleet as it is now: an event of KindQuery, with Devices and Query as
// the schema of a log describes them (cbl1.events-1.schema.json). If it cannot be answered, the answer is an
// ErrorAnswer. It costs as much as the method of device.Fleet or device.Device with the same figures.
func (s *Session) Query(e *event.Event) StreamAnswer {
	a, code, err := s.answer(e)
	if err != nil {
		return ErrorAnswer{headOf("error"), cmp.Or(code, event.CodeOf(err)), shown.Escape(err.Error())}
	}
	return a
}

// Answer returns Query as one line of JSON, in ASCII only, with its line end.
func (s *Session) Answer(e *event.Event) []byte { return line(e, s.Query(e)) }

// Anomaly returns the complaint of Stream about an event: err is the error of Apply, or nil if the event has a key
// twice.
func (s *Session) Anomaly(e *event.Event, err error) AnomalyAnswer {
	a := AnomalyAnswer{AnswerHead: headOf("anomaly"), Line: e.Pos.Line, Event: string(e.Kind), Op: clip(s.state.OpOf(e))}
	a.Code, a.Error = event.CodeDuplicateKey, "a key comes twice, with equal values"
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		a.Code, a.Error, a.Name = refused.Code, shown.Escape(refused.Err.Error()), clip(refused.Name)
	}
	if verdict, ok := errors.AsType[fit.Verdict](err); ok {
		v := fit.NewAnswerRow(verdict, rowsWith(s.state.Programs))
		a.Verdict = &v
	}
	return a
}

func (s *Session) answer(e *event.Event) (a StreamAnswer, code event.Code, err error) {
	q := &e.Query
	if q.Err != nil {
		return nil, event.CodeBadQuery, q.Err
	}
	switch q.Name {
	case "totals":
		d, err := deviceOf(&s.state.Fleet, e)
		return newTotalsAnswer(d), "", err
	case "core":
		d, err := coreOf(&s.state.Fleet, e)
		return newCoreAnswer(d, q.Core.V, s.state.Programs), "", err
	case "usage":
		d, err := deviceOf(&s.state.Fleet, e)
		return newUsageAnswer(d), "", err
	case "who":
		d, err := coreOf(&s.state.Fleet, e)
		if err == nil && !q.Address.OK {
			err = errors.New("address: missing")
		}
		return newWhoAnswer(rowsWith(s.state.Programs), d, q.Core.V, q.Address.V), "", err
	case "check":
		if q.Buffer.OK {
			return s.checkBuffer(e)
		}
		return s.check(e)
	case "place":
		return s.placeBuffer(e)
	case "room":
		return s.room(e)
	case "headroom":
		return s.headroom(e)
	case "anomalies":
		return AnomaliesAnswer{headOf("anomalies"), answer.List(s.Anomalies())}, "", nil
	}
	return nil, event.CodeUnknownQuery, fmt.Errorf("%s is none of totals, core, usage, who, check, headroom, place, room, anomalies", shown.Name(q.Name, 60))
}

// deviceOf returns the device that a query names.
func deviceOf(f *device.Fleet, e *event.Event) (device.Device, error) {
	if !e.Query.Device.OK {
		return device.Device{}, errors.New("device: missing")
	}
	return f.Device(e.Query.Device.V)
}

func coreOf(f *device.Fleet, e *event.Event) (device.Device, error) {
	d, err := deviceOf(f, e)
	switch {
	case err != nil:
		return d, err
	case !e.Query.Core.OK:
		return d, errors.New("core: missing")
	case !d.Spec().Has(e.Query.Core.V):
		return d, fmt.Errorf("core %v lies outside the grid of %dx%d", e.Query.Core.V, d.Spec().Cols, d.Spec().Rows)
	}
	return d, nil
}

// programOf returns the program that a query names, placed for the devices it names.
func (s *Session) programOf(e *event.Event) (p *program.Program, set device.Set, code event.Code, err error) {
	if set, err = s.state.Set(e); err != nil || !e.Query.Program.OK {
		return nil, set, "", err
	}
	p, code, err = s.state.Place(e.Query.Program.V, set)
	return p, set, code, err
}

func (s *Session) check(e *event.Event) (StreamAnswer, event.Code, error) {
	p, set, code, err := s.programOf(e)
	if err != nil {
		return nil, code, err
	}
	if p == nil {
		return nil, "", errors.New("program: missing, and buffer too")
	}
	v, err := s.state.Judge(p, set)
	if err != nil {
		return nil, "", err
	}
	return CheckAnswer{headOf("check"), p.ID(), clip(p.Name()), fit.NewAnswerRow(v, rowsWith(s.state.Programs))}, "", nil
}

func (s *Session) headroom(e *event.Event) (StreamAnswer, event.Code, error) {
	p, set, code, err := s.programOf(e)
	if err != nil {
		return nil, code, err
	}
	groups, err := s.state.Fleet.Headroom(p, set)
	if err != nil {
		return nil, "", err
	}
	a := HeadroomAnswer{AnswerHead: headOf("headroom"), Groups: []answer.HeadroomRow{}}
	if p != nil {
		id := p.ID()
		a.Program, a.Name = &id, clip(p.Name())
	}
	for _, g := range groups {
		a.Groups = append(a.Groups, answer.NewHeadroomRow(g, idOf))
	}
	if e.Query.CB.OK {
		bytes, ok, err := s.state.Fleet.MayGrow(p, int(e.Query.CB.V), set)
		if err != nil {
			return nil, "", err
		}
		if ok {
			a.MayGrow = &bytes
		}
	}
	return a, "", nil
}

// line returns an answer to an event as a line of JSON in ASCII.
func line(e *event.Event, a StreamAnswer) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.to(repeated(e.ID), repeated([]byte(e.T)))); err != nil { // numbers, texts and lists of them
		panic("replay: an answer cannot be encoded: " + err.Error())
	}
	return asciijson.Escape(b.Bytes())
}

// repeated returns JSON that an answer repeats, null if it is none.
func repeated(raw []byte) json.RawMessage {
	if len(raw) > 0 && !json.Valid(raw) {
		return json.RawMessage("null")
	}
	return raw
}

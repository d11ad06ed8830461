package replay

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/program"
)

// Answer returns the answer to a query about the fleet as it is now: one line of JSON,
// in ASCII only, with its line end. Its fields are described in
// cbl1.events-1.schema.json. A query that cannot be answered gets an answer "error".
func (s *Session) Answer(e *event.Event) []byte {
	a, code, err := s.answer(e)
	if err != nil {
		if code == "" {
			code = event.CodeOf(err)
		}
		a = answerError{Answer: "error", Code: code, Error: shown.Escape(err.Error())}
	}
	return line(e, a)
}

// complaint returns the answer "anomaly" to an event that was refused, or has a key
// twice.
func (s *Session) complaint(e *event.Event, err error) []byte {
	a := answerAnomaly{Answer: "anomaly", Line: e.Pos.Line, Event: string(e.Kind), Op: clip(s.opOf(e))}
	a.Code, a.Error = event.CodeDuplicateKey, "a key comes twice, with equal values"
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		a.Code, a.Error, a.Name = refused.Code, shown.Escape(refused.Err.Error()), clip(refused.Name)
	}
	if verdict, ok := errors.AsType[fit.Verdict](err); ok {
		v := s.verdictRow(verdict)
		a.Verdict = &v
	}
	return line(e, a)
}

func (s *Session) answer(e *event.Event) (a any, code event.Code, err error) {
	if e.Query.Err != nil {
		return nil, event.CodeBadQuery, e.Query.Err
	}
	switch e.Query.Name {
	case "totals":
		d, err := s.device(e)
		return newAnswerTotals(d), "", err
	case "core":
		d, err := s.coreOf(e)
		return newAnswerCore(d, e.Query.Core.V, s.programs), "", err
	case "usage":
		d, err := s.device(e)
		return newAnswerUsage(d), "", err
	case "who":
		d, err := s.coreOf(e)
		if err == nil && !e.Query.Address.OK {
			err = errors.New("address: missing")
		}
		return newAnswerWho(d, e, s.programs), "", err
	case "check":
		return s.check(e)
	case "headroom":
		return s.headroom(e)
	case "anomalies":
		out := answerAnomalies{Answer: "anomalies", Anomalies: []answerCount{}}
		for _, c := range s.Anomalies() {
			out.Anomalies = append(out.Anomalies, answerCount(c))
		}
		return out, "", nil
	}
	return nil, event.CodeUnknownQuery, fmt.Errorf("%s is none of totals, core, usage, who, check, headroom, anomalies", shown.Name(e.Query.Name, 60))
}

// device returns the device that a query names.
func (s *Session) device(e *event.Event) (device.Device, error) {
	if !e.Query.Device.OK {
		return device.Device{}, errors.New("device: missing")
	}
	return s.fleet.Device(e.Query.Device.V)
}

func (s *Session) coreOf(e *event.Event) (device.Device, error) {
	d, err := s.device(e)
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
	if set, err = s.set(e); err != nil || !e.Query.Program.OK {
		return nil, set, "", err
	}
	p, code, err = s.place(e.Query.Program.V, set)
	return p, set, code, err
}

func (s *Session) check(e *event.Event) (any, event.Code, error) {
	p, set, code, err := s.programOf(e)
	if err != nil {
		return nil, code, err
	}
	if p == nil {
		return nil, "", errors.New("program: missing")
	}
	v, err := s.judge(p, set)
	if err != nil {
		return nil, "", err
	}
	return answerCheck{"check", p.ID(), clip(p.Name()), s.verdictRow(v)}, "", nil
}

func (s *Session) headroom(e *event.Event) (any, event.Code, error) {
	p, set, code, err := s.programOf(e)
	if err != nil {
		return nil, code, err
	}
	groups, err := s.fleet.Headroom(p, set)
	if err != nil {
		return nil, "", err
	}
	a := answerHeadroom{Answer: "headroom", Groups: []HeadroomRow{}}
	if p != nil {
		id := p.ID()
		a.Program, a.Name = &id, clip(p.Name())
	}
	for _, g := range groups {
		a.Groups = append(a.Groups, NewHeadroomRow(g, idOf))
	}
	if e.Query.CB.OK {
		bytes, ok, err := s.fleet.MayGrow(p, int(e.Query.CB.V), set)
		if err != nil {
			return nil, "", err
		}
		if ok {
			a.MayGrow = &bytes
		}
	}
	return a, "", nil
}

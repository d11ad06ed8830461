package capture

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
)

// Answer returns the answer to a query about the fleet as it is now: one line of JSON,
// in ASCII only, with its line end. Its fields are described in
// cbl1.events-1.schema.json. A query that cannot be answered gets an answer "error".
func (s *Session) Answer(e *LogEvent) []byte {
	a, code, err := s.answer(e)
	if err != nil {
		if code == "" {
			code = codeOf(err)
		}
		a = answerError{Answer: "error", Code: code, Error: visible(err.Error())}
	}
	return line(e, a)
}

// complaint returns the answer "anomaly" to an event that was refused, or has a key
// twice.
func (s *Session) complaint(e *LogEvent, err error) []byte {
	a := answerAnomaly{Answer: "anomaly", Line: e.Pos.Line, Event: string(e.Kind), Op: s.op()}
	a.Code, a.Error = LogCodeDuplicateKey, "a key comes twice, with equal values"
	if refused, ok := errors.AsType[*LogError](err); ok {
		a.Code, a.Error = refused.Code, visible(refused.Err.Error())
	}
	if fit, ok := errors.AsType[*device.FitError](err); ok {
		v := newAnswerVerdict(fit.Verdict)
		a.Verdict = &v
	}
	return line(e, a)
}

func (s *Session) answer(e *LogEvent) (a any, code LogCode, err error) {
	if e.bad != nil {
		return nil, LogCodeBadQuery, e.bad
	}
	switch e.Query {
	case "totals":
		d, err := s.device(e)
		return newAnswerTotals(d), "", err
	case "core":
		d, err := s.coreOf(e)
		return newAnswerCore(d, e.Core), "", err
	case "usage":
		d, err := s.device(e)
		return newAnswerUsage(d), "", err
	case "who":
		d, err := s.coreOf(e)
		if err == nil && !e.has.address {
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
	return nil, LogCodeUnknownQuery, fmt.Errorf("%s is none of totals, core, usage, who, check, headroom, anomalies", head(visible(e.Query), 60))
}

// device returns the device that a query names.
func (s *Session) device(e *LogEvent) (device.Device, error) {
	if !e.has.device {
		return device.Device{}, errors.New("device: missing")
	}
	return s.fleet.Device(e.Device)
}

func (s *Session) coreOf(e *LogEvent) (device.Device, error) {
	d, err := s.device(e)
	switch {
	case err != nil:
		return d, err
	case !e.has.core:
		return d, errors.New("core: missing")
	case !d.Spec().Has(e.Core):
		return d, fmt.Errorf("core %v lies outside the grid of %dx%d", e.Core, d.Spec().Cols, d.Spec().Rows)
	}
	return d, nil
}

// programOf returns the program that a query names, placed for the devices it names.
func (s *Session) programOf(e *LogEvent) (p *program.Program, set device.Set, code LogCode, err error) {
	if set, err = s.set(e); err != nil || !e.has.program {
		return nil, set, "", err
	}
	p, code, err = s.place(e.Program, set)
	return p, set, code, err
}

func (s *Session) check(e *LogEvent) (any, LogCode, error) {
	p, set, code, err := s.programOf(e)
	if err != nil {
		return nil, code, err
	}
	if p == nil {
		return nil, "", errors.New("program: missing")
	}
	v, err := s.fleet.Check(p, set)
	if err != nil {
		return nil, "", err
	}
	return answerCheck{"check", p.ID(), newAnswerVerdict(v)}, "", nil
}

func (s *Session) headroom(e *LogEvent) (any, LogCode, error) {
	p, set, code, err := s.programOf(e)
	if err != nil {
		return nil, code, err
	}
	groups, err := s.fleet.RegisteredHeadroom(set)
	if p != nil {
		groups, err = s.fleet.Headroom(p, set)
	}
	if err != nil {
		return nil, "", err
	}
	a := answerHeadroom{Answer: "headroom", Groups: []answerRoom{}}
	if p != nil {
		id := p.ID()
		a.Program = &id
	}
	for _, g := range groups {
		a.Groups = append(a.Groups, answerRoom{g.Device, g.Devices, g.Cores.String(), g.Cores.Len(), g.End, g.Free, g.Gap.Len(), g.Gap.Start})
	}
	if e.CB.OK {
		bytes, ok, err := s.fleet.MayGrow(p, int(e.CB.V), set)
		if err != nil {
			return nil, "", err
		}
		if ok {
			a.MayGrow = &bytes
		}
	}
	return a, "", nil
}

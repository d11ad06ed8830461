package report

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/replay"
)

type jsonVerdict = fit.VerdictRow[replay.L1Resident]

func newVerdict(v fit.Verdict, by labels) jsonVerdict {
	return fit.NewVerdictRow(v, deviceID, by.resident)
}

type jsonCheck struct {
	replay.Head
	Answer   replay.Answer   `json:"answer"`
	Untold   []replay.Reason `json:"untold"`
	Aborted  *jsonAborted    `json:"aborted"`
	Accepted []replay.Reason `json:"accepted"`
	Basis    replay.Basis    `json:"basis"`
	Runs     int64           `json:"runs"`
	Inferred int64           `json:"runs_inferred"`
	Failed   int64           `json:"runs_failed"`
	Failures []jsonFailure   `json:"failures"`
	More     int64           `json:"failures_more"`
	Budget   *jsonBudget     `json:"budget"`
	Ops      []jsonOpBudget  `json:"op_budgets"`
	Tightest *jsonTightest   `json:"tightest"`
}

type jsonAborted struct {
	Count  int64  `json:"count"`
	First  int64  `json:"first_counter"`
	Detail string `json:"detail"`
}

type jsonFailure struct {
	Run         replay.ProgramRun `json:"program"`
	Enqueue     uint64            `json:"counter"`
	T           json.Number       `json:"t,omitempty"`
	Device      *uint64           `json:"device"`
	Devices     int               `json:"devices"`
	Times       int64             `json:"times"`
	Synthesised bool              `json:"synthesised"`
	Verdict     jsonVerdict       `json:"verdict"`
}

type jsonBudget struct {
	Text  string           `json:"text"`
	Bytes *uint64          `json:"bytes"`
	Over  []jsonOverBudget `json:"exceeded"`
}

type jsonOverBudget struct {
	Device  *uint64     `json:"device"`
	Core    string      `json:"core"`
	Cores   string      `json:"cores"`
	Count   int         `json:"count"`
	Bytes   uint64      `json:"tracked_bytes"`
	Over    uint64      `json:"over_bytes"`
	Counter uint64      `json:"counter"`
	T       json.Number `json:"t,omitempty"`
	Op      replay.Name `json:"op"`
}

type jsonOpBudget struct {
	Op       replay.Name      `json:"op"`
	Line     int              `json:"line"`
	Text     string           `json:"text"`
	Bytes    *uint64          `json:"bytes"`
	Programs int64            `json:"programs"`
	Over     int64            `json:"programs_over"`
	Worst    *jsonOverProgram `json:"worst"`
}

type jsonOverProgram struct {
	Device  *uint64     `json:"device"`
	Op      replay.Name `json:"op"`
	Counter uint64      `json:"counter"`
	Core    uint64      `json:"core_max_bytes"`
	Over    uint64      `json:"over_bytes"`
}

func newOpBudget(o replay.OpJudged) jsonOpBudget {
	out := jsonOpBudget{Op: replay.Name(o.Op), Line: o.Line, Text: o.String(), Programs: o.Programs, Over: o.Over}
	if o.Known {
		out.Bytes = &o.Limit
	}
	if o.On != nil {
		out.Worst = &jsonOverProgram{optional(o.On.ID), o.Worst.Op, o.Worst.First, o.Worst.Core, o.Worst.Core - o.Limit}
	}
	return out
}

type jsonTightest struct {
	Run     replay.ProgramRun  `json:"program"`
	Enqueue uint64             `json:"counter"`
	T       json.Number        `json:"t,omitempty"`
	Device  *uint64            `json:"device"`
	Room    replay.HeadroomRow `json:"headroom"`
	Grow    []jsonGrowth       `json:"may_grow"`
}

type jsonGrowth struct {
	Kind  string `json:"kind"`
	CB    int    `json:"cb"`
	Bytes uint64 `json:"bytes"`
}

func newCheckDocument(c check) jsonCheck {
	r := c.result
	k := &r.Checks
	out := jsonCheck{
		Head: r.Head(CheckSchema), Answer: c.Answer,
		Untold: replay.List(c.Untold), Accepted: replay.List(c.Accepted),
		Basis: r.Basis(r.Spec), Runs: k.Runs, Inferred: k.Inferred, Failed: k.Failed, Failures: []jsonFailure{}, More: k.More, Ops: []jsonOpBudget{},
	}
	for _, a := range r.Anomalies {
		if a.Code == replay.CodeAborted {
			out.Aborted = &jsonAborted{a.Count, a.First, a.Detail}
		}
	}
	for i := range k.List {
		out.Failures = append(out.Failures, newFailure(r, &k.List[i]))
	}
	if b := c.Terms.Budget; b != nil {
		out.Budget = &jsonBudget{Text: b.String(), Bytes: optional(c.Limit), Over: []jsonOverBudget{}}
		for _, o := range c.Over {
			p := o.Device.Peak
			out.Budget.Over = append(out.Budget.Over, jsonOverBudget{optional(o.Device.ID), p.Core.String(), p.Cores.String(), p.Cores.Len(),
				p.Bytes, o.Over, p.At, p.T, p.Op})
		}
	}
	for _, o := range c.Ops {
		out.Ops = append(out.Ops, newOpBudget(o))
	}
	out.Tightest = newTightest(k.Tightest)
	return out
}

func newFailure(r *replay.Result, f *replay.FailedCheck) jsonFailure {
	return jsonFailure{
		f.Run, f.Enqueue, f.T, optional(f.Device), f.Devices, f.Times, f.Synthesised,
		newVerdict(f.Verdict, failureLabels(r, f)),
	}
}

// A csvCheck is an answer, and one way in which a program run does not fit.
type csvCheck struct {
	csvFile
	Answer   replay.Answer `json:"answer"`
	Untold   []replay.Code `json:"untold"`
	Accepted []replay.Code `json:"accepted"`
	Aborted  *jsonAborted  `json:"aborted"`
	Runs     int64         `json:"runs"`
	Inferred int64         `json:"runs_inferred"`
	Failed   int64         `json:"runs_failed"`
	More     int64         `json:"failures_more"`
	Budget   *jsonBudget   `json:"budget"`
	Over     int           `json:"budget_exceeded"` // on so many devices
	Ops      int           `json:"op_budgets_exceeded"`
	Tightest *jsonTightest `json:"tightest"`
	Failure  *jsonFailure  `json:"failure"`
	By       *uint64       `json:"failure_over_bytes"`
}

func checkRows(c check) iter.Seq[csvCheck] {
	return func(yield func(csvCheck) bool) {
		doc := newCheckDocument(c)
		row := csvCheck{
			csvFile: newCSVFile(c.result, c.result.Only.Device), Answer: c.Answer, Untold: codesOf(c.Untold), Accepted: codesOf(c.Accepted), Aborted: doc.Aborted,
			Runs: doc.Runs, Inferred: doc.Inferred, Failed: doc.Failed, More: doc.More, Budget: doc.Budget, Over: len(c.Over), Ops: len(c.overOps()), Tightest: doc.Tightest,
		}
		if len(doc.Failures) == 0 {
			yield(row)
			return
		}
		for i := range doc.Failures {
			by := overBy(c.result.Checks.List[i].Verdict)
			if row.Failure, row.By = &doc.Failures[i], &by; !yield(row) {
				return
			}
		}
	}
}

// codesOf returns the codes of reasons, each once.
func codesOf(reasons []replay.Reason) (codes []replay.Code) {
	for _, why := range reasons {
		if !slices.Contains(codes, why.Code) {
			codes = append(codes, why.Code)
		}
	}
	return codes
}

func newTightest(t *replay.Tightest) *jsonTightest {
	if t == nil {
		return nil
	}
	out := &jsonTightest{t.Run, t.Enqueue, t.T, optional(t.Device), replay.NewHeadroomRow(t.Headroom, deviceID), []jsonGrowth{}}
	for _, g := range t.Grow {
		out.Grow = append(out.Grow, jsonGrowth{g.Kind.Name(), g.CB, g.Bytes})
	}
	return out
}

package answer

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// CheckSchema names the form of a CheckDocument.
const CheckSchema = "cbl1.check/1"

// A CheckDocument is the answer of cbl1 check.
type CheckDocument struct {
	Head
	Answer   Answer           `json:"answer"`
	Untold   []Reason         `json:"untold"`
	Aborted  *AbortedRuns     `json:"aborted"` // nil if no program run was
	Accepted []Reason         `json:"accepted"`
	Basis    Basis            `json:"basis"`
	Runs     int64            `json:"runs"`
	Inferred int64            `json:"runs_inferred"`
	Failed   int64            `json:"runs_failed"`
	Failures []FailedCheck    `json:"failures"`
	More     int64            `json:"failures_more"`
	Budget   *BudgetJudgement `json:"budget"` // nil if there is none
	Ops      []OpJudgement    `json:"op_budgets"`
	Tightest *TightestRun     `json:"tightest"`
}

// AbortedRuns counts program runs that ended early.
type AbortedRuns struct {
	Count  int64  `json:"count"`
	First  int64  `json:"first_counter"`
	Detail string `json:"detail"`
}

// A BudgetJudgement is a Budget, and the devices that do not keep to it.
type BudgetJudgement struct {
	Text  string            `json:"text"`
	Bytes event.Opt[uint64] `json:"bytes"`
	Over  []BudgetExcess    `json:"exceeded"`
}

// Check returns a Judgement as a document. Cost: the residents in all failures.
func (r *Result) Check(j Judgement) CheckDocument {
	k := &r.Checks
	doc := CheckDocument{
		Head: r.Head(CheckSchema), Answer: j.Answer, Untold: List(j.Untold), Accepted: List(j.Accepted), Basis: r.Basis(r.Spec),
		Runs: k.Runs, Inferred: k.Inferred, Failed: k.Failed, Failures: make([]FailedCheck, 0, len(k.List)), More: k.More,
		Ops: List(j.Ops), Tightest: k.Tightest.Document(),
	}
	for _, a := range r.Anomalies {
		if a.Code == CodeAborted {
			doc.Aborted = &AbortedRuns{a.Count, int64(a.First), a.Detail}
		}
	}
	for _, f := range k.List {
		f.Row = fit.NewVerdictRow(r.Verdict(&f), captureIDRow, f.Resident)
		doc.Failures = append(doc.Failures, f)
	}
	if b := j.Terms.Budget; b != nil {
		doc.Budget = &BudgetJudgement{b.String(), j.Limit, List(j.Over)}
	}
	return doc
}

// Document returns the run as documents have it. A nil run has none.
func (t *TightestRun) Document() *TightestRun {
	if t == nil {
		return nil
	}
	out := *t
	out.Row, out.Grow = NewHeadroomRow(t.Headroom, captureIDRow), List(t.Grow)
	return &out
}

// captureIDRow returns the id of a device as rows have it.
func captureIDRow(id device.ID) *uint64 {
	if id == NoDevice {
		return nil
	}
	n := uint64(id)
	return &n
}

// A HeadroomRow is the room on some cores.
type HeadroomRow struct {
	Device  *uint64 `json:"device"` // null if the source has no ids
	Devices int     `json:"devices"`
	Cores   string  `json:"cores"`
	Count   int     `json:"count"`
	End     uint64  `json:"region_end"`
	Free    uint64  `json:"free_bytes"`
	Gap     uint64  `json:"largest_gap_bytes"`
	GapAt   uint64  `json:"largest_gap_start"`
}

// NewHeadroomRow returns the row of a headroom. id gives the id of its device, nil for
// none.
func NewHeadroomRow(h fit.Headroom, id func(device.ID) *uint64) HeadroomRow {
	return HeadroomRow{id(h.Device), h.Devices, h.Cores.String(), h.Cores.Len(), h.End, h.Free, h.Gap.Len(), h.Gap.Start}
}

package answer

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An Answer says whether everything fits.
type Answer string

// The answers. DoesNotFit holds whatever else is unknown. With a reason for CannotTell the
// answer is never Fits.
const (
	Fits       Answer = "fits"
	DoesNotFit Answer = "does_not_fit"
	CannotTell Answer = "cannot_tell"
)

// A Reason is a reason for the Answer CannotTell.
type Reason struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
}

// Terms are on which terms a Result is judged. The zero Terms are the strictest, without a
// budget.
type Terms struct {
	// Budget is how much a core may hold of its usable L1 at any time, kernels, the reserved area and L1_SMALL left
	// out; nil if there is no such limit.
	Budget *Budget
	// Ops are how much the programs of operations may take.
	Ops []OpBudget
	// Accept has the codes of reasons that are taken as seen. The answer is then about the
	// rest.
	Accept []Code
}

// A Judgement says whether everything that a Result knows of fits, and the budget is kept.
type Judgement struct {
	Answer   Answer
	Terms    Terms
	Limit    event.Opt[uint64] // of the budget, in bytes of a core
	Over     []BudgetExcess    // the devices that hold more, by id
	Ops      []OpJudgement     // as Terms has them
	Untold   []Reason          // reasons for "cannot tell", without accepted ones
	Accepted []Reason          // what would else be among them
}

// A BudgetExcess is a device with a core that held more than the budget, when it held most of usable L1.
type BudgetExcess struct {
	On      *DeviceL1         `json:"-"`
	Device  event.Opt[uint64] `json:"device"`
	Core    l1.Core           `json:"core"`
	Cores   l1.CoreSet        `json:"cores"`
	Count   int               `json:"count"`
	Bytes   uint64            `json:"tracked_bytes"`
	Below   uint64            `json:"below_l1_small_bytes"` // of them, those in usable L1: the budget is about these
	Over    uint64            `json:"over_bytes"`           // beyond the budget
	Counter uint64            `json:"counter"`
	T       json.Number       `json:"t,omitempty"`
	Op      Name              `json:"op"`
}

// Judge says whether everything fits, on the terms given. Cost: O(devices + anomalies).
func (r *Result) Judge(t Terms) Judgement {
	j := Judgement{Answer: Fits, Terms: t}
	for _, why := range r.reasons(t.Budget != nil) {
		if why.Code != CodeEventRefused || t.Budget != nil || len(t.Ops) > 0 || !r.refusedDoubts() {
			j.add(why)
		}
	}
	if t.Budget != nil {
		limit, ok := t.Budget.Of(r.Spec.UsableBytes())
		if !ok || r.Uneven && t.Budget.IsShare() {
			j.add(r.Reason(CodeBudgetUnknown))
		} else {
			j.Limit, j.Over = event.Some(limit), r.over(limit)
		}
	}
	j.Ops = r.judgeOps(t.Ops)
	if j.Limit.OK || t.Budget == nil { // else it is said
		if slices.ContainsFunc(j.Ops, func(o OpJudgement) bool { return !o.Limit.OK }) {
			j.add(r.Reason(CodeBudgetUnknown))
		}
	}
	failed := r.Checks.Failed > 0 && !(r.onQuasarAlone() && !slices.Contains(t.Accept, CodeChipAssumed))
	switch {
	case failed || r.Log && r.Count(CodeBuffersOverlap) > 0 || len(j.Over) > 0 || slices.ContainsFunc(j.Ops, func(o OpJudgement) bool { return o.Over > 0 }):
		j.Answer = DoesNotFit
	case len(j.Untold) > 0:
		j.Answer = CannotTell
	}
	return j
}

func (j *Judgement) add(why Reason) {
	if slices.Contains(j.Terms.Accept, why.Code) {
		j.Accepted = append(j.Accepted, why)
		return
	}
	j.Untold = append(j.Untold, why)
}

// reasons returns the reasons for "cannot tell", without the budget. L1 buffers that no check compares matter
// where a program takes bytes, and to a budget.
func (r *Result) reasons(budget bool) (out []Reason) {
	out = r.hidden()
	switch {
	case budget:
		out = r.Untracked()
	case r.Checks.Tightest != nil || r.Checks.Endless > 0:
		out = append(out, r.Unseen()...)
	}
	if r.Checks.Endless > 0 || r.Recording.Endless {
		out = append(out, r.Reason(CodeL1Unknown))
	}
	if r.beyondOther() || r.onQuasarAlone() {
		out = append(out, r.Reason(CodeChipAssumed))
	}
	switch {
	case r.Recording.Clashes > 0:
		out = append(out, r.Reason(CodeMayClash))
	case r.Recording.Unplaced > 0:
		out = append(out, r.Reason(CodeMeshBuffers))
	case r.Checks.Runs == 0 && (r.Recording.CBs == 0 || budget):
		out = append(out, r.Reason(CodeNothingRan))
	}
	return out
}

// refusedDoubts reports whether all refused events run programs in doubt. Without a budget the code of the doubt
// stands for them: they change no other verdict.
func (r *Result) refusedDoubts() bool {
	return !slices.ContainsFunc(r.Anomalies, func(a AnomalyCount) bool { return a.Code == CodeEventRefused && a.Count != r.Doubted })
}

// Unseen returns L1 buffers without a known place or owner. They are in no program's way only for that reason.
func (r *Result) Unseen() (out []Reason) {
	if r.Earlier.L1 > 0 {
		out = append(out, r.Reason(CodeEarlierUsed))
	}
	if r.Earlier.Freed > 0 {
		out = append(out, r.Reason(CodeEarlierFreed))
	}
	for _, id := range r.Checks.Apart {
		out = append(out, r.apart(id))
	}
	return out
}

// beyondOther reports whether circular buffers fit on the chip that is assumed, but would
// not on the other one that it may be.
func (r *Result) beyondOther() bool {
	return r.Spec.Assumed() && slices.ContainsFunc(r.Devices, func(d Device) bool { return d.HighestEnd > l1.ArchSpec(l1.Wormhole).L1Size })
}

// onQuasarAlone reports whether runs do not fit on the chip that is assumed only since their dataflow buffers end
// beyond its L1, and may fit into that of a Quasar.
func (r *Result) onQuasarAlone() bool {
	beyond := func(f FailedCheck) bool {
		v := f.Verdict
		return slices.ContainsFunc(v.Refusals, func(r *fit.Refusal) bool {
			return r.Kind != fit.RefusedGrow || r.What == program.CircularBuffer || r.End > l1.ArchSpec(l1.Quasar).L1Size
		}) || slices.ContainsFunc(v.Clashes, func(c fit.Clash) bool { return !c.Grows })
	}
	return r.Spec.Assumed() && r.Checks.Failed > 0 && r.Checks.More == 0 && !slices.ContainsFunc(r.Checks.List, beyond)
}

// Assumed reports whether the chip may be another one, with another L1.
func (s Spec) Assumed() bool {
	return s.ArchFrom == event.FromAssumed && s.L1Size == l1.ArchSpec(s.Arch).L1Size
}

// over returns the devices with a core that held more than the limit.
func (r *Result) over(limit uint64) (out []BudgetExcess) {
	for i := range r.L1 {
		if on := &r.L1[i]; on.Usable != nil && on.Usable.Bytes > limit {
			p := on.Usable
			out = append(out, BudgetExcess{on, on.ID, p.Core, p.Cores, p.Count, p.Tracked, p.Bytes, p.Bytes - limit, p.At, p.T, p.Op})
		}
	}
	return out
}

// Recording is the outcome of a recording.
type Recording struct {
	CBs      int64  // programs that came
	Clashes  int64  // pairs
	First    string // of them, in words
	Unplaced uint64 // addresses of L1 buffers that no record of a chip names
	Endless  bool   // a program came on a device whose L1 is not known
}

// Recorded returns how many programs a log of records has, which has no runs; 0 for other sources.
func (r *Result) Recorded() int64 { return r.Recording.CBs }

// clashText names the first pair that may clash.
func (r *Result) clashText() string {
	if n := r.Recording.Clashes; n > 1 {
		return fmt.Sprintf("%s; %s more", r.Recording.First, l1.Bytes(n-1).Exact())
	}
	return r.Recording.First
}

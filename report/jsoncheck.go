package report

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/replay"
)

type jsonVerdict struct {
	Message    string        `json:"message"`
	Refusals   []jsonRefusal `json:"refusals"`
	Hybrid     []jsonRefusal `json:"hybrid_refusals"`
	Clashes    []jsonClash   `json:"clashes"`
	Difference string        `json:"difference"`
	Advice     string        `json:"advice"`
}

type jsonRefusal struct {
	Kind    fit.RefusalKind `json:"kind"`
	Buffers string          `json:"buffers"`
	Message string          `json:"message"`
	Device  *uint64         `json:"device"`
	Devices int             `json:"devices"`
	Cores   string          `json:"cores"`
	End     uint64          `json:"region_end"`
	Limit   uint64          `json:"limit"`
	Over    uint64          `json:"over_bytes"`
}

type jsonClash struct {
	Device  *uint64        `json:"device"`
	Devices int            `json:"devices"`
	Cores   string         `json:"cores"`
	Count   int            `json:"count"`
	End     uint64         `json:"region_end"`
	Limit   uint64         `json:"limit"`
	LimitIs string         `json:"limit_is"`
	Over    uint64         `json:"over_bytes"`
	Shared  uint64         `json:"clashing_bytes"`
	CBs     []jsonResident `json:"cbs"`
	Above   []jsonResident `json:"above"`
	Holes   []jsonHole     `json:"unusable"`
}

type jsonHole struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
	Why   string `json:"why"`
}

type jsonRoom struct {
	Device  *uint64 `json:"device"`
	Devices int     `json:"devices"`
	Cores   string  `json:"cores"`
	Count   int     `json:"count"`
	End     uint64  `json:"region_end"`
	Free    uint64  `json:"free_bytes"`
	Gap     uint64  `json:"largest_gap_bytes"`
	GapAt   uint64  `json:"largest_gap_start"`
}

func newVerdict(v fit.Verdict, by labels) jsonVerdict {
	out := jsonVerdict{
		Message:  v.String(),
		Refusals: newRefusals(v.Refusals), Hybrid: newRefusals(v.Hybrid), Clashes: []jsonClash{},
		Difference: v.Difference, Advice: v.Advice,
	}
	for _, c := range v.Clashes {
		row := jsonClash{
			Device: deviceID(c.Device), Devices: c.Devices, Cores: c.Cores.String(), Count: c.Cores.Len(),
			End: c.End, Limit: c.Limit, LimitIs: "lowest_resident_above", Over: c.Over(), Shared: c.Bytes,
			CBs: newResidents(by.residents(v.Own(c))), Above: newResidents(by.residents(c.Above)), Holes: []jsonHole{},
		}
		if c.Grows {
			row.LimitIs = "l1_size"
		}
		for _, h := range c.Holes {
			row.Holes = append(row.Holes, jsonHole{h.Range.Start, h.Range.End, h.Range.Len(), h.Why})
		}
		out.Clashes = append(out.Clashes, row)
	}
	return out
}

func newRefusals(refusals []*fit.Refusal) []jsonRefusal {
	out := []jsonRefusal{}
	for _, r := range refusals {
		out = append(out, jsonRefusal{
			Kind: r.Kind, Buffers: r.Buffers(), Message: r.Error(), Device: deviceID(r.Device), Devices: r.Devices,
			Cores: r.Cores.String(), End: r.End, Limit: r.Limit, Over: r.Over(),
		})
	}
	return out
}

func newRoom(h fit.Headroom) jsonRoom {
	return jsonRoom{
		Device: deviceID(h.Device), Devices: h.Devices, Cores: h.Cores.String(), Count: h.Cores.Len(),
		End: h.End, Free: h.Free, Gap: h.Gap.Len(), GapAt: h.Gap.Start,
	}
}

type jsonCheck struct {
	Schema   string        `json:"schema"`
	File     string        `json:"file"`
	Rank     *uint64       `json:"rank"`
	Nodes    int64         `json:"nodes"`
	Answer   replay.Answer `json:"answer"`
	Untold   []jsonUntold  `json:"untold"`
	Aborted  *jsonAborted  `json:"aborted"`
	Accepted []jsonUntold  `json:"accepted"`
	Basis    jsonL1Basis   `json:"basis"`
	Runs     int64         `json:"runs"`
	Inferred int64         `json:"runs_inferred"`
	Failed   int64         `json:"runs_failed"`
	Failures []jsonFailure `json:"failures"`
	More     int64         `json:"failures_more"`
	Budget   *jsonBudget   `json:"budget"`
	Tightest *jsonTightest `json:"tightest"`
}

type jsonAborted struct {
	Count  int64  `json:"count"`
	First  int64  `json:"first_counter"`
	Detail string `json:"detail"`
}

type jsonFailure struct {
	Run         jsonRun     `json:"program"`
	Enqueue     uint64      `json:"counter"`
	Device      *uint64     `json:"device"`
	Devices     int         `json:"devices"`
	Times       int64       `json:"times"`
	Synthesised bool        `json:"synthesised"`
	Verdict     jsonVerdict `json:"verdict"`
}

type jsonBudget struct {
	Text  string           `json:"text"`
	Bytes *uint64          `json:"bytes"`
	Over  []jsonOverBudget `json:"exceeded"`
}

type jsonOverBudget struct {
	Device  *uint64 `json:"device"`
	Core    string  `json:"core"`
	Cores   string  `json:"cores"`
	Count   int     `json:"count"`
	Bytes   uint64  `json:"tracked_bytes"`
	Over    uint64  `json:"over_bytes"`
	Counter uint64  `json:"counter"`
	Op      string  `json:"op"`
}

type jsonTightest struct {
	Run     jsonRun      `json:"program"`
	Enqueue uint64       `json:"counter"`
	Device  *uint64      `json:"device"`
	Room    jsonRoom     `json:"headroom"`
	Grow    []jsonGrowth `json:"may_grow"`
}

type jsonGrowth struct {
	Kind  string `json:"kind"`
	CB    int    `json:"cb"`
	Bytes uint64 `json:"bytes"`
}

func newCheckDocument(c Check) jsonCheck {
	r := c.result
	k := &r.Checks
	out := jsonCheck{
		Schema: CheckSchema, File: r.File, Rank: optional(r.Rank), Nodes: r.Nodes, Answer: c.Answer, Untold: []jsonUntold{}, Accepted: []jsonUntold{},
		Basis: newL1Basis(r), Runs: k.Runs, Inferred: k.Inferred, Failed: k.Failed, Failures: []jsonFailure{}, More: k.More,
	}
	for _, why := range c.Untold {
		out.Untold = append(out.Untold, jsonUntold{why.Code, reasonText(r, why)})
	}
	for _, why := range c.Accepted {
		out.Accepted = append(out.Accepted, jsonUntold{why.Code, reasonText(r, why)})
	}
	for _, a := range r.Anomalies {
		if a.Code == replay.CodeAborted {
			out.Aborted = &jsonAborted{a.Count, a.First, a.Detail}
		}
	}
	for i := range k.List {
		f := &k.List[i]
		out.Failures = append(out.Failures, jsonFailure{newRun(f.Run), f.Enqueue, optional(f.Device), f.Devices, f.Times,
			f.Synthesised, newVerdict(f.Verdict, failureLabels(r, f))})
	}
	if b := c.Terms.Budget; b != nil {
		out.Budget = &jsonBudget{Text: b.String(), Bytes: optional(c.Limit), Over: []jsonOverBudget{}}
		for _, o := range c.Over {
			p := o.Device.Peak
			out.Budget.Over = append(out.Budget.Over, jsonOverBudget{optional(o.Device.ID), p.Core.String(), p.Cores.String(), p.Cores.Len(),
				p.Bytes, o.Over, p.At, p.Op})
		}
	}
	if t := k.Tightest; t != nil {
		out.Tightest = &jsonTightest{newRun(t.Run), t.Enqueue, optional(t.Device), newRoom(t.Headroom), []jsonGrowth{}}
		for _, g := range t.Grow {
			out.Tightest.Grow = append(out.Tightest.Grow, jsonGrowth{g.Kind.Name(), g.CB, g.Bytes})
		}
	}
	return out
}

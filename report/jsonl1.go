package report

import (
	"bufio"
	"io"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/device"
)

// The names of the forms of JSON, as the field "schema" has them.
const (
	CheckSchema = "cbl1.check/1"
	PeakSchema  = "cbl1.peak/1"
	WhoSchema   = "cbl1.who/1"
)

// What the documents of check, peak, who and report have in common about L1.

type jsonResident struct {
	Kind    string      `json:"kind"`
	Start   uint64      `json:"start"`
	End     uint64      `json:"end"`
	Bytes   uint64      `json:"bytes"`
	CB      *int        `json:"cb"`
	Program *jsonRun    `json:"program"`
	Buffer  *jsonBuffer `json:"buffer"`
}

type jsonRun struct {
	Op       string `json:"op"`
	Counter  uint64 `json:"counter"`
	Inferred bool   `json:"inferred"`
}

type jsonBuffer struct {
	Op      string  `json:"op"`
	Counter uint64  `json:"counter"`
	Device  *uint64 `json:"device"`
	Kind    string  `json:"kind"`
	Size    uint64  `json:"size_bytes"`
	PerCore *uint64 `json:"core_max_bytes"`
	Address *uint64 `json:"address"`
	Layout  string  `json:"layout"`
}

type jsonShared struct {
	Kinds []string `json:"kinds"`
	Bytes uint64   `json:"bytes"`
}

type jsonVerdict struct {
	Message    string        `json:"message"`
	Refusals   []jsonRefusal `json:"refusals"`
	Hybrid     []jsonRefusal `json:"hybrid_refusals"`
	Clashes    []jsonClash   `json:"clashes"`
	Difference string        `json:"difference"`
	Advice     string        `json:"advice"`
}

type jsonRefusal struct {
	Kind    device.RefusalKind `json:"kind"`
	Buffers string             `json:"buffers"`
	Message string             `json:"message"`
	Device  *uint64            `json:"device"`
	Devices int                `json:"devices"`
	Cores   string             `json:"cores"`
	End     uint64             `json:"region_end"`
	Limit   uint64             `json:"limit"`
	Over    uint64             `json:"over_bytes"`
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

func newResidents(rows []capture.L1Resident) []jsonResident {
	out := []jsonResident{}
	for _, r := range rows {
		j := jsonResident{Kind: kindName(r.Kind), Start: r.Range.Start, End: r.Range.End, Bytes: r.Range.Len()}
		if r.Program != nil {
			run := newRun(*r.Program)
			j.CB, j.Program = &r.CB, &run
		}
		if r.Buffer != nil {
			buffer := newBuffer(*r.Buffer)
			j.Buffer = &buffer
		}
		out = append(out, j)
	}
	return out
}

func newRun(run capture.ProgramRun) jsonRun { return jsonRun{run.Op, run.At, run.Inferred} }

func newBuffer(b capture.BufferInfo) jsonBuffer {
	return jsonBuffer{b.Op, b.At, optional(b.Device), kindName(b.Kind), b.Size, optional(b.PerCore), optional(b.Address), b.Layout}
}

// newKinds returns bytes by kind, those of all kinds in L1.
func newKinds(kinds []capture.KindBytes) map[string]uint64 {
	out := map[string]uint64{}
	for _, k := range kinds {
		out[kindName(k.Kind)] = k.Bytes
	}
	return out
}

func newShared(rows []device.Shared) []jsonShared {
	out := []jsonShared{}
	for _, s := range rows {
		row := jsonShared{Bytes: s.Bytes}
		for _, k := range kindsInL1() {
			if s.Kinds.Has(k) {
				row.Kinds = append(row.Kinds, kindName(k))
			}
		}
		out = append(out, row)
	}
	return out
}

// kindsInL1 lists the kinds that lie in L1, the lowest addresses last.
func kindsInL1() (out []device.Kind) {
	for k := device.CB; k.InL1(); k++ {
		out = append(out, k)
	}
	return out
}

func newVerdict(v device.Verdict, by labels) jsonVerdict {
	out := jsonVerdict{
		Message:  v.String(),
		Refusals: newRefusals(v.Refusals), Hybrid: newRefusals(v.Hybrid), Clashes: []jsonClash{},
		Difference: v.Difference, Advice: v.Advice,
	}
	for _, c := range v.Clashes {
		row := jsonClash{
			Device: deviceID(c.Device), Devices: c.Devices, Cores: c.Cores.String(), Count: c.Cores.Len(),
			End: c.End, Limit: c.Limit, LimitIs: "lowest_resident_above", Over: c.Over(), Shared: c.Bytes,
			CBs: newResidents(by.residents(ownResidents(v, c.CBs))), Above: newResidents(by.residents(c.Above)), Holes: []jsonHole{},
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

func newRefusals(refusals []*device.Refusal) []jsonRefusal {
	out := []jsonRefusal{}
	for _, r := range refusals {
		out = append(out, jsonRefusal{
			Kind: r.Kind, Buffers: programKind(r.What), Message: r.Error(), Device: deviceID(r.Device), Devices: r.Devices,
			Cores: r.Cores.String(), End: r.End, Limit: r.Limit, Over: r.Over(),
		})
	}
	return out
}

func newRoom(h device.Headroom) jsonRoom {
	return jsonRoom{
		Device: deviceID(h.Device), Devices: h.Devices, Cores: h.Cores.String(), Count: h.Cores.Len(),
		End: h.End, Free: h.Free, Gap: h.Gap.Len(), GapAt: h.Gap.Start,
	}
}

// deviceID is the id of a device as a capture has it; nil if it has none.
func deviceID(id device.ID) *uint64 { return optional(captureID(id)) }

type jsonCheck struct {
	Schema   string        `json:"schema"`
	File     string        `json:"file"`
	Rank     *uint64       `json:"rank"`
	Nodes    int64         `json:"nodes"`
	Answer   Answer        `json:"answer"`
	Untold   []jsonUntold  `json:"untold"`
	Basis    jsonL1Basis   `json:"basis"`
	Runs     int64         `json:"runs"`
	Inferred int64         `json:"runs_inferred"`
	Failed   int64         `json:"runs_failed"`
	Failures []jsonFailure `json:"failures"`
	More     int64         `json:"failures_more"`
	Budget   *jsonBudget   `json:"budget"`
	Tightest *jsonTightest `json:"tightest"`
}

type jsonUntold struct {
	Code *capture.Code `json:"code"`
	Text string        `json:"text"`
}

type jsonL1Basis struct {
	Arch        string            `json:"arch"`
	ArchFrom    capture.Source    `json:"arch_from"`
	BaseFrom    capture.Source    `json:"base_from"`
	L1Size      *uint64           `json:"l1_size_bytes"`
	L1Small     uint64            `json:"l1_small_bytes"`
	Base        uint64            `json:"cb_base"`
	Align       uint64            `json:"cb_align"`
	Usable      *uint64           `json:"usable_bytes"`
	Addresses   capture.Addresses `json:"cb_addresses"`
	Earlier     int64             `json:"earlier_l1_buffers"`
	EarlierSize uint64            `json:"earlier_l1_bytes"`
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

func newL1Basis(r *capture.Result) jsonL1Basis {
	s := r.Spec
	out := jsonL1Basis{
		Arch: string(s.Arch), ArchFrom: s.ArchFrom, BaseFrom: s.BaseFrom, L1Small: s.L1Small, Base: s.CBBase, Align: s.CBAlign,
		Addresses: r.Addresses, Earlier: r.Earlier.L1, EarlierSize: r.Earlier.Bytes,
	}
	if s.L1Size > 0 {
		out.L1Size = &s.L1Size
		n := usable(s.Spec)
		out.Usable = &n
	}
	return out
}

func newCheckDocument(c Check) jsonCheck {
	r := c.result
	k := &r.Checks
	out := jsonCheck{
		Schema: CheckSchema, File: r.File, Rank: optional(r.Rank), Nodes: r.Nodes, Answer: c.Answer, Untold: []jsonUntold{},
		Basis: newL1Basis(r), Runs: k.Runs, Inferred: k.Inferred, Failed: k.Failed, Failures: []jsonFailure{}, More: k.More,
	}
	for _, reason := range c.untold {
		row := jsonUntold{Text: reason.text}
		if reason.code != "" {
			row.Code = &reason.code
		}
		out.Untold = append(out.Untold, row)
	}
	for i := range k.List {
		f := &k.List[i]
		out.Failures = append(out.Failures, jsonFailure{newRun(f.Run), f.Enqueue, optional(f.Device), f.Devices, f.Times,
			f.Synthesised, newVerdict(f.Verdict, failureLabels(r, f))})
	}
	if c.budget != nil {
		out.Budget = &jsonBudget{Text: c.budget.String(), Over: []jsonOverBudget{}}
		if n, ok := c.budget.of(usable(r.Spec.Spec)); ok {
			out.Budget.Bytes = &n
		}
		for _, o := range c.over {
			p := o.row.Peak
			out.Budget.Over = append(out.Budget.Over, jsonOverBudget{optional(o.row.ID), p.Core.String(), p.Cores.String(), p.Cores.Len(),
				p.Bytes, p.Bytes - o.limit, p.At, p.Op})
		}
	}
	if t := k.Tightest; t != nil {
		out.Tightest = &jsonTightest{newRun(t.Run), t.Enqueue, optional(t.Device), newRoom(t.Headroom), []jsonGrowth{}}
		for _, g := range t.Grow {
			out.Tightest.Grow = append(out.Tightest.Grow, jsonGrowth{kindName(g.Kind), g.CB, g.Bytes})
		}
	}
	return out
}

// writeJSON writes a document as one line in ASCII.
func writeJSON(w io.Writer, v any) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.value(v)
	e.text("\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

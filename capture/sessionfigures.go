package capture

import (
	"iter"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The answers as they are written. Names of figures are those of the JSON report;
// dispatched is what the last dispatches left.

type answerError struct {
	Answer string  `json:"answer"`
	Code   LogCode `json:"code"`
	Error  string  `json:"error"`
}

type answerAnomaly struct {
	Answer  string         `json:"answer"`
	Line    int64          `json:"line"`
	Event   string         `json:"event"`
	Code    LogCode        `json:"code"`
	Error   string         `json:"error"`
	Op      string         `json:"op,omitempty"`
	Verdict *answerVerdict `json:"verdict,omitempty"`
}

type answerAnomalies struct {
	Answer    string        `json:"answer"`
	Anomalies []answerCount `json:"anomalies"`
}

type answerCount struct {
	Code   LogCode `json:"code"`
	Count  int64   `json:"count"`
	Line   int64   `json:"first_line"`
	Detail string  `json:"detail"`
}

// figures are what there are high-water marks of.
type figures struct {
	Registered uint64 `json:"registered_union_bytes"`
	Reserved   uint64 `json:"registered_range_granular_bytes"`
	Logical    uint64 `json:"registered_logical_bytes"`
	Core       uint64 `json:"registered_core_peak_bytes"`
	Dispatched uint64 `json:"dispatched_bytes"`
	Tracked    uint64 `json:"tracked_bytes"`
	L1         uint64 `json:"l1_buffer_bytes"`
	DRAM       uint64 `json:"dram_buffer_bytes"`
}

type answerTotals struct {
	Answer string    `json:"answer"`
	Device device.ID `json:"device"`
	figures
	L1Small  uint64  `json:"l1_small_buffer_bytes"`
	Trace    uint64  `json:"trace_buffer_bytes"`
	System   uint64  `json:"system_buffer_bytes"`
	Kernels  uint64  `json:"kernel_bytes"`
	Buffers  int     `json:"buffers"`
	Backings int     `json:"backing_buffers"`
	Backing  uint64  `json:"backing_buffer_bytes"`
	Programs int     `json:"programs"`
	Peak     figures `json:"peak"`
}

func newAnswerTotals(d device.Device) answerTotals {
	t := d.Totals()
	b, p := t.Buffers, t.Peak
	return answerTotals{
		Answer: "totals", Device: d.ID(),
		figures: figures{t.Registered, t.Reserved, t.Logical, t.Core, t.Resident, t.Tracked, b.L1, b.DRAM},
		L1Small: b.L1Small, Trace: b.Trace, System: b.System, Kernels: b.Kernels,
		Buffers: b.Count, Backings: b.Backings, Backing: b.Backing,
		Programs: t.Programs,
		Peak:     figures{p.Registered, p.Reserved, p.Logical, p.Core, p.Resident, p.Tracked, p.L1, p.DRAM},
	}
}

type answerRange struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

func newAnswerRange(r l1.Range) answerRange { return answerRange{r.Start, r.End} }

func newAnswerRanges(ranges iter.Seq[l1.Range]) []answerRange {
	out := []answerRange{}
	for r := range ranges {
		out = append(out, newAnswerRange(r))
	}
	return out
}

type answerCore struct {
	Answer     string           `json:"answer"`
	Device     device.ID        `json:"device"`
	Core       string           `json:"core"`
	Registered uint64           `json:"registered_union_bytes"`
	Reserved   uint64           `json:"registered_range_granular_bytes"`
	Logical    uint64           `json:"registered_logical_bytes"`
	Peak       uint64           `json:"registered_union_peak_bytes"`
	Programs   int              `json:"programs"`
	Regions    []answerRange    `json:"registered_regions"`
	Dispatched uint64           `json:"dispatched_bytes"`
	Program    *program.ID      `json:"dispatched_program"`
	Left       []answerRange    `json:"dispatched_regions"`
	Usage      answerUsageBasis `json:"resident"`
}

func newAnswerCore(d device.Device, core l1.Core) answerCore {
	t := d.Core(core)
	a := answerCore{
		Answer: "core", Device: d.ID(), Core: core.String(),
		Registered: t.Registered, Reserved: t.Reserved, Logical: t.Logical, Peak: t.Peak, Programs: t.Programs,
		Regions: newAnswerRanges(d.Regions(core)), Dispatched: t.Resident, Left: []answerRange{},
		Usage: newAnswerUsageBasis(d.CoreUsage(core, device.BasisResident)),
	}
	if p, ranges, ok := d.ResidentOn(core); ok {
		id := p.ID()
		a.Program, a.Left = &id, newAnswerRanges(ranges)
	}
	return a
}

type answerUsage struct {
	Answer     string           `json:"answer"`
	Device     device.ID        `json:"device"`
	Resident   answerUsageBasis `json:"resident"`
	Registered answerUsageBasis `json:"registered"`
}

type answerUsageBasis struct {
	Tracked     uint64            `json:"tracked_bytes"`
	WithKernels uint64            `json:"with_kernels_bytes"`
	Kinds       map[string]uint64 `json:"kinds"`
	Shared      []answerShared    `json:"shared"`
}

type answerShared struct {
	Kinds []string `json:"kinds"`
	Bytes uint64   `json:"bytes"`
}

func newAnswerUsage(d device.Device) answerUsage {
	return answerUsage{
		Answer: "usage", Device: d.ID(),
		Resident:   newAnswerUsageBasis(d.Usage(device.BasisResident)),
		Registered: newAnswerUsageBasis(d.Usage(device.BasisRegistered)),
	}
}

func newAnswerUsageBasis(u device.Usage) answerUsageBasis {
	a := answerUsageBasis{u.Tracked, u.WithKernels, map[string]uint64{}, []answerShared{}}
	for k := device.KindCB; k.InL1(); k++ {
		if n := u.Of(k); n > 0 {
			a.Kinds[k.Name()] = n
		}
	}
	for shared := range u.Shared() {
		row := answerShared{Bytes: shared.Bytes}
		for k := device.KindCB; k.InL1(); k++ {
			if shared.Kinds.Has(k) {
				row.Kinds = append(row.Kinds, k.Name())
			}
		}
		a.Shared = append(a.Shared, row)
	}
	return a
}

type answerWho struct {
	Answer     string           `json:"answer"`
	Device     device.ID        `json:"device"`
	Core       string           `json:"core"`
	Address    uint64           `json:"address"`
	Resident   []answerResident `json:"resident"`
	Registered []answerResident `json:"registered"`
}

// An answerResident is something in L1: a buffer of a program, or another one.
type answerResident struct {
	Kind    string           `json:"kind"`
	Start   uint64           `json:"start"`
	End     uint64           `json:"end"`
	Program *program.ID      `json:"program,omitempty"`
	CB      *int             `json:"cb,omitempty"`
	Buffer  *device.BufferID `json:"buffer,omitempty"`
	Name    string           `json:"name,omitempty"`
	Op      string           `json:"op,omitempty"`
}

func newAnswerResident(r fit.Resident, programs map[program.ID]*definition) answerResident {
	a := answerResident{Kind: r.Kind.Name(), Start: r.Range.Start, End: r.Range.End}
	if r.Program == nil {
		a.Buffer, a.Name = &r.Buffer.ID, r.Buffer.Name
		return a
	}
	id := r.Program.ID()
	a.Program, a.CB = &id, &r.CB
	if def := programs[id]; def != nil {
		a.Name, a.Op = def.name, def.op
	}
	return a
}

func newAnswerWho(d device.Device, e *LogEvent, programs map[program.ID]*definition) answerWho {
	holding := func(basis device.Basis) []answerResident {
		out := []answerResident{}
		for r := range d.Residents(e.Core, basis) {
			if r.Range.Has(e.Address) {
				out = append(out, newAnswerResident(r, programs))
			}
		}
		return out
	}
	return answerWho{"who", d.ID(), e.Core.String(), e.Address, holding(device.BasisResident), holding(device.BasisRegistered)}
}

type answerHeadroom struct {
	Answer  string       `json:"answer"`
	Program *program.ID  `json:"program"`
	Groups  []answerRoom `json:"groups"`
	MayGrow *uint64      `json:"may_grow_bytes,omitempty"`
}

type answerRoom struct {
	Device  device.ID `json:"device"`
	Devices int       `json:"devices"`
	Cores   string    `json:"cores"`
	Count   int       `json:"count"`
	End     uint64    `json:"region_end"`
	Free    uint64    `json:"free_bytes"`
	Gap     uint64    `json:"largest_gap_bytes"`
	GapAt   uint64    `json:"largest_gap_start"`
}

type answerCheck struct {
	Answer  string     `json:"answer"`
	Program program.ID `json:"program"`
	answerVerdict
}

type answerVerdict struct {
	Fits       bool            `json:"fits"`
	Message    string          `json:"message"`
	Refusals   []answerRefusal `json:"refusals"`
	Hybrid     []answerRefusal `json:"hybrid_refusals"`
	Clashes    []answerClash   `json:"clashes"`
	Difference string          `json:"difference"`
	Advice     string          `json:"advice"`
}

type answerRefusal struct {
	Kind    fit.RefusalKind `json:"kind"`
	Buffers string          `json:"buffers"`
	Message string          `json:"message"`
	Device  device.ID       `json:"device"`
	Devices int             `json:"devices"`
	Cores   string          `json:"cores"`
	End     uint64          `json:"region_end"`
	Limit   uint64          `json:"limit"`
	Over    uint64          `json:"over_bytes"`
}

type answerClash struct {
	Device  device.ID        `json:"device"`
	Devices int              `json:"devices"`
	Cores   string           `json:"cores"`
	Count   int              `json:"count"`
	End     uint64           `json:"region_end"`
	Limit   uint64           `json:"limit"`
	LimitIs string           `json:"limit_is"`
	Over    uint64           `json:"over_bytes"`
	Bytes   uint64           `json:"clashing_bytes"`
	CBs     []answerResident `json:"cbs"`
	Above   []answerResident `json:"above"`
	Holes   []answerHole     `json:"unusable"`
}

type answerHole struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
	Why   string `json:"why"`
}

func newAnswerVerdict(v fit.Verdict) answerVerdict {
	a := answerVerdict{
		Fits: v.Fits(), Message: v.String(), Refusals: newAnswerRefusals(v.Refusals), Hybrid: newAnswerRefusals(v.Hybrid),
		Clashes: []answerClash{}, Difference: v.Difference, Advice: v.Advice,
	}
	for _, c := range v.Clashes {
		row := answerClash{
			Device: c.Device, Devices: c.Devices, Cores: c.Cores.String(), Count: c.Cores.Len(), End: c.End, Limit: c.Limit,
			LimitIs: "lowest_resident_above", Over: c.Over(), Bytes: c.Bytes,
			CBs: []answerResident{}, Above: []answerResident{}, Holes: []answerHole{},
		}
		if c.Grows {
			row.LimitIs = "l1_size"
		}
		for _, r := range v.Own(c) {
			row.CBs = append(row.CBs, newAnswerResident(r, nil))
		}
		for _, r := range c.Above {
			row.Above = append(row.Above, newAnswerResident(r, nil))
		}
		for _, h := range c.Holes {
			row.Holes = append(row.Holes, answerHole{h.Range.Start, h.Range.End, h.Range.Len(), h.Why})
		}
		a.Clashes = append(a.Clashes, row)
	}
	return a
}

func newAnswerRefusals(refusals []*fit.Refusal) []answerRefusal {
	out := []answerRefusal{}
	for _, r := range refusals {
		row := answerRefusal{r.Kind, r.Buffers(), r.Error(), r.Device, r.Devices, r.Cores.String(), r.End, r.Limit, 0}
		if r.Kind != fit.RefusedGrid {
			row.Over = r.Over()
		}
		out = append(out, row)
	}
	return out
}

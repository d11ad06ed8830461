package replay

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The answers as they are written. Figures are named as in the JSON report; dispatched bytes are leftovers of the
// last dispatches.

type answerError struct {
	Answer string     `json:"answer"`
	Code   event.Code `json:"code"`
	Error  string     `json:"error"`
}

type answerAnomaly struct {
	Answer  string         `json:"answer"`
	Line    int64          `json:"line"`
	Event   string         `json:"event"`
	Code    event.Code     `json:"code"`
	Error   string         `json:"error"`
	Name    string         `json:"name,omitempty"`
	Op      string         `json:"op,omitempty"`
	Verdict *answerVerdict `json:"verdict,omitempty"`
}

type answerAnomalies struct {
	Answer    string        `json:"answer"`
	Anomalies []answerCount `json:"anomalies"`
}

type answerCount struct {
	Code   event.Code `json:"code"`
	Count  int64      `json:"count"`
	Line   int64      `json:"first_line"`
	Detail string     `json:"detail"`
}

// figures have high-water marks.
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
	Name       string           `json:"dispatched_name,omitempty"`
	Left       []answerRange    `json:"dispatched_regions"`
	Usage      answerUsageBasis `json:"resident"`
}

func newAnswerCore(d device.Device, core l1.Core, programs map[program.ID]*definition) answerCore {
	t := d.Core(core)
	a := answerCore{
		Answer: "core", Device: d.ID(), Core: core.String(),
		Registered: t.Registered, Reserved: t.Reserved, Logical: t.Logical, Peak: t.Peak, Programs: t.Programs,
		Regions: newAnswerRanges(d.Regions(core)), Dispatched: t.Resident, Left: []answerRange{},
		Usage: newAnswerUsageBasis(groupOn(d, core, device.BasisResident).Usage),
	}
	if p, ranges, ok := d.ResidentOn(core); ok {
		id, _ := idShown(p.ID(), programs)
		a.Program, a.Name, a.Left = &id, clip(p.Name()), newAnswerRanges(ranges)
	}
	return a
}

// groupOn returns what lives on a core, and on others alike.
func groupOn(d device.Device, core l1.Core, basis device.Basis) device.UsageGroup {
	for g := range d.UsageGroups(basis) {
		if g.Cores.Has(core) {
			return g
		}
	}
	return device.UsageGroup{}
}

type answerUsage struct {
	Answer     string           `json:"answer"`
	Device     device.ID        `json:"device"`
	Resident   answerUsageBasis `json:"resident"`
	Registered answerUsageBasis `json:"registered"`
}

type answerUsageBasis struct {
	Tracked     uint64              `json:"tracked_bytes"`
	WithKernels uint64              `json:"with_kernels_bytes"`
	Kinds       map[fit.Kind]uint64 `json:"kinds"`
	Shared      []device.Shared     `json:"shared"`
}

func newAnswerUsage(d device.Device) answerUsage {
	return answerUsage{
		Answer: "usage", Device: d.ID(),
		Resident:   newAnswerUsageBasis(d.Usage(device.BasisResident)),
		Registered: newAnswerUsageBasis(d.Usage(device.BasisRegistered)),
	}
}

func newAnswerUsageBasis(u device.Usage) answerUsageBasis {
	return answerUsageBasis{u.Tracked, u.WithKernels, kindsOf(u), slices.AppendSeq([]device.Shared{}, u.Shared())}
}

// kindsOf returns the bytes of each kind that holds some in L1.
func kindsOf(u device.Usage) map[fit.Kind]uint64 {
	kinds := map[fit.Kind]uint64{}
	for k := fit.KindCB; k.InL1(); k++ {
		if n := u.Of(k); n > 0 {
			kinds[k] = n
		}
	}
	return kinds
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
	fit.IDRow
	Op string `json:"op,omitempty"`
}

// clip returns a name as answers have it.
func clip(name string) string { return shown.Clip(name, shown.MaxOutput) }

func newAnswerResident(r fit.Resident, programs map[program.ID]*definition) answerResident {
	a := answerResident{IDRow: fit.NewIDRow(r)}
	if r.Program == nil {
		a.Name = clip(a.Name)
		return a
	}
	id, def := idShown(r.Program.ID(), programs)
	a.Program = &id
	if def != nil {
		a.Name, a.Op = cmp.Or(a.Name, def.name), clip(def.op)
	}
	a.Name = clip(a.Name)
	return a
}

func newAnswerWho(d device.Device, e *event.Event, programs map[program.ID]*definition) answerWho {
	holding := func(basis device.Basis) []answerResident {
		out := []answerResident{}
		for r := range groupOn(d, e.Query.Core.V, basis).Residents() {
			if r.Range.Has(e.Query.Address.V) {
				out = append(out, newAnswerResident(r, programs))
			}
		}
		return out
	}
	return answerWho{"who", d.ID(), e.Query.Core.V.String(), e.Query.Address.V, holding(device.BasisResident), holding(device.BasisRegistered)}
}

func (s *Session) verdictRow(v fit.Verdict) answerVerdict {
	return fit.NewAnswerRow(v, func(r fit.Resident) answerResident { return newAnswerResident(r, s.programs) })
}

// An answerVerdict is a verdict in an answer.
type answerVerdict = fit.AnswerRow[answerResident]

// idOf gives a device in an answer the id that it has in the fleet.
func idOf(id device.ID) *uint64 { n := uint64(id); return &n }

type answerHeadroom struct {
	Answer  string        `json:"answer"`
	Program *program.ID   `json:"program"`
	Name    string        `json:"name,omitempty"`
	Groups  []HeadroomRow `json:"groups"`
	MayGrow *uint64       `json:"may_grow_bytes,omitempty"`
}

type answerCheck struct {
	Answer  string     `json:"answer"`
	Program program.ID `json:"program"`
	Name    string     `json:"name,omitempty"`
	answerVerdict
}

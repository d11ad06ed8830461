package session

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A StreamAnswer is an answer of Session.Query: a TotalsAnswer, CoreAnswer, UsageAnswer, WhoAnswer, CheckAnswer,
// CheckBufferAnswer, PlaceAnswer, RoomAnswer, HeadroomAnswer, AnomaliesAnswer or ErrorAnswer. It has the tags of the
// JSON that "cbl1 stream" writes. Lists are never nil.
type StreamAnswer interface {
	to(id, t json.RawMessage) StreamAnswer // of a query
}

// An AnswerHead begins each answer: with the name of the query, or "error". Session.Answer repeats the query's id and time.
type AnswerHead struct {
	Answer string          `json:"answer"`
	ID     json.RawMessage `json:"id,omitempty"`
	T      json.RawMessage `json:"t,omitempty"`
}

func headOf(answer string) AnswerHead { return AnswerHead{Answer: answer} }

func (a TotalsAnswer) to(id, t json.RawMessage) StreamAnswer    { a.ID, a.T = id, t; return a }
func (a CoreAnswer) to(id, t json.RawMessage) StreamAnswer      { a.ID, a.T = id, t; return a }
func (a UsageAnswer) to(id, t json.RawMessage) StreamAnswer     { a.ID, a.T = id, t; return a }
func (a WhoAnswer) to(id, t json.RawMessage) StreamAnswer       { a.ID, a.T = id, t; return a }
func (a CheckAnswer) to(id, t json.RawMessage) StreamAnswer     { a.ID, a.T = id, t; return a }
func (a HeadroomAnswer) to(id, t json.RawMessage) StreamAnswer  { a.ID, a.T = id, t; return a }
func (a AnomaliesAnswer) to(id, t json.RawMessage) StreamAnswer { a.ID, a.T = id, t; return a }
func (a AnomalyAnswer) to(id, t json.RawMessage) StreamAnswer   { a.ID, a.T = id, t; return a }
func (a ErrorAnswer) to(id, t json.RawMessage) StreamAnswer     { a.ID, a.T = id, t; return a }

// An ErrorAnswer says why a query cannot be answered.
type ErrorAnswer struct {
	AnswerHead
	Code  event.Code `json:"code"`
	Error string     `json:"error"`
}

// An AnomalyAnswer says why an event was refused, or that it has a key twice. Session.Anomaly returns it.
type AnomalyAnswer struct {
	AnswerHead
	Line    int64          `json:"line"`
	Event   string         `json:"event"`
	Code    event.Code     `json:"code"`
	Error   string         `json:"error"`
	Name    string         `json:"name,omitempty"`    // of the program that the event names
	Op      string         `json:"op,omitempty"`      // the running operations, outermost first, joined by " > "
	Verdict *fit.AnswerRow `json:"verdict,omitempty"` // of a program that does not fit
}

// An AnomaliesAnswer has Session.Anomalies.
type AnomaliesAnswer struct {
	AnswerHead
	Anomalies []RefusalCount `json:"anomalies"`
}

// A TotalsAnswer has the figures of a device, in bytes: the present ones, and their high-water marks.
type TotalsAnswer struct {
	AnswerHead
	Device device.ID `json:"device"`
	TotalsRow
	L1Small  uint64    `json:"l1_small_buffer_bytes"`
	Trace    uint64    `json:"trace_buffer_bytes"`
	System   uint64    `json:"system_buffer_bytes"`
	Kernels  uint64    `json:"kernel_bytes"`
	Buffers  int       `json:"buffers"`         // without backing ones
	Backings int       `json:"backing_buffers"` // that back a mesh buffer
	Backing  uint64    `json:"backing_buffer_bytes"`
	Programs int       `json:"programs"`
	Peak     TotalsRow `json:"peak"`
}

// A TotalsRow has the figures of a device that have high-water marks, in bytes. All but Core are sums over the cores.
// CBs are circular buffers.
type TotalsRow struct {
	Registered uint64 `json:"registered_union_bytes"`          // CBs of registered programs, each byte once
	Reserved   uint64 `json:"registered_range_granular_bytes"` // that tt-metal's bookkeeping charges
	Logical    uint64 `json:"registered_logical_bytes"`        // sizes of CBs times cores
	Core       uint64 `json:"registered_core_peak_bytes"`      // Registered on the fullest core
	Dispatched uint64 `json:"dispatched_bytes"`                // what the last dispatches left
	Tracked    uint64 `json:"tracked_bytes"`                   // everything in L1 but kernels, each byte once
	L1         uint64 `json:"l1_buffer_bytes"`
	DRAM       uint64 `json:"dram_buffer_bytes"`
}

func newTotalsAnswer(d device.Device) TotalsAnswer {
	t := d.Totals()
	b, p := t.Buffers, t.Peak
	return TotalsAnswer{
		AnswerHead: headOf("totals"), Device: d.ID(),
		TotalsRow: TotalsRow{t.Registered, t.Reserved, t.Logical, t.Core, t.Resident, t.Tracked, b.L1, b.DRAM},
		L1Small:   b.L1Small, Trace: b.Trace, System: b.System, Kernels: b.Kernels,
		Buffers: b.Count, Backings: b.Backings, Backing: b.Backing,
		Programs: t.Programs,
		Peak:     TotalsRow{p.Registered, p.Reserved, p.Logical, p.Core, p.Resident, p.Tracked, p.L1, p.DRAM},
	}
}

// A RangeRow is a half-open range of addresses in L1.
type RangeRow struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

func newRangeRows(ranges iter.Seq[l1.Range]) []RangeRow {
	out := []RangeRow{}
	for r := range ranges {
		out = append(out, RangeRow(r))
	}
	return out
}

// A CoreAnswer has the figures of a core, in bytes, as TotalsRow defines them.
type CoreAnswer struct {
	AnswerHead
	Device     device.ID   `json:"device"`
	Core       l1.Core     `json:"core"`
	Registered uint64      `json:"registered_union_bytes"`
	Reserved   uint64      `json:"registered_range_granular_bytes"`
	Logical    uint64      `json:"registered_logical_bytes"`
	Peak       uint64      `json:"registered_union_peak_bytes"` // high-water mark of Registered
	Programs   int         `json:"programs"`
	Regions    []RangeRow  `json:"registered_regions"`
	Dispatched uint64      `json:"dispatched_bytes"`
	Program    *program.ID `json:"dispatched_program"` // the last one on the core; nil if there is none
	Name       string      `json:"dispatched_name,omitempty"`
	Left       []RangeRow  `json:"dispatched_regions"`
	Usage      UsageRow    `json:"resident"`
}

func newCoreAnswer(d device.Device, core l1.Core, programs map[program.ID]*source.Definition) CoreAnswer {
	t := d.Core(core)
	a := CoreAnswer{
		AnswerHead: headOf("core"), Device: d.ID(), Core: core,
		Registered: t.Registered, Reserved: t.Reserved, Logical: t.Logical, Peak: t.Peak, Programs: t.Programs,
		Regions: newRangeRows(d.Regions(core)), Dispatched: t.Resident, Left: []RangeRow{},
		Usage: newUsageRow(groupOn(d, core, device.BasisResident).Usage),
	}
	if p, ranges, ok := d.ResidentOn(core); ok {
		id, _ := source.ShownID(p.ID(), programs)
		a.Program, a.Name, a.Left = &id, clip(p.Name()), newRangeRows(ranges)
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

// A UsageAnswer has the content of the L1 of a device: after the last dispatches, and as if all registered programs
// were there at once.
type UsageAnswer struct {
	AnswerHead
	Device     device.ID `json:"device"`
	Resident   UsageRow  `json:"resident"`
	Registered UsageRow  `json:"registered"`
}

// A UsageRow is a device.Usage: bytes of a core, or sums over the cores of a device.
type UsageRow struct {
	Tracked     uint64              `json:"tracked_bytes"`
	WithKernels uint64              `json:"with_kernels_bytes"`
	Kinds       map[fit.Kind]uint64 `json:"kinds"` // the kinds that hold some
	Shared      []device.Sharing    `json:"shared"`
}

func newUsageAnswer(d device.Device) UsageAnswer {
	resident, registered := d.Usage(device.BasisResident), d.Usage(device.BasisRegistered)
	return UsageAnswer{headOf("usage"), d.ID(), newUsageRow(resident), newUsageRow(registered)}
}

func newUsageRow(u device.Usage) UsageRow {
	return UsageRow{u.Tracked, u.WithKernels, answer.KindsOf(u), slices.AppendSeq([]device.Sharing{}, u.Shared())}
}

// A WhoAnswer has everything that holds a byte of a core: after the last dispatches, and of all registered programs.
type WhoAnswer struct {
	AnswerHead
	Device     device.ID   `json:"device"`
	Core       l1.Core     `json:"core"`
	Address    uint64      `json:"address"`
	Resident   []fit.IDRow `json:"resident"`
	Registered []fit.IDRow `json:"registered"`
}

// clip returns a name as answers have it.
func clip(name string) string { return shown.Clip(name, shown.MaxOutput) }

// rowsWith returns how things in L1 become rows, with the names that are known.
func rowsWith(defs source.Definitions) func(fit.Resident) fit.IDRow {
	return func(r fit.Resident) fit.IDRow {
		row := fit.NewIDRow(r)
		if r.Program != nil {
			id, def := source.ShownID(r.Program.ID(), defs)
			row.Program = &id
			if def != nil {
				row.Name, row.Op = cmp.Or(row.Name, def.Name), clip(def.Op)
			}
		}
		row.Name = clip(row.Name)
		return row
	}
}

func newWhoAnswer(rowOf func(fit.Resident) fit.IDRow, d device.Device, core l1.Core, address uint64) WhoAnswer {
	holding := func(basis device.Basis) []fit.IDRow {
		out := []fit.IDRow{}
		for r := range groupOn(d, core, basis).Residents() {
			if r.Range.Has(address) {
				out = append(out, rowOf(r))
			}
		}
		return out
	}
	return WhoAnswer{headOf("who"), d.ID(), core, address, holding(device.BasisResident), holding(device.BasisRegistered)}
}

// idOf gives a device in an answer the id that it has in the fleet.
func idOf(id device.ID) *uint64 { n := uint64(id); return &n }

// A HeadroomAnswer has the bytes above a program, or above all that is registered, on each set of cores.
type HeadroomAnswer struct {
	AnswerHead
	Program *program.ID          `json:"program"` // nil: the query names none
	Name    string               `json:"name,omitempty"`
	Groups  []answer.HeadroomRow `json:"groups"`
	MayGrow *uint64              `json:"may_grow_bytes,omitempty"` // of the CB that the query names; nil if the program does not fit
}

// A CheckAnswer says whether a program fits.
type CheckAnswer struct {
	AnswerHead
	Program program.ID `json:"program"`
	Name    string     `json:"name,omitempty"`
	fit.AnswerRow
}

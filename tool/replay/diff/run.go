package diff

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A Run is the comparable part of one capture, event log or saved report. [Of] and [Decode] make it. It does not
// change, and several goroutines may compare it.
type Run struct {
	file  string
	rank  event.Opt[uint64]
	nodes int64
	log   bool
	saved bool

	chip    Chip
	devices []*deviceRow // by id
	left    []resident   // buffers in L1 that live at the end
	leftAll bool         // none of them is left out, nor anything at a peak

	runs, failed int64
	untold       []answer.Code // reasons for "cannot tell"
	tightest     *TightestRun
}

// A deviceRow is one device of a Run.
type deviceRow struct {
	id      event.Opt[uint64]
	kind    answer.DeviceKind
	grid    Grid
	figures [numFigures]uint64
	peak    *peakRow
	groups  []answer.CoreGroup
	laid    []answer.CoreGroup // of what lay there at the peak, the bytes alone; nil if not known

	listed   bool // its programs are
	programs *answer.Programs
	buffers  [][]answer.ProgramBuffer // of programs, row by row; nil if not known
}

// A peakRow is the moment at which a core held most.
type peakRow struct {
	Peak
	residents []resident
	cut       bool   // residents lists those up to top alone
	top       uint64 // address at which the last one begins
}

// A resident is something that lies in L1.
type resident struct {
	kind   fit.Kind
	op     answer.Name    // of its program
	cb     event.Opt[int] // position in its program; absent if it is no program's
	inside string         // what else distinguishes it, like its device
	r      l1.Range
	size   uint64
	known  bool   // where it lies
	name   string // what it is, without its place; set to align it
}

// figure names one of the figures of a device.
type figure int

const (
	figurePrograms figure = iota
	figureCore
	figureAliveCore
	figureSum
	figureAliveSum
	figureLogical
	figureEnd
	figureDataflow
	figureScratchpad
	figurePeak
	figureTracked
	figureL1
	figureL1End
	figureSmall
	figureSmallEnd
	numFigures
)

// figureNames are the names of figures in JSON.
func figureNames() [numFigures]string {
	return [numFigures]string{
		"programs", "registered_core_peak_bytes", "core_peak_bytes", "registered_union_bytes", "resident_peak_bytes",
		"registered_logical_bytes", "highest_end", "dataflow_registered_core_peak_bytes", "scratchpad_registered_core_peak_bytes",
		"tracked_core_peak_bytes", "tracked_peak_bytes", "l1_peak_bytes", "l1_final_bytes", "l1_small_peak_bytes", "l1_small_final_bytes",
	}
}

// Of returns the comparable part of a Result. Programs are compared buffer by buffer if the Result was made with
// replay.Options.Buffers, else by their sums; Device.Laid needs replay.Options.Groups. The Result must not change
// afterwards. Cost: O(devices + programs).
func Of(r *answer.Result) *Run {
	head := r.ReportHead()
	out := newRun(&head)
	out.log = r.Log
	for i := range r.Devices {
		out.setDevice(&r.Devices[i])
	}
	composed := map[answer.Composition]*deviceRow{}
	for i := range r.L1 {
		out.setL1(&r.L1[i], composed)
	}
	return out
}

// newRun returns what a report says without its devices.
func newRun(doc *answer.ReportHead) *Run {
	out := &Run{
		file: doc.File, rank: doc.Rank, nodes: doc.Nodes, chip: chipOf(doc.Basis.Chip),
		runs: doc.Checks.Runs, failed: doc.Checks.Failed, untold: doc.Checks.Untold, leftAll: doc.Live.More == 0,
	}
	if t := doc.Checks.Tightest; t != nil {
		out.tightest = &TightestRun{
			Device: t.Device, Op: t.Run.Op, Counter: t.Enqueue, End: t.Row.End, Free: t.Row.Free, Gap: t.Row.Gap,
		}
	}
	for _, b := range doc.Live.List {
		if b.Kind.InL1() {
			out.left = append(out.left, resident{
				kind: b.Kind, op: b.Op, inside: fmt.Sprint(b.Device),
				r: l1.Range{Start: b.Address.V, End: b.Address.V}, size: b.Size, known: b.Address.OK,
			})
		}
	}
	return out
}

// device returns the row of a device, a new one if there is none. Devices come by id.
func (r *Run) device(id event.Opt[uint64]) *deviceRow {
	at, ok := slices.BinarySearchFunc(r.devices, id, func(d *deviceRow, id event.Opt[uint64]) int { return answer.CompareIDs(d.id, id) })
	if !ok {
		r.devices = slices.Insert(r.devices, at, &deviceRow{id: id})
	}
	return r.devices[at]
}

// setDevice adds the circular buffers of a device.
func (r *Run) setDevice(d *answer.Device) *deviceRow {
	row := r.device(d.ID)
	row.kind = d.Kind
	row.groups, row.programs, row.buffers = d.CoreGroups, d.ProgramsDetail, d.ProgramsBuffers
	row.listed = d.ProgramsDetail.Len() > 0 || d.Programs == 0
	f := &row.figures
	f[figurePrograms] = uint64(d.Programs)
	f[figureCore], f[figureAliveCore], f[figureSum], f[figureAliveSum] = d.RegisteredCorePeak, d.CorePeak, d.Registered, d.ResidentPeak
	f[figureLogical], f[figureEnd] = d.RegisteredLogical, d.HighestEnd
	f[figureDataflow], f[figureScratchpad] = d.Dataflow.RegisteredCorePeak, d.Scratchpad.RegisteredCorePeak
	return row
}

// setL1 adds the figures of the whole L1 of a device. See setPeak for composed.
func (r *Run) setL1(d *answer.DeviceL1, composed map[answer.Composition]*deviceRow) *deviceRow {
	row := r.device(d.ID)
	row.kind = d.Kind
	row.listed = row.listed || row.programs.Len() == 0 && row.figures[figurePrograms] == 0
	row.grid = Grid{Cols: d.Cols, Rows: d.Rows, Cores: d.NumCores, From: d.CoresFrom}
	f := &row.figures
	f[figureTracked], f[figureL1], f[figureL1End] = d.TotalPeak, d.L1Peak, d.L1Final
	f[figureSmall], f[figureSmallEnd] = d.SmallPeak, d.SmallFinal
	row.setPeak(d.Peak, composed)
	r.leftAll = r.leftAll && (row.peak == nil || !row.peak.cut)
	return row
}

// setPeak takes the peak of a device. Peaks with one name are composed once: composed has the first device of each.
func (d *deviceRow) setPeak(p *answer.L1Peak, composed map[answer.Composition]*deviceRow) {
	if p == nil {
		return
	}
	d.figures[figurePeak] = p.Bytes
	d.peak = &peakRow{Peak: Peak{Bytes: p.Bytes, Core: p.Core, Op: p.Op, Counter: p.At}}
	name, named := p.Laid()
	if first := composed[name]; named && first != nil {
		d.peak.residents, d.laid = first.peak.residents, first.laid // which no saved report has
		return
	}
	if named {
		composed[name] = d
	}
	p = p.Composed()
	for _, x := range p.Residents {
		one := resident{kind: x.Kind, r: x.Range(), size: x.Range().Len(), known: true}
		switch {
		case x.Program != nil && x.CB.OK:
			one.op, one.cb = x.Program.Op, event.Some(int(x.CB.V))
		case x.Buffer != nil:
			one.op, one.inside = x.Buffer.Op, x.Buffer.Layout
		}
		d.peak.residents = append(d.peak.residents, one)
	}
	d.peak.cut = p.More > 0
	for _, x := range d.peak.residents {
		d.peak.top = max(d.peak.top, x.r.Start)
	}
	for _, g := range p.Groups {
		d.laid = append(d.laid, answer.CoreGroup{Cores: g.Cores, Registered: g.Bytes})
	}
}

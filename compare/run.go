package compare

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// A Run is what one capture, event log or saved report says, as far as it is compared. [Of]
// and [Decode] make it; it does not change.
type Run struct {
	file  string
	rank  *uint64
	nodes int64
	log   bool
	saved bool

	chip    Chip
	devices []*deviceRow // by id
	left    []resident   // buffers in L1 that live at the end
	leftAll bool         // none of them is left out

	runs, failed int64
	untold       []replay.Code // why nobody can tell, each once
	tightest     *Tightest
}

// A deviceRow is what a Run says of one device.
type deviceRow struct {
	id      *uint64
	kind    replay.DeviceKind
	chips   []uint64
	grid    Grid
	figures [numFigures]uint64
	peak    *peakRow
	groups  []replay.CoreGroup
	laid    []replay.CoreGroup // of what lay there at the peak, the bytes alone; nil if not known

	listed   bool // its programs are
	programs *replay.Programs
	buffers  [][]replay.ProgramBuffer // of programs, row by row; nil if not known
}

// A peakRow is the moment at which a core held most.
type peakRow struct {
	Peak
	residents []resident
}

// A resident is something that lies in L1.
type resident struct {
	kind   string
	op     string // of whom it is
	cb     int    // position in its program; none if it is no program's
	inside string // what else tells it from others, like its device
	r      l1.Range
	size   uint64
	known  bool // where it lies
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

// Of returns what a Result says. Programs are compared buffer by buffer if it was made with
// replay.Options.Buffers, else by their sums. Cost: O(devices + programs).
func Of(r *replay.Result) *Run {
	out := &Run{
		file: r.File, nodes: r.Nodes, log: r.Log,
		chip: Chip{
			Arch: string(r.Spec.Arch), ArchFrom: string(r.Spec.ArchFrom), Base: r.Spec.CBBase, BaseFrom: string(r.Spec.BaseFrom),
			Align: r.Spec.CBAlign, L1Size: r.Spec.L1Size, L1Small: r.Spec.L1Small, SmallFrom: string(r.Spec.SmallFrom),
		},
		runs: r.Checks.Runs, failed: r.Checks.Failed, leftAll: r.Live.More == 0,
	}
	if r.Rank.OK {
		out.rank = &r.Rank.V
	}
	for _, why := range r.Judge(replay.Terms{}).Untold {
		out.doubt(why.Code)
	}
	if t := r.Checks.Tightest; t != nil {
		out.tightest = &Tightest{Op: string(t.Run.Op), Counter: t.Enqueue, Free: t.Headroom.Free, Gap: t.Headroom.Gap.Len(), End: t.Headroom.End}
		if t.Device.OK {
			out.tightest.Device = &t.Device.V
		}
	}
	for i := range r.Devices {
		d := &r.Devices[i]
		row := out.device(optional(d.ID.V, d.ID.OK))
		row.kind, row.chips = d.Kind, d.Chips
		row.figures = figuresOf(d)
		row.groups, row.listed, row.programs, row.buffers = d.CoreGroups, true, d.ProgramsDetail, d.ProgramsBuffers
	}
	composed := map[replay.Laid]*deviceRow{}
	for i := range r.L1 {
		d := &r.L1[i]
		row := out.device(optional(d.ID.V, d.ID.OK))
		row.kind, row.chips, row.listed = d.Kind, d.Chips, true
		row.grid = Grid{Cols: d.Cols, Rows: d.Rows, Cores: d.NumCores, From: string(d.CoresFrom)}
		row.figures[figureTracked], row.figures[figureL1], row.figures[figureL1End] = d.TotalPeak, d.L1Peak, d.L1Final
		row.figures[figureSmall], row.figures[figureSmallEnd] = d.SmallPeak, d.SmallFinal
		row.setPeak(d.Peak, composed)
	}
	for _, b := range r.Live.List {
		if !b.Kind.InL1() {
			continue
		}
		at := l1.Range{Start: b.Address.V, End: b.Address.V}
		out.left = append(out.left, resident{kind: b.Kind.Name(), op: string(b.Op), cb: none, inside: named(optional(b.Device.V, b.Device.OK)), r: at, size: b.Size, known: b.Address.OK})
	}
	return out
}

func optional(v uint64, ok bool) *uint64 {
	if !ok {
		return nil
	}
	return &v
}

// doubt adds a reason why nobody can tell.
func (r *Run) doubt(code replay.Code) {
	if !slices.Contains(r.untold, code) {
		r.untold = append(r.untold, code)
	}
}

// device returns the row of a device, a new one if there is none. Devices come by id.
func (r *Run) device(id *uint64) *deviceRow {
	at, ok := slices.BinarySearchFunc(r.devices, id, func(d *deviceRow, id *uint64) int { return compareIDs(d.id, id) })
	if !ok {
		r.devices = slices.Insert(r.devices, at, &deviceRow{id: id})
	}
	return r.devices[at]
}

// figuresOf returns the figures of circular buffers and their like.
func figuresOf(d *replay.Device) (f [numFigures]uint64) {
	f[figurePrograms] = uint64(d.Programs)
	f[figureCore], f[figureAliveCore], f[figureSum], f[figureAliveSum] = d.RegisteredCorePeak, d.CorePeak, d.Registered, d.ResidentPeak
	f[figureLogical], f[figureEnd] = d.RegisteredLogical, d.HighestEnd
	f[figureDataflow], f[figureScratchpad] = d.Dataflow.RegisteredCorePeak, d.Scratchpad.RegisteredCorePeak
	return f
}

// setPeak takes the peak of a device. Peaks with one name are composed once: composed has the first device of each.
func (d *deviceRow) setPeak(p *replay.L1Peak, composed map[replay.Laid]*deviceRow) {
	if p == nil {
		return
	}
	d.figures[figurePeak] = p.Bytes
	d.peak = &peakRow{Peak: Peak{Bytes: p.Bytes, Core: p.Core.String(), Op: string(p.Op), Counter: p.At}}
	name, named := p.Laid()
	if first := composed[name]; named && first != nil {
		d.peak.residents, d.laid = first.peak.residents, first.laid
		return
	}
	if named {
		composed[name] = d
	}
	p = p.Composed()
	for _, x := range p.Residents {
		one := resident{kind: x.Kind.Name(), cb: none, r: x.Range(), size: x.Range().Len(), known: true}
		switch {
		case x.Program != nil:
			one.op, one.cb = string(x.Program.Op), int(x.CB.V)
		case x.Buffer != nil:
			one.op, one.inside = string(x.Buffer.Op), x.Buffer.Layout
		}
		d.peak.residents = append(d.peak.residents, one)
	}
	for _, g := range p.Groups {
		d.laid = append(d.laid, replay.CoreGroup{Cores: g.Cores, Registered: g.Bytes})
	}
}

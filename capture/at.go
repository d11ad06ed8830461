package capture

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
)

// A Question asks what holds one byte of L1.
type Question struct {
	Address uint64
	At      Opt[uint64] // counter of a node: the state after it; absent = after the last one
}

// Held is what holds the byte that a Question is about, on some cores of a device.
type Held struct {
	Device Opt[uint64]
	Kind   DeviceKind
	Chips  []uint64 // of a mesh, ascending
	Cores  l1.CoreSet

	// Resident has what is there: the buffers of the program that ran last on these
	// cores, and allocated ones. A run of CB nodes that is not complete after the node
	// in question counts as it stands.
	Resident []L1Resident
	// Registered has the circular buffers of all programs that ran by then, as the
	// program cache keeps them; the one that ran last is among them. Programs that
	// differ in their nodes alone are there once, by their first run.
	Registered []L1Resident
}

// afterAll stands for the node after the last one.
const afterAll = math.MaxUint64

// due reports whether the node before next was the one in question.
func (q *Question) due(next uint64) bool { return next > q.At.Or(afterAll-1) }

// ask answers Options.Ask if the node before next was the one in question; after the
// last node next is afterAll.
func (p *replayer) ask(next uint64) error {
	q := p.opt.Ask
	if q == nil || p.asked || !q.due(next) {
		return nil
	}
	p.asked = true
	if err := p.settle(); err != nil {
		return err
	}
	if err := p.complete(slices.Clone(p.open), next); err != nil {
		return err
	}
	for _, d := range p.memory.sorted() {
		row := p.devices[d.id]
		if row == nil && len(p.devices) > 0 {
			continue // what a mesh has stands at its chips
		}
		p.result.Held = append(p.result.Held, p.holders(d, row, q.Address)...)
	}
	return nil
}

// holders returns what holds a byte of a device, by first core.
func (p *replayer) holders(d *l1Device, row *replayDevice, addr uint64) []Held {
	kind, chips := p.kindOfID(d.id)
	h := holding{of: Held{Device: d.id, Kind: kind, Chips: chips}}
	for g := range d.dev.UsageGroups(device.BasisResident) {
		for r := range g.Residents() {
			if r.Range.Has(addr) {
				h.on(g.Cores, func(h *Held) { h.Resident = append(h.Resident, p.resident(d, r)) })
			}
		}
	}
	for _, known := range p.layoutsOf(row) {
		for i, cb := range known.layout.cbs {
			if !cb.Global && cb.Range.Has(addr) {
				h.on(cb.Cores.Cores(), func(h *Held) {
					h.Registered = append(h.Registered, L1Resident{Kind: device.KindCB, Range: cb.Range, Program: &known.run, CB: i})
				})
			}
		}
	}
	return h.rows()
}

// holding gathers what holds a byte of one device.
type holding struct {
	of  Held // without cores
	out []Held
}

// on divides the rows so that some begin and end with the cores, and adds to those.
func (h *holding) on(cores l1.CoreSet, add func(*Held)) {
	for i := 0; i < len(h.out) && !cores.IsEmpty(); i++ {
		common := h.out[i].Cores.Intersect(cores)
		if common.IsEmpty() {
			continue
		}
		cores = cores.Minus(common)
		if rest := h.out[i].Cores.Minus(common); !rest.IsEmpty() {
			o := h.out[i]
			o.Cores = rest
			o.Resident, o.Registered = slices.Clone(o.Resident), slices.Clone(o.Registered)
			h.out = append(h.out, o)
			h.out[i].Cores = common
		}
		add(&h.out[i])
	}
	if !cores.IsEmpty() {
		row := h.of
		row.Cores = cores
		add(&row)
		h.out = append(h.out, row)
	}
}

// rows returns one row for cores on which the same holds the byte, by first core.
func (h *holding) rows() []Held {
	out := joinHeld(h.out)
	slices.SortFunc(out, func(a, b Held) int { return firstCore(a.Cores).Compare(firstCore(b.Cores)) })
	return out
}

// joinHeld puts rows together that differ in their cores alone.
func joinHeld(rows []Held) (out []Held) {
	for _, h := range rows {
		same := slices.IndexFunc(out, func(o Held) bool {
			return slices.EqualFunc(o.Resident, h.Resident, sameResident) && slices.EqualFunc(o.Registered, h.Registered, sameResident)
		})
		if same < 0 {
			out = append(out, h)
			continue
		}
		out[same].Cores = out[same].Cores.Union(h.Cores)
	}
	return out
}

func sameResident(a, b L1Resident) bool {
	switch {
	case a.Kind != b.Kind || a.Range != b.Range || a.CB != b.CB || (a.Program == nil) != (b.Program == nil) || (a.Buffer == nil) != (b.Buffer == nil):
		return false
	case a.Program != nil:
		return *a.Program == *b.Program
	}
	return a.Buffer == nil || *a.Buffer == *b.Buffer
}

// A knownLayout is a layout and its first run on a device.
type knownLayout struct {
	layout *layout
	run    ProgramRun
}

// layoutsOf returns the layouts that ran on a device, by their first run.
func (p *replayer) layoutsOf(d *replayDevice) []knownLayout {
	if d == nil {
		return nil
	}
	var out []knownLayout
	for l, i := range d.detail {
		row := d.row.ProgramsDetail[i]
		out = append(out, knownLayout{l, ProgramRun{Row: i, At: row.First, Op: row.Op}})
	}
	if len(d.run) > 0 && d.launched == len(d.run) { // ran, and is not over
		if l, err := p.layoutOf(d.run); err == nil && l.counted[0] != nil {
			if _, seen := d.detail[l]; !seen {
				out = append(out, knownLayout{l, ProgramRun{Row: len(d.row.ProgramsDetail), At: d.first, Op: d.op}})
			}
		}
	}
	slices.SortFunc(out, func(a, b knownLayout) int { return a.run.Row - b.run.Row })
	return out
}

package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Question is a query for the holders of one byte of L1.
type Question struct {
	Address uint64            `json:"address"`
	At      event.Opt[uint64] `json:"at"` // counter of a node or number of a line: the state after it; absent = the end
}

// WhoSchema names the form of a WhoDocument.
const WhoSchema = "cbl1.who/1"

// A WhoDocument is the answer of cbl1 who. It is narrowed to a core, a device, or some operations.
type WhoDocument struct {
	Origin
	Nodes  int64    `json:"nodes"`
	Basis  Basis    `json:"basis"`
	Untold []Reason `json:"untold"`
	Question
	Core   event.Opt[l1.Core] `json:"core"`
	Device event.Opt[uint64]  `json:"device"`
	Op     Name               `json:"op"`
	Held   []Holders          `json:"held"`
}

// Holders lists all that holds the byte of a Question on some cores of a device.
type Holders struct {
	Device event.Opt[uint64] `json:"device"`
	Kind   DeviceKind        `json:"kind"`
	Chips  []uint64          `json:"chips"` // of a mesh, ascending
	Cores  l1.CoreSet        `json:"cores"`
	Count  int               `json:"count"` // of Cores; of WhoDocument alone

	// Resident has the buffers of the program that ran last on these cores, and allocated
	// ones. A run of CB nodes that is not complete after the node
	// in question counts as it stands.
	Resident []L1Resident `json:"resident"`
	// Registered has the circular buffers of all programs that are registered then. In a
	// capture these are all programs that ran by then, as the program cache keeps them, the
	// last one included. Programs that differ in their nodes alone are there once, by their
	// first run.
	Registered []L1Resident `json:"registered"`
}

// Who returns what holds a byte: the rows of Held that a filter leaves, cut to its core. Options.Ask had
// the same question.
func (r *Result) Who(q Question, only Filter) WhoDocument {
	head := r.Head(WhoSchema)
	doc := WhoDocument{
		head.Origin, head.Nodes, r.Basis(r.Spec), List(r.Untracked()), q, only.Core, only.Device, only.Op, []Holders{},
	}
	for _, h := range r.Held {
		if !only.HasDevice(h.Device) || !only.HasCores(h.Cores) {
			continue
		}
		if only.Core.OK {
			h.Cores = l1.CoreSetOf(only.Core.V)
		}
		if only.Op != "" {
			h.Resident, h.Registered = only.residents(h.Resident), only.residents(h.Registered)
			if len(h.Resident)+len(h.Registered) == 0 {
				continue
			}
		}
		h.Count, h.Chips = h.Cores.Len(), List(h.Chips)
		h.Resident, h.Registered = List(h.Resident), List(h.Registered)
		doc.Held = append(doc.Held, h)
	}
	return doc
}

// residents returns the residents of the operations that are left.
func (f Filter) residents(all []L1Resident) (out []L1Resident) {
	for _, x := range all {
		if x.Program != nil && f.HasOp(x.Program.Op) || x.Buffer != nil && f.HasOp(x.Buffer.Op) {
			out = append(out, x)
		}
	}
	return out
}

// holding gathers what holds a byte of one device.
type holding struct {
	of  Holders // without cores
	out []Holders
}

// on splits rows at the borders of the cores, and calls add for each row inside.
func (h *holding) on(cores l1.CoreSet, add func(*Holders)) {
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
func (h *holding) rows() []Holders {
	out := joinHeld(h.out)
	slices.SortFunc(out, func(a, b Holders) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// joinHeld puts rows together that differ in their cores alone.
func joinHeld(rows []Holders) (out []Holders) {
	for _, h := range rows {
		same := slices.IndexFunc(out, func(o Holders) bool {
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
	case a.Kind != b.Kind || a.Range() != b.Range() || a.CB != b.CB || (a.Program == nil) != (b.Program == nil) || (a.Buffer == nil) != (b.Buffer == nil):
		return false
	case a.Program != nil:
		return *a.Program == *b.Program
	}
	return a.Buffer == nil || *a.Buffer == *b.Buffer
}

// beyond reports whether an event is the first whose node lies beyond a node: the state
// before it is the one after that node. A run comes when it is complete, and counts from
// its first node. Its continuation counts from the last node.
func beyond(at event.Opt[uint64], e *event.Event) bool {
	if !at.OK {
		return false
	}
	switch e.Kind {
	case event.KindHeader, event.KindHidden, event.KindAnomaly, event.KindUpstream, event.KindEnd:
		return false
	case event.KindRun:
		switch {
		case e.Inferred || len(e.On) == 0:
		case e.Continues:
			return e.On[0].Last > at.V
		default:
			return e.On[0].First > at.V
		}
	}
	return e.Node > at.V
}

// A who answers Options.Ask.
type who struct {
	address uint64
	held    []Holders
}

// ask answers the question: what lies where now.
func (w *who) ask(rows *rows, _ *marker) {
	now, shown := rows.fleet.Snapshot(), rows.shown()
	there := map[device.MomentName][]holder{}
	held := map[*row][]Holders{}
	for d, id := range rows.each() {
		if !shown(d) {
			continue
		}
		if _, known := held[d]; !known {
			held[d] = nil
			if on, ok := now.Device(d.slot); ok {
				moment := d.dev.Moment()
				of, known := there[moment.Name()]
				if !known {
					of = holdersAt(moment, w.address)
					there[moment.Name()] = of
				}
				held[d] = w.holders(d, on, of)
			}
		}
		for _, h := range held[d] {
			h.Device = id
			w.held = append(w.held, h)
		}
	}
}

// A holder holds a byte on some cores.
type holder struct {
	cores l1.CoreSet
	held  fit.Resident
}

// holdersAt returns what holds a byte at a moment.
func holdersAt(m device.Moment, addr uint64) (out []holder) {
	for g := range m.UsageGroups() {
		for held := range g.Residents() {
			if held.Range.Has(addr) {
				out = append(out, holder{g.Cores, held})
			}
		}
	}
	return out
}

// holders returns what holds a byte of a device, by first core.
func (w *who) holders(d *row, now *device.DeviceSnapshot, of []holder) []Holders {
	kind, chips := d.says.kind()
	h := holding{of: Holders{Device: d.id, Kind: kind, Chips: chips}}
	for _, one := range of {
		h.on(one.cores, func(h *Holders) { h.Resident = append(h.Resident, d.memory.resident(one.held)) })
	}
	for _, p := range d.programs.registered(now) {
		i := d.programs.detail.of(p.ID())
		detail := d.figures.ProgramsDetail.At(i)
		run := ProgramRun{Row: i, At: detail.First, T: detail.T, Op: detail.Op}
		n := -1
		for _, cb := range p.CBs() {
			if cb.Kind != program.CircularBuffer {
				continue
			}
			if n++; !cb.Global && cb.Range.Has(w.address) {
				held := L1Resident{ResidentRow: fit.NewResidentRow(fit.KindCB, cb.Range), CB: event.Some(uint64(n)), Program: &run}
				h.on(cb.On, func(h *Holders) { h.Registered = append(h.Registered, held) })
			}
		}
	}
	return h.rows()
}

// registered returns the programs of a device that have circular buffers, by their rows.
func (p *programs) registered(now *device.DeviceSnapshot) (out []*program.Program) {
	for one := range now.Programs() {
		if _, ok := p.detail.get(one.ID()); ok {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b *program.Program) int { return p.detail.of(a.ID()) - p.detail.of(b.ID()) })
	return out
}

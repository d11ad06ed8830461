package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// holding gathers what holds a byte of one device.
type holding struct {
	of  answer.Holders // without cores
	out []answer.Holders
}

// on splits rows at the borders of the cores, and calls add for each row inside.
func (h *holding) on(cores l1.CoreSet, add func(*answer.Holders)) {
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
func (h *holding) rows() []answer.Holders {
	out := joinHeld(h.out)
	slices.SortFunc(out, func(a, b answer.Holders) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// joinHeld puts rows together that differ in their cores alone.
func joinHeld(rows []answer.Holders) (out []answer.Holders) {
	for _, h := range rows {
		same := slices.IndexFunc(out, func(o answer.Holders) bool {
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

func sameResident(a, b answer.L1Resident) bool {
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
	held    []answer.Holders
}

// ask answers the question: what lies where now.
func (w *who) ask(rows *rows, _ *marker) {
	now, shown := rows.fleet.Snapshot(), rows.shown()
	there := map[device.MomentName][]holder{}
	held := map[*row][]answer.Holders{}
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
func (w *who) holders(d *row, now *device.DeviceSnapshot, of []holder) []answer.Holders {
	kind, chips := d.facts.kind()
	h := holding{of: answer.Holders{Device: d.id, Kind: kind, Chips: chips}}
	for _, one := range of {
		h.on(one.cores, func(h *answer.Holders) { h.Resident = append(h.Resident, d.memory.resident(one.held)) })
	}
	for _, p := range d.programs.registered(now) {
		i := d.programs.detail.Of(p.ID())
		detail := d.figures.ProgramsDetail.At(i)
		run := answer.ProgramRun{Row: i, At: detail.First, T: detail.T, Op: detail.Op}
		n := -1
		for _, cb := range p.CBs() {
			if cb.Kind != program.CircularBuffer {
				continue
			}
			if n++; !cb.Global && cb.Range.Has(w.address) {
				held := answer.L1Resident{ResidentRow: fit.NewResidentRow(fit.KindCB, cb.Range), CB: event.Some(uint64(n)), Program: &run}
				h.on(cb.On, func(h *answer.Holders) { h.Registered = append(h.Registered, held) })
			}
		}
	}
	return h.rows()
}

// registered returns the programs of a device that have circular buffers, by their rows.
func (p *programs) registered(now *device.DeviceSnapshot) (out []*program.Program) {
	for one := range now.Programs() {
		if _, ok := p.detail.Get(one.ID()); ok {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b *program.Program) int { return p.detail.Of(a.ID()) - p.detail.Of(b.ID()) })
	return out
}

package capture

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// shared is what the parts of the third stage have in common: knowledge of the devices, and the queue of events.
type shared struct {
	known *knowledge
	specs *specs
	grids *grids
	units *units
	out   *events
}

func newShared(known *knowledge, opt Options) *shared {
	s := &specs{opt: opt, known: known}
	g := &grids{specs: s, known: known, byID: map[device.ID]*grid{}}
	return &shared{known, s, g, newUnits(known.members), newEvents()}
}

// declare makes the units, and yields a declaration of each, and of each mesh that nothing names but the nodes of
// its chips.
func (g *shared) declare() {
	ids := maps.Clone(g.known.ids)
	for mesh := range g.known.members.chips {
		ids[mesh] = true
	}
	for _, id := range slices.SortedFunc(maps.Keys(ids), graph.CompareDevices) {
		e := g.declaration(id)
		g.out.tell(&e)
		if !g.known.ids[id] {
			continue
		}
		_, bases := g.specs.base(id)
		g.units.add(&unit{id: id, spec: e.Spec, bases: bases})
		if g.known.members.isHybrid(id) {
			g.out.tell(&event.Event{Kind: event.KindHybrid, Devices: event.Some([]device.ID{id})})
		}
	}
}

func (g *shared) declaration(id device.ID) event.Event {
	of := g.grids.of(id)
	e := event.Event{Kind: event.KindDevice, Device: id, Role: g.known.members.role(id)}
	if e.Role == event.RoleMesh {
		e.Chips = g.known.members.chips[id]
	}
	e.Spec, e.From = g.specs.of(id)
	e.Spec.Cols, e.Spec.Rows = of.cols, of.rows
	e.From.Grid = of.from
	return e
}

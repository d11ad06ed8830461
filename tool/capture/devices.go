package capture

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// shared has the knowledge of the devices and the queue of events, for all parts of the third stage.
type shared struct {
	*survey.Chips
	units *units
	out   *events
}

func newShared(known *survey.Knowledge, opt Options) *shared {
	return &shared{survey.NewChips(known, opt.overrides()), newUnits(known.Members), newEvents()}
}

// declare makes the units, and yields a declaration of each, and of each mesh that nothing names but the nodes of
// its chips.
func (g *shared) declare() {
	ids := maps.Clone(g.Known.IDs)
	for mesh := range g.Known.Members.Chips {
		ids[mesh] = true
	}
	for _, id := range slices.SortedFunc(maps.Keys(ids), graph.CompareDevices) {
		e := g.declaration(id)
		g.out.emit(&e)
		if !g.Known.IDs[id] {
			continue
		}
		_, bases := g.Specs.Base(id)
		g.units.add(&unit{id: id, spec: e.Spec, bases: bases})
		if g.Known.Members.IsHybrid(id) {
			g.out.emit(&event.Event{Kind: event.KindHybrid, Devices: event.Some([]device.ID{id})})
		}
	}
}

func (g *shared) declaration(id device.ID) event.Event {
	of := g.Grids.Of(id)
	e := event.Event{Kind: event.KindDevice, Device: id, Role: g.Known.Members.Role(id)}
	if e.Role == event.RoleMesh {
		e.Chips = g.Known.Members.Chips[id]
	}
	e.Spec, e.From = g.Specs.Of(id)
	e.Spec.Cols, e.Spec.Rows = of.Cols, of.Rows
	e.From.Grid = of.From
	return e
}

// noteSmall notes rows and messages that contradict themselves, or an L1_SMALL buffer.
func (g *shared) noteSmall() {
	s, odd := g.Specs, g.out.notes
	if s.Opt.L1Small.OK {
		return // the file's sizes are not used
	}
	if s.Known.Sizes.SaidWrong {
		odd.add(noteSmallWrong, wholeFile, "messages of the allocator")
	}
	for _, d := range s.Known.Rows {
		if d.IsNegative() || s.Known.Sizes.Contradicted[d.ID] {
			odd.add(noteSmallWrong, wholeFile, "")
		}
	}
}

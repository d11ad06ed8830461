package capture

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// ground is shared by the parts of the third stage: knowledge of the devices, and the queue of events.
type ground struct {
	known *knowledge
	specs *specs
	grids *grids
	units *units
	out   *events
}

func newGround(known *knowledge, opt Options, info *reportInfo) *ground {
	s := &specs{opt: opt, known: known, info: info}
	g := &grids{specs: s, known: known, byID: map[device.ID]*grid{}}
	return &ground{known, s, g, newUnits(known.members), newEvents()}
}

// devices declare the chip or mesh of each id of a capture.
type devices struct{ *ground }

// declare yields the declaration of a unit.
func (d *devices) declare(u *unit, like event.Opt[device.ID], at uint64) {
	e := d.declaration(u.id, at)
	e.Like = like
	u.told = declaredBy(&e)
	d.out.tell(&e)
}

func (d *devices) declaration(id device.ID, at uint64) event.Event {
	g := d.grids.of(id)
	e := event.Event{Kind: event.KindDevice, Node: at, Device: id, Role: d.known.members.role(id)}
	e.Spec, e.From = d.specs.of(id)
	if u := d.units.byID[id]; u != nil && u.declared() && u.told.spec.L1Small != e.Spec.L1Small { // its sizes stay
		e.Spec.L1Small, e.From.Small = u.told.spec.L1Small, u.told.from.Small
	}
	e.Spec.Cols, e.Spec.Rows = g.cols, g.rows
	e.From.Grid = g.from
	e.Chips = slices.Clone(d.known.members.chips[id])
	return e
}

// declareAgain yields corrected declarations of units, and the declarations of meshes that only the nodes
// of their chips show.
func (d *devices) declareAgain(at uint64) {
	ids := slices.Collect(maps.Keys(d.known.members.chips))
	for id := range d.units.byID {
		if !d.known.members.isMesh(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, byID)
	for _, id := range ids {
		e, u := d.declaration(id, at), d.units.byID[id]
		if u == nil || !u.told.equal(declaredBy(&e)) {
			d.out.tell(&e)
			if u != nil {
				u.told = declaredBy(&e)
			}
		}
	}
}

// perCore records that a tensor was allocated core by core, which shows the mode of its
// device: HYBRID, from the start and for all its buffers. That is late if the stage has made addresses.
func (d *devices) perCore(id device.ID, at uint64, made bool) {
	if d.known.members.hybrid[id] {
		return
	}
	if made {
		d.known.tooLate(noteMeshLate) // at addresses of another alignment
	}
	d.known.members.hybrid[id] = true
	for _, u := range d.units.reached(id) {
		d.allocatedBy(u, at)
	}
}

// allocatedBy yields once that a unit is in HYBRID mode, when that is known.
func (d *devices) allocatedBy(u *unit, at uint64) {
	if u.hybrid || !d.known.members.isHybrid(u.id) {
		return
	}
	u.hybrid = true
	if u.ran {
		d.known.late.add(noteModeLate, int64(at), "")
	}
	d.out.tell(&event.Event{Kind: event.KindHybrid, Node: at, Devices: event.Some([]device.ID{u.id})})
}

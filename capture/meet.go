package capture

import (
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// perCore takes in that a tensor was allocated core by core, which shows the mode of its
// device: HYBRID, from the start and for all its buffers.
func (w *walk) perCore(id device.ID) {
	if w.known.members.hybrid[id] {
		return
	}
	w.known.members.hybrid[id] = true
	if w.places.made {
		w.known.tooLate(noteMeshLate) // at addresses of another alignment
	}
	for _, u := range w.units.reached(id) {
		w.allocatedBy(u)
	}
}

// allocatedBy tells that a unit is in HYBRID mode, if that is known and was not told.
func (w *walk) allocatedBy(u *unit) {
	if u.hybrid || !w.known.members.isHybrid(u.id) {
		return
	}
	u.hybrid = true
	if u.ran {
		w.known.late.add(noteModeLate, int64(w.counter), "")
	}
	w.out.tell(&event.Event{Kind: event.KindHybrid, Node: w.counter, Devices: event.Some([]device.ID{u.id})})
}

// members takes in which chips of a mesh have a part of a tensor.
func (w *walk) members(n *node) {
	if n.Anomaly.Has(event.AnomalyDeviceTensors) {
		w.hideMembers()
	}
	for _, t := range n.DeviceTensors {
		if t.MeshDeviceID.OK {
			w.learn(device.ID(t.MeshDeviceID.V), device.ID(t.DeviceID))
		}
	}
}

// learn takes in that a mesh has a chip, which may have missed frees and buffers of the
// mesh.
func (w *walk) learn(mesh, chip device.ID) {
	u := w.units.byID[chip]
	if u != nil {
		w.heralds.wake(u) // what was announced to it so far is without what is learnt now
	}
	if !w.known.members.member(mesh, chip) {
		return
	}
	delete(w.units.reach, mesh)
	if w.unread.freed[mesh] || w.unread.freed[chip] || u != nil && u.blind {
		w.known.tooLate(noteMeshLate) // its buffers may be hidden, or its programs show
	}
	if w.heralds.wrong(mesh, chip, u, w.counter) {
		w.known.tooLate(noteMeshLate)
	}
	if u == nil {
		return // it will begin with what the mesh has
	}
	w.allocatedBy(u)
	if b := w.buffers.waiting; b != nil && b.named == mesh {
		w.settle()
	}
	if from := w.units.byID[mesh]; from != nil && from.touched {
		w.known.tooLate(noteMeshLate)
		w.join(u, slices.Values([]device.ID{mesh}))
	}
}

// declare tells what is known of a unit.
func (w *walk) declare(u *unit, like event.Opt[device.ID]) {
	e := w.declaration(u.id)
	e.Like = like
	u.told = declaredBy(&e)
	w.out.tell(&e)
}

func (w *walk) declaration(id device.ID) event.Event {
	g := w.grids.of(id)
	e := event.Event{Kind: event.KindDevice, Node: w.counter, Device: id, Role: w.known.members.role(id)}
	e.Spec, e.From = w.specs.of(id)
	if u := w.units.byID[id]; u != nil && u.declared() && u.told.spec.L1Small != e.Spec.L1Small { // its sizes stay
		e.Spec.L1Small, e.From.Small = u.told.spec.L1Small, u.told.from.Small
	}
	e.Spec.Cols, e.Spec.Rows = g.cols, g.rows
	e.From.Grid = g.from
	e.Chips = slices.Clone(w.known.members.chips[id])
	return e
}

// declareAgain tells the units that turned out to be something else than was told, and
// the meshes that nothing but their chips' nodes show.
func (w *walk) declareAgain() {
	ids := slices.Collect(maps.Keys(w.known.members.chips))
	for id := range w.units.byID {
		if !w.known.members.isMesh(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, byID)
	for _, id := range ids {
		e, u := w.declaration(id), w.units.byID[id]
		if u == nil || !u.told.equal(declaredBy(&e)) {
			w.out.tell(&e)
			if u != nil {
				u.told = declaredBy(&e)
			}
		}
	}
}

// meet returns the unit with an id. A new one begins with what its meshes have.
func (w *walk) meet(id device.ID) *unit {
	if u := w.units.byID[id]; u != nil {
		return u
	}
	u := &unit{id: id, met: w.counter}
	w.known.members.met[id] = true
	if u.blind = w.hiddenFrom(id); u.blind {
		w.unread.blind++
	}
	like := event.Opt[device.ID]{}
	spec, _ := w.specs.of(id)
	for _, from := range w.units.meshesOf(id) {
		if !from.touched {
			continue
		}
		cores := w.grids.use(from.id).cores
		if like.OK || from.ran || !cores.Equal(w.grids.use(id).cores) || from.told.spec.L1Small != spec.L1Small {
			w.known.tooLate(noteMeshLate) // its history is not the mesh's
		}
		if !like.OK {
			like, u.touched = event.Some(from.id), true
		}
	}
	w.units.add(u)
	w.declare(u, like)
	w.allocatedBy(u)
	w.join(u, w.known.members.above(id))
	return u
}

// join tells that the live buffers of some ids also lie on a unit, as is known only now. Why they lie
// nowhere, or on all cores, was told before.
func (w *walk) join(u *unit, named iter.Seq[device.ID]) {
	ids := slices.Collect(named)
	var all []*buffer
	for _, b := range w.attending {
		if slices.Contains(ids, b.named) {
			all = append(all, b.buffer)
		}
	}
	for _, b := range append(all, w.buffers.reaching(named)...) {
		if b.told && !slices.Contains(b.on, u) {
			b.on = append(b.on, u) // which has no room for it where others have the list too
			if b.placed && b.crossesBorder(u) {
				w.known.tooLate(noteMeshLate)
			}
			e := w.allocation(b)
			w.tellBuffer(&e, b, []*unit{u})
		}
	}
}

// hiddenFrom reports whether the programs of a unit that is met now are hidden.
func (w *walk) hiddenFrom(id device.ID) bool {
	if !w.unread.all.OK {
		return false
	}
	for of := range w.known.members.above(id) {
		if at, ok := w.unread.lifted[of]; ok && at >= w.unread.all.V {
			return false
		}
	}
	return true
}

// hideMembers notes that the chips of a mesh may be hidden. That matters to all frees.
func (w *walk) hideMembers() {
	if !w.known.members.unread {
		w.known.members.unread = true
		if len(w.heralds.byID) > 0 {
			w.known.tooLate(noteNone)
		}
	}
}

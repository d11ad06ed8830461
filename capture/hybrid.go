package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// perCore takes in that a tensor was allocated core by core, which shows the mode of its
// device: HYBRID, from the start and for all its buffers.
func (w *walk) perCore(id device.ID) {
	if w.known.hybrid[id] {
		return
	}
	w.known.hybrid[id] = true
	w.known.late = w.known.late || w.places.made // at addresses of another alignment
	for _, u := range w.units.reached(id) {
		w.allocatedBy(u)
	}
}

// allocatedBy tells that a unit is in HYBRID mode, if that is known and was not told.
func (w *walk) allocatedBy(u *unit) {
	if u.hybrid || !w.known.isHybrid(u.id) {
		return
	}
	u.hybrid = true
	if u.ran {
		w.known.untimely = true
		w.notes.add(noteModeLate, int64(w.counter), "")
	}
	w.tell(&event.Event{Kind: event.KindHybrid, Node: w.counter, Devices: event.Some([]device.ID{u.id})})
}

// isHybrid reports whether a tensor that lies on an id was allocated core by core.
func (k *learnt) isHybrid(id device.ID) bool {
	for of := range k.above(id) {
		if k.hybrid[of] {
			return true
		}
	}
	return false
}

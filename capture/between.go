package capture

import "github.com/cbl1/cbl1/device"

// A database has a graph for each operation, and no graph of the time between two operations. It lists the
// L1 buffers that lived at the end of each operation. Two lists show what happened between them. Example:
// buffer 7 is in the list of operation 1. It is not in the list of operation 2, whose graph frees nothing.
// So buffer 7 was freed before operation 2 began. A buffer that only the second list has, and no graph
// allocates, came before operation 2 began.

// slice makes a reading ready for the slices of a database.
func (r *reading) slice() {
	r.places.memory.live.sliced, r.places.memory.borders.ids = true, map[device.ID]bool{}
	r.reader.ended = r.endSlice
	if r.past != nil {
		r.past.time.sliced = true
	}
}

// endSlice records that the nodes from start to before next are all of an operation. Functions that did not end
// end with it, and nothing in it leads out of it.
func (r *reading) endSlice(start, next uint64) error {
	if next == start {
		return nil
	}
	r.stand()
	r.places.memory.tellEarlier(&node{})
	for len(r.operations.stack) > 0 {
		r.out.notes.add(noteUnfinished, wholeFile, r.operations.inner().name)
		s := r.operations.unfinished(next-1, r.lost())
		r.places.stand(s)
		r.places.end(s)
	}
	clear(r.places.memory.live.tensors)
	r.places.memory.borders.began, r.places.memory.borders.next = start, next
	if r.past != nil {
		clear(r.past.clues.tensors)
		r.past.time.spans = append(r.past.time.spans, span{start, next - 1})
	}
	return r.failed()
}

// lookBetween finds the ends of buffers that no node frees, for another reading, and the ids without a list
// of the buffers that lived when operations ended.
func (r *reading) lookBetween() {
	if r.reader.part == nil {
		return
	}
	r.places.memory.borders.end(r.places.memory.live)
	r.known.before.mute = map[device.ID]bool{}
	for id := range r.places.memory.borders.ids {
		r.known.before.mute[id] = !r.past.speaks(id)
	}
	if ends := r.past.absences(); len(ends) > 0 {
		r.known.before.ends = ends
		r.known.tooLate(noteNone)
	}
}

// tellBetween notes the facts that a database does not contain.
func (r *reading) tellBetween() {
	r.places.memory.borders.end(r.places.memory.live)
	for id := range r.places.memory.borders.ids {
		if r.known.before.mute[id] {
			r.out.hidden.add(hiddenBetween, wholeFile, "")
		}
	}
	if info := r.reader.info; info.Lost > 0 {
		r.out.hidden[hiddenOperation] = &note{count: info.Lost, first: wholeFile, detail: info.LostName}
	}
}

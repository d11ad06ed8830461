package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// A database has a graph for each operation, and no graph of the time between two operations. It lists the
// L1 buffers that lived at the end of each operation. Two lists show what happened between them. Example:
// buffer 7 is in the list of operation 1. It is not in the list of operation 2, whose graph frees nothing.
// So buffer 7 was freed before operation 2 began. A buffer that only the second list has, and no graph
// allocates, came before operation 2 began.

// borders are the ends of operations of a database, and what lived across them.
type borders struct {
	ids         map[device.ID]bool // with L1 buffers that lived when an operation ended; nil: it is no database
	began, next uint64             // first nodes of the last operation, and of the next one
}

// recordLife records a buffer that lived up to the operation that starts at a node, or longer. If an
// operation ended before that, the database has to say that it lived then.
func (b *borders) recordLife(one *survey.Buffer, start uint64) {
	if b.ids != nil && one.Said.At < start && (one.Said.Kind == fit.KindL1 || one.Said.Kind == fit.KindL1Small) {
		b.ids[one.Said.Named] = true
	}
}

// slice makes a reading ready for the slices of a database.
func (r *reading) slice() {
	r.places.memory.live.Sliced, r.places.memory.borders.ids = true, map[device.ID]bool{}
	r.reader.doc.Ended = r.endSlice
}

// endSlice records that the nodes from start to before next are all of an operation. Functions that did not end
// end with its graph, and nothing in it leads out of it.
func (r *reading) endSlice(start, next uint64) error {
	if next == start {
		return nil
	}
	r.setPosition()
	r.places.memory.emitEarlier(&graph.Node{})
	for len(r.operations.stack) > 0 {
		r.out.notes.add(noteUnfinished, wholeFile, r.operations.inner().name)
		s := r.operations.now(next - 1)
		r.operations.end(s, r.lost())
		r.places.setPosition(s)
		r.places.end(s)
	}
	r.places.memory.borders.began, r.places.memory.borders.next = start, next
	return r.failed()
}

// emitBetween notes the facts that a database does not contain.
func (r *reading) emitBetween() {
	b := &r.places.memory.borders
	for _, named := range r.places.memory.live.Live {
		for _, one := range named {
			b.recordLife(one, b.began)
		}
	}
	for id := range b.ids {
		if !survey.AnySharing(r.known.Members, r.known.Before.Listed, id) {
			r.out.hidden.add(hiddenBetween, wholeFile, "")
		}
	}
	if info := r.reader.doc.Info; info.Lost > 0 {
		r.out.hidden[hiddenOperation] = &note{count: info.Lost, first: wholeFile, detail: info.LostName}
	}
}

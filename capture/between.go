package capture

import (
	"container/heap"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
)

// A database has a graph for each operation, and no graph of the time between two operations.
// It lists the L1 buffers that lived at the end of each operation. Two lists tell what
// happened between them. Example: buffer 7 is in the list of operation 1 and not in that of
// operation 2, whose graph frees nothing, so buffer 7 was freed before operation 2 began. A
// buffer that only the second list has, and no graph allocates, came before operation 2 began.

// slice makes a walk ready for the slices of a database.
func (w *walk) slice() {
	w.buffers.sliced, w.crossed.ids = true, map[device.ID]bool{}
	w.reader.ended = w.endSlice
	if w.past != nil {
		w.past.sliced = true
	}
}

// endSlice takes in that the nodes from start to before next are all of an operation.
func (w *walk) endSlice(start, next uint64) error {
	if next == start {
		return nil
	}
	if err := w.endGraph(next); err != nil {
		return err
	}
	w.crossed.began, w.crossed.border = start, next
	if w.past != nil {
		w.past.spans = append(w.past.spans, span{start, next - 1})
	}
	return nil
}

// endGraph ends a graph of several: functions that did not end end with it, and nothing in it
// leads out of it.
func (w *walk) endGraph(next uint64) error {
	w.tellEarlier(&node{})
	for w.functions.depth() > 0 {
		w.out.notes.add(noteUnfinished, wholeFile, w.functions.inner().name)
		if err := w.leave(next - 1); err != nil {
			return err
		}
	}
	clear(w.buffers.tensors)
	if w.past != nil {
		clear(w.past.tensors)
	}
	return nil
}

// window makes a walk ready for windows.
func (w *walk) window() {
	w.buffers.joined = true
	w.reader.ended = w.endWindow
	if w.past != nil {
		w.past.windows = []uint64{0}
	}
}

// endWindow ends a window: its nodes are those from start to before next.
func (w *walk) endWindow(start, next uint64) error {
	if next == start {
		return nil
	}
	for range w.functions.depth() {
		w.past.leaves(next - 1)
	}
	if err := w.endGraph(next); err != nil {
		return err
	}
	if err := w.complete(next-1, w.open.all()); err != nil {
		return err
	}
	if w.farthest >= next {
		w.out.notes.add(noteDanglingConnection, wholeFile, "")
	}
	w.farthest = 0
	all := w.reader.windows
	if start > 0 && (w.placeless || w.shows.plan() || !w.known.listed[start]) {
		w.out.hidden.add(hiddenGap, int64(start), "")
	}
	if len(all.starts) < len(all.inputs) {
		w.cut(next)
	}
	return nil
}

// cut begins another window. No window can show a buffer without an address.
func (w *walk) cut(next uint64) {
	w.buffers.began = next
	if w.past != nil {
		w.past.windows = append(w.past.windows, next)
	}
	for _, named := range w.buffers.live {
		for _, b := range named {
			if b.kind.InL1() && b.recorded == 0 {
				w.placeless = true
				heap.Push(&w.leaving, guest{b, next - 1})
			}
		}
	}
}

// leaves takes in a new buffer, which may be gone when an operation ends.
func (w *walk) leaves(b *buffer) {
	until, ok := w.known.ends[b.at]
	if !ok {
		return
	}
	heap.Push(&w.leaving, guest{b, until})
}

// crossings are the ids with L1 buffers that lived when an operation of a database ended.
type crossings struct {
	ids           map[device.ID]bool // nil: it is no database
	began, border uint64             // first nodes of the last slice, and of the next one
}

// add takes in a buffer that lived up to the slice that starts at a node, or longer. If an
// operation ended before that, the database has to say that it lived then.
func (c *crossings) add(b *buffer, start uint64) {
	if c.ids != nil && b.at < start && (b.kind == fit.KindL1 || b.kind == fit.KindL1Small) {
		c.ids[b.named] = true
	}
}

// end takes in that the last operation ends with all buffers that still live.
func (c *crossings) end(l *buffers) {
	for _, named := range l.live {
		for _, b := range named {
			c.add(b, c.began)
		}
	}
}

// lookBetween finds the ends of buffers that no node frees, for another reading, and the ids
// of which the database does not say what lived when operations ended.
func (w *walk) lookBetween() {
	if len(w.past.windows) > 1 {
		if ends := w.past.gone(w.known.members); len(ends) > 0 {
			w.known.ends = ends
			w.known.tooLate(noteNone)
		}
	}
	if !w.buffers.sliced {
		return
	}
	w.crossed.end(w.buffers)
	w.known.mute = map[device.ID]bool{}
	for id := range w.crossed.ids {
		w.known.mute[id] = !w.past.speaks(w.known.members, id)
	}
	if ends := w.past.absences(w.known.members); len(ends) > 0 {
		w.known.ends = ends
		w.known.tooLate(noteNone)
	}
}

// tellBetween tells what a database does not say.
func (w *walk) tellBetween() {
	w.crossed.end(w.buffers)
	for id := range w.crossed.ids {
		if w.known.mute[id] {
			w.out.hidden.add(hiddenBetween, wholeFile, "")
		}
	}
	if info := w.reader.info; info.Lost > 0 {
		w.out.hidden[hiddenOperation] = &note{count: info.Lost, first: wholeFile, detail: info.LostName}
	}
}

package capture

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
)

// A database has a graph for each operation, and no graph of the time between two operations.
// It lists the L1 buffers that lived at the end of each operation. Two lists tell what
// happened between them. Example: buffer 7 is in the list of operation 1 and not in that of
// operation 2, whose graph frees nothing, so buffer 7 was freed before operation 2 began. A
// buffer that only the second list has, and no graph allocates, came before operation 2 began.

// slice makes a walk ready for the slices of a database.
func (w *walk) slice() {
	w.sliced, w.buffers.sliced, w.crossed = true, true, map[device.ID]bool{}
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
	w.began, w.border = start, next
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
		w.notes.add(noteUnfinished, wholeFile, w.functions.inner().name)
		w.hit(next - 1)
		depth := w.functions.depth()
		if err := w.complete(next-1, w.open.from(depth)); err != nil {
			return err
		}
		w.functions.leave()
		w.tellOperation(event.KindOpEnd, next-1, "")
	}
	clear(w.buffers.tensors)
	if w.past != nil {
		clear(w.past.tensors)
	}
	return nil
}

// leaves takes in a new buffer, which may be gone when an operation ends.
func (w *walk) leaves(b *buffer) {
	until, ok := w.known.ends[b.at]
	if !ok {
		return
	}
	heap.Push(&w.leaving, guest{b, until})
}

// guests are buffers that are there now, as a heap by their end.
type guests []guest

func (g guests) Len() int { return len(g) }

func (g guests) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(g[i].until, g[j].until), cmp.Compare(g[i].id, g[j].id)) < 0
}

func (g guests) Swap(i, j int) { g[i], g[j] = g[j], g[i] }

func (g *guests) Push(one any) { *g = append(*g, one.(guest)) }

func (g *guests) Pop() any {
	last := len(*g) - 1
	one := (*g)[last]
	*g = (*g)[:last]
	return one
}

// depart tells a free for each buffer that ends before the node next, where no node frees it.
func (w *walk) depart(next uint64) error {
	for len(w.leaving) > 0 && w.leaving[0].until < next {
		b := heap.Pop(&w.leaving).(guest)
		if w.buffers.live[b.named][b.id] == nil {
			continue
		}
		w.settle()
		if err := w.completeOn(b, next); err != nil {
			return err
		}
		w.crosses(b.buffer, w.border)
		w.buffers.remove(b.buffer)
		w.places.remove(b.buffer)
		w.tell(&event.Event{Kind: event.KindFree, Node: b.until, Buffer: fit.Buffer{ID: b.id}, Devices: event.Some(idsOf(b.on))})
	}
	return nil
}

// crosses takes in a buffer that lived up to the slice that starts at a node, or longer. If an
// operation ended before that, the database has to say that it lived then.
func (w *walk) crosses(b *buffer, start uint64) {
	if w.sliced && b.at < start && (b.kind == fit.KindL1 || b.kind == fit.KindL1Small) {
		w.crossed[b.named] = true
	}
}

// cross takes in that the last operation ends with all buffers that still live.
func (w *walk) cross() {
	for _, named := range w.buffers.live {
		for _, b := range named {
			w.crosses(b, w.began)
		}
	}
}

// lookBetween finds the ends of buffers that no node frees, for another reading, and the ids
// of which the database does not say what lived when operations ended.
func (w *walk) lookBetween() {
	if len(w.past.windows) > 1 {
		if ends := w.past.gone(w.known); len(ends) > 0 {
			w.known.ends, w.known.untimely = ends, true
		}
	}
	if !w.sliced {
		return
	}
	w.cross()
	w.known.mute = map[device.ID]bool{}
	for id := range w.crossed {
		w.known.mute[id] = !w.past.speaks(w.known, id)
	}
	if ends := w.past.absences(w.known); len(ends) > 0 {
		w.known.ends, w.known.untimely = ends, true
	}
}

// tellBetween tells what the database does not say.
func (w *walk) tellBetween() {
	if !w.sliced {
		return
	}
	w.cross()
	for id := range w.crossed {
		if w.known.mute[id] {
			w.hidden.add(hiddenBetween, wholeFile, "")
		}
	}
	if info := w.reader.info; info.Lost > 0 {
		w.hidden[hiddenOperation] = &note{count: info.Lost, first: wholeFile, detail: info.LostName}
	}
}

// speaks reports whether a database says of an id what lived when operations ended.
func (p *past) speaks(known *learnt, id device.ID) bool {
	if !p.sliced {
		return false
	}
	says, ok := p.spoken[id]
	if !ok {
		for listed := range p.lists.devices {
			says = says || known.share(listed, id)
		}
		p.spoken[id] = says
	}
	return says
}

// absences returns when the buffers of the capture are gone that lived on by its nodes, and
// are not listed when an operation ends: by the counters of their allocations. Their lives end
// then.
func (p *past) absences(known *learnt) map[uint64]uint64 {
	ends, listed := map[uint64]uint64{}, p.listedPlaces()
	for address, lives := range p.lives {
		for id, h := range lives.named {
			if !p.speaks(known, id) {
				continue
			}
			at := p.listedAt(known, id, listed[address]) // slices that list the address
			for _, l := range h.lives {
				if until := p.absent(*l, at); until < l.to {
					ends[l.from], l.to = until, until
				}
			}
		}
	}
	return ends
}

// listedPlaces returns the places that are listed, by address.
func (p *past) listedPlaces() map[uint64][]listedPlace {
	out := map[uint64][]listedPlace{}
	for place := range p.lists.places {
		out[place.address] = append(out[place.address], place)
	}
	return out
}

// listedAt returns the first nodes of the slices that list some places for an id, ascending.
func (p *past) listedAt(known *learnt, id device.ID, places []listedPlace) []uint64 {
	out := []uint64{}
	for _, place := range places {
		if known.share(place.named, id) {
			out = append(out, p.lists.operations(p.lists.places[place])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absent returns when a life has ended by the first list without it, or forever.
func (p *past) absent(l life, at []uint64) uint64 {
	i, ok := slices.BinarySearchFunc(p.spans, l.from, func(s span, from uint64) int {
		switch {
		case s.end < from:
			return -1
		case s.start > from:
			return 1
		}
		return 0
	})
	if !ok {
		return forever
	}
	own := i
	next, _ := slices.BinarySearch(at, p.spans[i].start)
	for ; i < len(p.spans) && l.to > p.spans[i].end; i, next = i+1, next+1 {
		switch {
		case next < len(at) && at[next] == p.spans[i].start:
		case i == own:
			return p.spans[i].end
		default:
			return p.goneBy(p.spans[i].start)
		}
	}
	return forever
}

// goneBy returns when a buffer is gone that is not listed any more in the slice that starts
// at a node: before that, unless the slice frees something that it does not name.
func (p *past) goneBy(start uint64) uint64 {
	if !p.sliced {
		return start
	}
	i, _ := slices.BinarySearch(p.blind, p.endOf(start)+1)
	if i > 0 && p.blind[i-1] >= start {
		return p.blind[i-1]
	}
	return start
}

// since returns from when on a buffer lived that is freed: where lists say what lived when
// operations ended, not before the slice of the free.
func (p *past) since(known *learnt, f lostFree) uint64 {
	if !p.speaks(known, f.named) {
		return max(f.after, p.origin(f.at))
	}
	i, _ := slices.BinarySearchFunc(p.spans, f.at+1, func(s span, at uint64) int { return cmp.Compare(s.start, at) })
	return max(f.after, p.spans[max(i-1, 0)].start)
}

// listings returns where the buffers of an id are listed, ascending: in a database when each
// operation ends.
func (p *past) listings(id device.ID) []uint64 {
	if !p.sliced {
		return p.lists.operations(p.lists.devices[id])
	}
	for _, s := range p.spans[len(p.starts):] {
		p.starts = append(p.starts, s.start)
	}
	return p.starts
}

package capture

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
)

// Between two windows of a run something may have happened that no window records. So a buffer in
// L1 that lived when a window ended lives in the next one if that one shows it: if it lists or frees
// the buffer, or has a tensor of it, and did not allocate the place anew before. Any other buffer
// is gone. A window without lists does not show all buffers that lived there, and a plan does not list
// the buffers that it plans.

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
		w.notes.add(noteDanglingConnection, wholeFile, "")
	}
	w.farthest = 0
	all := w.reader.windows
	if start > 0 && (w.placeless || w.shows.plan() || !w.known.listed[start]) {
		w.hidden.add(hiddenGap, int64(start), "")
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

// origin returns the first node of the window that has a node.
func (p *past) origin(at uint64) uint64 {
	if i := p.window(at); i > 0 {
		return p.windows[i-1]
	}
	return 0
}

// border returns the first node of the window behind the one that has a node, or forever.
func (p *past) border(at uint64) uint64 {
	if i := p.window(at); i < len(p.windows) {
		return p.windows[i]
	}
	return forever
}

// window returns the number of the window that has a node, from 1; 0 if there is one file.
func (p *past) window(at uint64) int {
	i, exact := slices.BinarySearch(p.windows, at)
	if exact {
		i++
	}
	return i
}

// A sighting is where a window shows that a buffer lived.
type sighting struct {
	kind fit.Kind
	at   uint64
	size uint64 // of each core, if a list says it
}

// seen are the sightings at one address by the id that they name, in their order.
type seen map[device.ID][]sighting

// sightings returns those by address: of tensors alike in a window the first one.
func (p *past) sightings() map[uint64]seen {
	type likes struct {
		placeOf
		kind fit.Kind
	}
	out, first := map[uint64]seen{}, map[likes]uint64{}
	see := func(c clue) {
		like := likes{placeOf{c.named, c.address, p.origin(c.tensor)}, c.kind}
		if at, ok := first[like]; c.address != 0 && (!ok || c.tensor < at) {
			first[like] = c.tensor
		}
	}
	for _, c := range p.clues {
		see(*c)
	}
	for _, c := range p.loose {
		see(c)
	}
	add := func(address uint64, id device.ID, s sighting) {
		if out[address] == nil {
			out[address] = seen{}
		}
		out[address][id] = append(out[address][id], s)
	}
	for c, at := range first {
		add(c.address, c.id, sighting{c.kind, at, 0})
	}
	for place, spans := range p.lists.places {
		at := p.endOf(p.lists.operations(spans)[0]) // a list is of the end of its operation
		add(place.address, place.named, sighting{place.kind, min(at, p.border(place.window)-1), spans.perCore})
	}
	for _, at := range out {
		for _, list := range at {
			slices.SortFunc(list, func(a, b sighting) int { return cmp.Compare(a.at, b.at) })
		}
	}
	return out
}

// gone returns when buffers are gone that lived when a window ended, and that the next window
// does not show: by the counters of their allocations. Their lives end then.
func (p *past) gone(known *learnt) map[uint64]uint64 {
	ends, seen := map[uint64]uint64{}, p.sightings()
	for address, lives := range p.lives {
		for id, h := range lives.named {
			for _, l := range h.lives {
				for border := p.border(l.from); border < l.to; border = p.border(border) {
					if !p.survives(known, id, l, border, seen[address], lives) {
						ends[l.from], l.to = border-1, border
					}
				}
			}
		}
	}
	return ends
}

// survives reports whether the window that begins at a node shows that a buffer still lived.
func (p *past) survives(known *learnt, id device.ID, l *life, start uint64, seen seen, at *lives) bool {
	end := p.border(start)
	if l.to < end {
		return true // it is freed there
	}
	first := end // that the window allocates there
	for h := range at.sharing(known, id) {
		i, _ := slices.BinarySearchFunc(h.lives, start, func(l *life, from uint64) int { return cmp.Compare(l.from, from) })
		if i < len(h.lives) {
			first = min(first, h.lives[i].from)
		}
	}
	for list := range sharing(known, seen, id) {
		i, _ := slices.BinarySearchFunc(list, start, func(s sighting, from uint64) int { return cmp.Compare(s.at, from) })
		for _, s := range list[i:] {
			if s.at >= first {
				break
			}
			if s.kind == l.kind && (s.size == 0 || !l.perCore.OK || s.size == l.perCore.V) {
				return true
			}
		}
	}
	return false
}

// across joins what lived when a window ended with what lived at the same place when the next one
// began.
func (p *past) across(all []resident) (out []resident) {
	if len(p.windows) == 0 {
		return all
	}
	type end struct {
		placeAt
		named device.ID
		kind  fit.Kind
	}
	last := map[end]int{} // in out
	for _, r := range all {
		place := end{placeAt{r.address, r.since}, r.named, r.kind}
		if i, ok := last[place]; ok && r.since > 0 && out[i].perCore == r.perCore && out[i].shards.equal(r.shards) {
			delete(last, place)
			out[i].until = r.until
			place.at = r.until
			last[place] = i
			continue
		}
		out = append(out, r)
		if place.at = r.until; p.origin(r.until) == r.until {
			last[place] = len(out) - 1
		}
	}
	return out
}

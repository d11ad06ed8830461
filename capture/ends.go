package capture

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
)

// Between two windows of a run something may have happened that no window records. So a buffer in
// L1 that lived when a window ended lives in the next one if that one shows it: if it lists or frees
// the buffer, or has a tensor of it, and did not allocate the place anew before. Any other buffer
// is gone. A window without lists does not show all buffers that lived there, and a plan does not list
// the buffers that it plans.

// A sighting is where a window shows that a buffer lived.
type sighting struct {
	kind fit.Kind
	at   uint64
	size uint64 // of each core, if a list says it
}

// sightingsByID are the sightings at one address by the id that they name, in their order.
type sightingsByID map[device.ID][]sighting

// sightings returns those by address: of tensors alike in a window the first one.
func (p *past) sightings() map[uint64]sightingsByID {
	type likes struct {
		placeOf
		kind fit.Kind
	}
	out, first := map[uint64]sightingsByID{}, map[likes]uint64{}
	see := func(c clue) {
		like := likes{placeOf{c.named, c.address, p.time.origin(c.tensor)}, c.kind}
		if at, ok := first[like]; c.address != 0 && (!ok || c.tensor < at) {
			first[like] = c.tensor
		}
	}
	for c := range p.clues.all() {
		see(c)
	}
	add := func(address uint64, id device.ID, s sighting) {
		if out[address] == nil {
			out[address] = sightingsByID{}
		}
		out[address][id] = append(out[address][id], s)
	}
	for c, at := range first {
		add(c.address, c.id, sighting{c.kind, at, 0})
	}
	for place, spans := range p.census.places {
		at := p.time.endOf(p.census.operations(spans)[0]) // a list is of the end of its operation
		add(place.address, place.named, sighting{place.kind, min(at, p.time.border(place.window)-1), spans.perCore.V})
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
func (p *past) gone() map[uint64]uint64 {
	ends, seen := map[uint64]uint64{}, p.sightings()
	for address, lives := range p.lives {
		for id, h := range lives.named {
			for _, l := range h.lives {
				for border := p.time.border(l.from); border < l.to; border = p.time.border(border) {
					if !p.survives(id, l, border, seen[address], lives) {
						ends[l.from], l.to = border-1, border
					}
				}
			}
		}
	}
	return ends
}

// survives reports whether the window that begins at a node shows that a buffer still lived.
func (p *past) survives(id device.ID, l *life, start uint64, seen sightingsByID, at *lives) bool {
	end := p.time.border(start)
	if l.to < end {
		return true // it is freed there
	}
	first := end // that the window allocates there
	for h := range at.sharing(p.members, id) {
		i, _ := slices.BinarySearchFunc(h.lives, start, func(l *life, from uint64) int { return cmp.Compare(l.from, from) })
		if i < len(h.lives) {
			first = min(first, h.lives[i].from)
		}
	}
	for list := range sharing(p.members, seen, id) {
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

// speaks reports whether a database lists the buffers of an id that lived when operations ended.
func (p *past) speaks(id device.ID) bool {
	if !p.time.sliced {
		return false
	}
	says, ok := p.spoken[id]
	if !ok {
		for listed := range p.census.devices {
			says = says || p.members.share(listed, id)
		}
		p.spoken[id] = says
	}
	return says
}

// absences returns the ends of buffers that no node frees, and that the list at the end of an operation
// lacks, by the counters of their allocations. Their lives end then.
func (p *past) absences() map[uint64]uint64 {
	ends, listed := map[uint64]uint64{}, p.census.byAddress()
	for address, lives := range p.lives {
		for id, h := range lives.named {
			if !p.speaks(id) {
				continue
			}
			at := p.listedAt(id, listed[address]) // slices that list the address
			for _, l := range h.lives {
				if until := p.absent(*l, at); until < l.to {
					ends[l.from], l.to = until, until
				}
			}
		}
	}
	return ends
}

// listedAt returns the first nodes of the slices that list some places for an id, ascending.
func (p *past) listedAt(id device.ID, places []listedPlace) []uint64 {
	out := []uint64{}
	for _, place := range places {
		if p.members.share(place.named, id) {
			out = append(out, p.census.operations(p.census.places[place])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absent returns when a life has ended by the first list without it, or forever.
func (p *past) absent(l life, at []uint64) uint64 {
	i, ok := slices.BinarySearchFunc(p.time.spans, l.from, func(s span, from uint64) int {
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
	next, _ := slices.BinarySearch(at, p.time.spans[i].start)
	for ; i < len(p.time.spans) && l.to > p.time.spans[i].end; i, next = i+1, next+1 {
		switch {
		case next < len(at) && at[next] == p.time.spans[i].start:
		case i == own:
			return p.time.spans[i].end
		default:
			return p.goneBy(p.time.spans[i].start)
		}
	}
	return forever
}

// goneBy returns when a buffer is gone that is not listed any more in the slice that starts
// at a node: before that, unless the slice frees something that it does not name.
func (p *past) goneBy(start uint64) uint64 {
	if !p.time.sliced {
		return start
	}
	i, _ := slices.BinarySearch(p.blind, p.time.endOf(start)+1)
	if i > 0 && p.blind[i-1] >= start {
		return p.blind[i-1]
	}
	return start
}

// since returns the first node at which a freed buffer lived. With lists of the buffers at the ends of
// operations that is not before the slice of the free.
func (p *past) since(f lostFree) uint64 {
	if !p.speaks(f.named) {
		return max(f.after, p.time.origin(f.at))
	}
	i, _ := slices.BinarySearchFunc(p.time.spans, f.at+1, func(s span, at uint64) int { return cmp.Compare(s.start, at) })
	return max(f.after, p.time.spans[max(i-1, 0)].start)
}

// listings returns where the buffers of an id are listed, ascending: in a database when each
// operation ends.
func (p *past) listings(id device.ID) []uint64 {
	if !p.time.sliced {
		return p.census.operations(p.census.devices[id])
	}
	for _, s := range p.time.spans[len(p.time.starts):] {
		p.time.starts = append(p.time.starts, s.start)
	}
	return p.time.starts
}

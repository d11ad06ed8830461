package survey

import (
	"slices"

	"github.com/cbl1/cbl1/device"
)

// speaks reports whether a database lists the buffers of an id that lived when operations ended.
func (p *past) speaks(id device.ID) bool {
	return p.time.sliced && AnySharing(p.members, p.census.devices, id)
}

// absences returns the ends of buffers that no node frees, and that the list at the end of an operation
// lacks, by the counters of their allocations. Their lives end then.
func (p *past) absences() map[uint64]uint64 {
	ends, listed := map[uint64]uint64{}, map[uint64][]listedPlace{} // by address
	for place := range p.census.places {
		if p.lives[place.address] != nil {
			listed[place.address] = append(listed[place.address], place)
		}
	}
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
		if p.members.Share(place.named, id) {
			out = append(out, p.census.operations(p.census.places[place])...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absent returns when a life has ended by the first list without it, or forever.
func (p *past) absent(l life, at []uint64) uint64 {
	t := &p.time
	own := t.before(l.from + 1)
	next, _ := slices.BinarySearch(at, t.starts[own])
	for i := own; i < len(t.starts) && l.to > t.ends[i]; i, next = i+1, next+1 {
		switch {
		case next < len(at) && at[next] == t.starts[i]:
		case i == own:
			return t.ends[i]
		default:
			return p.goneBy(t.starts[i])
		}
	}
	return Forever
}

// goneBy returns when a buffer is gone that is not listed any more in the slice that starts
// at a node: before that, unless the slice frees something that it does not name.
func (p *past) goneBy(start uint64) uint64 {
	if !p.time.sliced {
		return start
	}
	i, _ := slices.BinarySearch(p.nameless, p.time.endOf(start)+1)
	if i > 0 && p.nameless[i-1] >= start {
		return p.nameless[i-1]
	}
	return start
}

// since returns the first node at which a freed buffer lived. With lists of the buffers at the ends of
// operations that is not before the slice of the free.
func (p *past) since(f *lostFree) uint64 {
	if !p.speaks(f.named) {
		return f.after
	}
	return max(f.after, p.time.starts[p.time.before(f.at+1)])
}

// listings returns where the buffers of an id are listed, ascending: in a database when each
// operation ends.
func (p *past) listings(id device.ID) []uint64 {
	if !p.time.sliced {
		return p.census.operations(p.census.devices[id])
	}
	return p.time.starts
}

package survey

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// freed returns the counter of the first lost free of a place from a node on, or forever.
func (p *past) freed(named device.ID, address, from uint64) uint64 {
	at := uint64(Forever)
	for list := range p.frees[address].sharing(p.members, named) {
		i, _ := slices.BinarySearchFunc(*list, from, func(f *lostFree, from uint64) int { return cmp.Compare(f.at, from) })
		if i < len(*list) {
			at = min(at, (*list)[i].at)
		}
	}
	return at
}

// residents returns the residents with a known place, by when they came. seen has the buffer
// nodes that hide nothing.
func (p *past) residents() (out []Resident, seen map[uint64]bool) {
	seen = map[uint64]bool{}
	modes := map[uint64][]evidence{} // by address, of buffers that are listed
	out = p.fromLists()
	listed := len(out)
	all := slices.Collect(p.evidence.all())
	slices.SortFunc(all, func(a, b evidence) int {
		return cmp.Or(cmp.Compare(a.node.V, b.node.V), cmp.Compare(a.tensor, b.tensor), cmp.Compare(a.named, b.named), cmp.Compare(a.kind, b.kind))
	})
	for _, c := range all {
		if p.speaks(c.named) { // of all that lived when an operation ended
			if c.node.OK {
				seen[c.node.V] = true
			}
			if c.Mode != fit.Lockstep {
				modes[c.address] = append(modes[c.address], c)
			}
			continue
		}
		r, explained := p.follow(c)
		if explained && c.node.OK {
			seen[c.node.V] = true
		}
		if r.Until > 0 {
			out = append(out, p.apart(r, c.parts)...)
		}
	}
	for i := range out[:listed] { // lists do not say how a buffer was allocated
		for _, c := range modes[out[i].Address] {
			if p.members.Share(c.named, out[i].Named) {
				out[i].Shards, out[i].shaped = c.Shards, true
				break
			}
		}
	}
	return p.fromFrees(out), seen
}

// apart divides the buffer of a tensor whose parts lie at different addresses. The address of the tensor is that on the
// chips that are not listed.
func (p *past) apart(r Resident, parts []graph.DeviceTensor) []Resident {
	if parts == nil {
		return []Resident{r}
	}
	var out []Resident
	listed := map[device.ID]bool{}
	add := func(chip device.ID, address uint64) {
		one := r
		one.Named, one.Unit, one.Address = chip, true, address
		one.Until = min(r.Until, p.firstLife(chip, address))
		if !listed[chip] && address > 0 {
			out = append(out, one)
		}
		listed[chip] = true
	}
	for _, t := range parts {
		add(device.ID(t.DeviceID), t.Address.V)
	}
	on := p.members.Chips[r.Named]
	if on == nil {
		on = []device.ID{r.Named}
	}
	for _, chip := range on {
		add(chip, r.Address)
	}
	return out
}

// follow finds the resident of evidence, which has until 0 if there is none. Explained says
// that nothing about it is hidden.
func (p *past) follow(c evidence) (r Resident, explained bool) {
	r = Resident{Named: c.named, Kind: c.kind, Address: c.address, shaped: c.address != 0, Until: Forever}
	if c.address != 0 && p.firstLife(c.named, c.address) <= c.tensor {
		return Resident{}, true // it is a buffer of the capture
	}
	if f, ok := p.byNode[c.node.V]; ok && c.node.OK {
		r.Until, r.Address = f.at, max(r.Address, f.address)
	}
	if r.Address == 0 {
		return Resident{}, false
	}
	r.Until = min(r.Until, p.freed(c.named, r.Address, 0), p.firstLife(c.named, r.Address))
	r.Shards = c.Shards
	if n := uint64(c.Cores.Len()); n > 0 {
		if c.node.OK && c.size.OK && c.size.V%n == 0 {
			r.PerCore = event.Some(c.size.V / n)
		}
	}
	return r, true
}

// firstLife returns from when on a buffer of the capture lay at an address first.
func (p *past) firstLife(id device.ID, address uint64) uint64 {
	first := uint64(Forever)
	for h := range p.lives[address].sharing(p.members, id) {
		first = min(first, h.lives[0].from)
	}
	return first
}

// fromFrees adds buffers that are freed with an address and are not among the residents. They lay there
// since the place was free of others. A resident without a size gets the size of its free.
func (p *past) fromFrees(out []Resident) []Resident {
	byPlace := map[placeAt][]int{} // in out
	for i, r := range out {
		if p.frees[r.Address] == nil {
			continue
		}
		byPlace[placeAt{r.Address, r.Until}] = append(byPlace[placeAt{r.Address, r.Until}], i)
	}
	for _, address := range slices.Sorted(maps.Keys(p.frees)) {
		for _, f := range p.frees[address].all {
			if f.doubt {
				continue
			}
			known := false
			for _, i := range byPlace[placeAt{address, f.at}] {
				if p.members.Share(out[i].Named, f.named) {
					out[i].PerCore, known = cmp.Or(out[i].PerCore, f.perCore), true
				}
			}
			if f.after < f.at && !known {
				out = append(out, Resident{
					Named: f.named, Kind: f.kind, Address: address, PerCore: f.perCore, Since: p.since(f), Until: f.at,
				})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Resident) int { return cmp.Compare(a.Since, b.Since) })
	return out
}

// A placeAt is an address that a free ended.
type placeAt struct{ address, at uint64 }

// fromLists returns the listed buffers that no allocation of the capture explains. One
// lives from the first list that names it, which for the first list of all is the start,
// to its free, or to the next list of its device without it.
func (p *past) fromLists() (out []Resident) {
	places := make([]listedPlace, 0, len(p.census.places))
	for place := range p.census.places {
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b listedPlace) int {
		return cmp.Or(graph.CompareDevices(a.named, b.named), cmp.Compare(a.address, b.address), cmp.Compare(a.kind, b.kind))
	})
	out = make([]Resident, 0, len(places)) // for most places list one buffer
	var listings []uint64                  // of the id of the last place
	var made made                          // of its address
	for i, place := range places {
		next := i == 0 || place.named != places[i-1].named
		if next {
			listings = p.listings(place.named)
		}
		if next || place.address != places[i-1].address {
			made = p.madeAt(place.named, place.address)
		}
		out = p.fromPlace(out, place, listings, made)
	}
	return out
}

// fromPlace adds the residents of one place. all are the operations that list
// anything of its device, made what the capture allocated there.
func (p *past) fromPlace(out []Resident, place listedPlace, all []uint64, made made) []Resident {
	var now Resident
	var lives bool
	end := func(at uint64) {
		if lives {
			now.Until, lives = min(now.Until, at), false
			out = append(out, now)
		}
	}
	next := 0 // in all
	for _, one := range p.census.listings(p.census.places[place]) {
		at := one.at
		i, _ := slices.BinarySearch(all[next:], at)
		if i > 0 { // lists came between that lack it
			end(p.goneBy(all[next]))
		}
		next += i + 1
		if made.during(at, p.time.endOf(at)) {
			end(at)
			continue
		}
		if lives && now.Until > at {
			now.PerCore = cmp.Or(now.PerCore, one.perCore)
			continue
		}
		end(at)
		since := at
		hidden := p.hidden.OK && p.hidden.V < at
		if p.census.first == event.Some(at) && !hidden && p.freed(place.named, place.address, 0) >= at {
			since = 0
		}
		lives, now = true, Resident{
			Named: place.named, Kind: place.kind, Address: place.address, PerCore: one.perCore, Since: since,
			Until: p.freed(place.named, place.address, since),
		}
	}
	if next < len(all) {
		end(p.goneBy(all[next]))
	}
	end(Forever)
	return out
}

// made are the lives of a place by their start; the ends are the latest so far.
type made []life

func (p *past) madeAt(id device.ID, address uint64) (out made) {
	for h := range p.lives[address].sharing(p.members, id) {
		for _, l := range h.lives {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b life) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(out); i++ {
		out[i].to = max(out[i].to, out[i-1].to)
	}
	return out
}

// during reports whether one of them lived at some time of a span, both ends included.
func (m made) during(from, to uint64) bool {
	i, _ := slices.BinarySearchFunc(m, to, func(l life, to uint64) int {
		if l.from <= to {
			return -1
		}
		return 1
	})
	return i > 0 && m[i-1].to > from
}

// unplaced counts the rows of lists that may be of buffers in L1 whose place is not known: rows without an address, and
// rows without a type whose address lies in L1, where the capture allocated nothing. usable reports whether it lies there.
func (p *past) unplaced(usable func(id device.ID, address uint64) bool) (n int64) {
	n = p.census.placeless
	for row, times := range p.census.untyped {
		if usable(row.named, row.address) && !p.madeAt(row.named, row.address).during(row.at, p.time.endOf(row.at)) {
			n += times
		}
	}
	return n
}

package survey

import (
	"cmp"
	"slices"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/cbregion"
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A globally allocated circular buffer lies in an L1 buffer. Where no known buffer holds its first byte, a buffer from
// before the capture does: it holds at least the bytes of the circular buffer, on its cores, since the last allocation
// of the capture in its place ended, up to the next one there.
//
//	allocate [500, 600)   free   CB [520, 540)   CB [520, 560)   allocate [550, 650)
//	                      |------- a buffer of at least [520, 560) -----|

// proofs find these buffers.
type proofs struct {
	members *Members
	named   map[device.ID]*idAllocations // by the id that allocations name
	open    map[device.ID]*btree.BTreeG[*proof]
	longest uint64 // bytes of a proof
	all     []*proof
}

// idAllocations are the allocations of one id.
type idAllocations struct {
	live    cbregion.Coverage // bytes of those that live, as far as they say their size
	unsized *btree.BTreeG[*Buffer]
	ended   *btree.BTreeG[ended]
}

// ended are bytes of allocations that were freed, and when the last one was.
type ended struct {
	l1.Range
	at uint64
}

// A proof is a buffer from before the capture.
type proof struct {
	on      device.ID // unit
	address uint64
	size    uint64
	since   uint64
	first   uint64 // counter of the first circular buffer
	until   uint64
	views   []view
}

// A view is circular buffers that prove one buffer, and are alike.
type view struct {
	size  uint64
	cores l1.CoreRangeSet
	in    *Buffer  // an allocation of unknown size that may hold them
	at    []uint64 // counters, at most maxViews and the last one
}

// maxViews bounds how many circular buffers are compared with each buffer that is known later.
const maxViews = 1 << 10

func newProofs(m *Members) proofs {
	return proofs{members: m, named: map[device.ID]*idAllocations{}, open: map[device.ID]*btree.BTreeG[*proof]{}}
}

// extent returns the bytes of an allocation as far as they are known, at least one.
func extent(b *Buffer) l1.Range {
	return l1.Range{Start: b.Said.Recorded, End: b.Said.Recorded + min(max(b.Said.PerCore.V, 1), l1.MaxAddr/2)}
}

// counts reports whether a buffer may hold a circular buffer.
func (b *Buffer) counts() bool {
	return b.Said.Kind.InL1() && b.Said.Recorded > 0 && b.Said.Recorded <= l1.MaxAddr/2 && !b.Hidden
}

// allocated records an allocation, which ends the proofs in its place.
func (p *proofs) allocated(b *Buffer) {
	if !b.counts() {
		return
	}
	of := p.named[b.Said.Named]
	if of == nil {
		of = &idAllocations{
			unsized: btree.NewG(16, func(a, b *Buffer) bool {
				return cmp.Or(cmp.Compare(a.Said.Recorded, b.Said.Recorded), cmp.Compare(a.ID, b.ID)) < 0
			}),
			ended: btree.NewG(16, func(a, b ended) bool { return a.Start < b.Start }),
		}
		p.named[b.Said.Named] = of
	}
	r := extent(b)
	if b.Said.PerCore.OK {
		of.live.Add(r)
	} else {
		of.unsized.ReplaceOrInsert(b)
	}
	for unit, open := range p.open {
		if !p.members.Reaches(b.Said.Named, unit) {
			continue
		}
		var over []*proof
		from := &proof{address: r.Start - min(r.Start, p.longest)}
		open.AscendRange(from, &proof{address: r.End}, func(one *proof) bool {
			if one.address+one.size > r.Start {
				over = append(over, one)
			}
			return true
		})
		for _, one := range over {
			one.until = b.Said.At
			open.Delete(one)
		}
	}
}

// endedIn returns the ended allocations that have bytes of a range.
func (a *idAllocations) endedIn(r l1.Range) (all []ended) {
	from := ended{Range: r}
	a.ended.DescendLessOrEqual(from, func(e ended) bool {
		from = e
		return false
	})
	a.ended.AscendRange(from, ended{Range: l1.Range{Start: r.End}}, func(e ended) bool {
		if e.End > r.Start {
			all = append(all, e)
		}
		return true
	})
	return all
}

// freed records the end of an allocation.
func (p *proofs) freed(b *Buffer, at uint64) {
	of := p.named[b.Said.Named]
	if of == nil || !b.counts() {
		return
	}
	r := extent(b)
	if b.Said.PerCore.OK {
		of.live.Remove(r)
	} else {
		of.unsized.Delete(b)
	}
	for _, e := range of.endedIn(r) {
		of.ended.Delete(e)
		if e.Start < r.Start {
			of.ended.ReplaceOrInsert(ended{l1.Range{Start: e.Start, End: r.Start}, e.at})
		}
		if e.End > r.End {
			of.ended.ReplaceOrInsert(ended{l1.Range{Start: r.End, End: e.End}, e.at})
		}
	}
	of.ended.ReplaceOrInsert(ended{r, at})
}

// place records a circular buffer that lies in a buffer, on one unit.
func (p *proofs) place(n *graph.Node, unit device.ID) {
	r := l1.Range{Start: n.Address.V, End: n.Address.V + n.Size.V}
	since, in := uint64(0), (*Buffer)(nil)
	for id := range p.members.Above(unit) {
		of := p.named[id]
		if of == nil {
			continue
		}
		if of.live.BytesIn(l1.Range{Start: r.Start, End: r.Start + 1}) > 0 {
			return
		}
		of.unsized.DescendLessOrEqual(&Buffer{ID: ^fit.BufferID(0), Said: Allocation{Recorded: r.Start}}, func(b *Buffer) bool {
			if in == nil || b.Said.Recorded > in.Said.Recorded {
				in = b
			}
			return false
		})
		for _, e := range of.endedIn(r) {
			since = max(since, e.at)
		}
	}
	p.add(n, unit, since, in)
}

// add records a circular buffer that no allocation of known size holds.
func (p *proofs) add(n *graph.Node, unit device.ID, since uint64, in *Buffer) {
	open := p.open[unit]
	if open == nil {
		open = btree.NewG(16, func(a, b *proof) bool {
			return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.since, b.since)) < 0
		})
		p.open[unit] = open
	}
	one, ok := open.Get(&proof{address: n.Address.V, since: since})
	if !ok {
		one = &proof{on: unit, address: n.Address.V, since: since, first: n.Counter, until: Forever}
		open.ReplaceOrInsert(one)
		p.all = append(p.all, one)
	}
	one.size = max(one.size, n.Size.V)
	p.longest = max(p.longest, one.size)
	i := slices.IndexFunc(one.views, func(v view) bool {
		return v.size == n.Size.V && v.in == in && v.cores.Equal(n.Placed.Cores)
	})
	if i < 0 {
		i = len(one.views)
		one.views = append(one.views, view{size: n.Size.V, cores: n.Placed.Cores, in: in})
	}
	v := &one.views[i]
	if len(v.at) > maxViews {
		v.at = v.at[:maxViews]
	}
	v.at = append(v.at, n.Counter)
}

// residents returns the buffers that are proven, beside those that are known otherwise, and gives these the least size
// that circular buffers in them show. perCore returns the size of an allocation. least has sizes of allocations.
func (p *proofs) residents(known []Resident, hybrid func(device.ID) bool, perCore func(*Buffer) event.Opt[uint64]) (out []Resident, least map[uint64]uint64) {
	least = map[uint64]uint64{}
	index, larger := newResidentIndex(known, p.members), map[*Resident]uint64{}
	for _, one := range p.all {
		r := Resident{
			Named: one.on, Unit: p.members.IsBoth(one.on), Kind: fit.KindL1, Address: one.address, Since: one.since, Until: one.until, shaped: true, Proven: one.first + 1,
		}
		r.Known = true
		for _, v := range one.views {
			in, end := v.in, one.address+v.size
			if in != nil {
				if size := perCore(in); size.OK && in.Said.Recorded+size.V > one.address {
					continue
				} else if size.OK {
					in = nil
				}
			}
			for _, at := range v.at {
				held, open := index.holds(one, at)
				switch {
				case held:
				case open != nil && (in == nil || open.Address > in.Said.Recorded):
					larger[open] = max(larger[open], end-open.Address)
				case in != nil:
					least[in.Said.At] = max(least[in.Said.At], end-in.Said.Recorded)
				default:
					r.PerCore = event.Some(max(r.PerCore.V, v.size))
					r.Cores = r.Cores.Union(v.cores.Cores())
				}
			}
		}
		if r.PerCore.OK {
			if hybrid(one.on) {
				r.Mode = fit.PerCore
			}
			out = append(out, r)
		}
	}
	for r, size := range larger {
		r.PerCore = event.Some(size)
	}
	slices.SortFunc(out, func(a, b Resident) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), graph.CompareDevices(a.Named, b.Named))
	})
	return out, least
}

// A residentIndex finds the buffers from before the capture that hold an address.
type residentIndex struct {
	members *Members
	all     []*Resident // by address
	ends    []uint64    // the highest end of each and those before it; forever if one has no size
}

func newResidentIndex(known []Resident, m *Members) *residentIndex {
	x := &residentIndex{members: m}
	for i := range known {
		x.all = append(x.all, &known[i])
	}
	slices.SortStableFunc(x.all, func(a, b *Resident) int { return cmp.Compare(a.Address, b.Address) })
	highest := uint64(0)
	for _, r := range x.all {
		if highest = max(highest, r.Address+r.PerCore.V); !r.PerCore.OK {
			highest = Forever
		}
		x.ends = append(x.ends, highest)
	}
	return x
}

// maxHolders bounds how many buffers round one address are compared. They overlap each other, so that no answer is certain.
const maxHolders = 1 << 8

// holds reports whether a buffer of known size holds the first byte of a proof at a node. If none does, open is the highest one
// of unknown size that may.
func (x *residentIndex) holds(one *proof, at uint64) (held bool, open *Resident) {
	i, _ := slices.BinarySearchFunc(x.all, one.address+1, func(r *Resident, address uint64) int { return cmp.Compare(r.Address, address) })
	for tries := 0; i > 0 && x.ends[i-1] > one.address && tries < maxHolders; tries++ {
		i--
		r := x.all[i]
		switch {
		case !r.Kind.InL1(), at < r.Since, at >= r.Until, !r.reaches(x.members, one.on):
		case r.PerCore.OK && r.Address+r.PerCore.V > one.address:
			return true, nil
		case !r.PerCore.OK && open == nil:
			open = r
		}
	}
	return false, open
}

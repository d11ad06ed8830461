package capture

import (
	"cmp"
	"iter"
	"slices"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/l1"
)

// heights are the ranges of the L1 buffers that live. Buffers without an address go from
// the top down, as tt-metal's allocator does it.
type heights struct {
	known *knowledge
	high  map[device.ID]*btree.BTreeG[*buffer] // by the id that they name, the highest first
}

func newHeights(known *knowledge) heights {
	return heights{known: known, high: map[device.ID]*btree.BTreeG[*buffer]{}}
}

// locate finds the range of a new buffer in L1, whose units are known. One without an
// address goes to the highest gap that is free on all its units.
func (p *heights) locate(b *buffer, spec l1.Spec) {
	size := b.said.perCore
	if !size.OK {
		if b.place.unsized = b.place.address.OK && b.place.address.V <= jsonobject.MaxL1; b.place.unsized {
			b.place.r = l1.Range{Start: b.place.address.V, End: b.place.address.V}
		}
		return
	}
	if b.place.address.OK {
		if size.V > jsonobject.MaxL1 || b.place.address.V > jsonobject.MaxL1-size.V {
			b.place.address = event.Opt[uint64]{} // no place in any L1
			return
		}
		b.place.r = l1.Range{Start: b.place.address.V, End: b.place.address.V + size.V}
		p.add(b)
		p.known.bottom.buffer(owner{b.said.named, b.unit}, b.said.kind, b.place.r)
		return
	}
	if b.said.bare && p.known.members.recorded {
		return // it lies where the capture does not say
	}
	low, high := border(b.place.on, spec)
	base := spec.CBBase
	for i, u := range b.place.on {
		if base = max(base, u.spec.CBBase); i == 0 {
			base = u.spec.CBBase
		}
	}
	between := l1.Range{Start: base, End: low}
	if b.said.kind == fit.KindL1Small {
		between = l1.Range{Start: high, End: spec.L1Size}
	}
	at, ok := fit.Highest(size.V, fit.Alignment(spec), between, p.taken(b.place.on))
	if !ok {
		return
	}
	b.place.address, b.place.placed, b.place.r = event.Some(at.Start), true, at
	p.add(b)
}

// unplaced says why a buffer in L1 lies nowhere, or "" if it does lie somewhere or has
// no bytes. recorded says that other buffers have addresses.
func (b *buffer) unplaced(recorded bool) string {
	switch {
	case !b.place.r.IsEmpty() || b.place.unsized || b.said.perCore == event.Some(uint64(0)):
		return ""
	case b.said.kind == fit.KindL1Small && b.said.recorded == 0:
		return event.UnplacedSmall
	case b.said.recorded != 0:
		return event.UnplacedBeyond
	case !b.said.perCore.OK:
		return event.UnplacedSize
	case b.said.bare && recorded:
		return event.UnplacedHidden
	}
	return event.UnplacedFull
}

// taken yields the ranges of the buffers on some units, the highest first.
func (p *heights) taken(on []*unit) iter.Seq[l1.Range] {
	among := make(map[*unit]bool, len(on))
	for _, u := range on {
		among[u] = true
	}
	return func(yield func(l1.Range) bool) {
		for o := range p.beside(on) {
			if slices.ContainsFunc(o.place.on, func(u *unit) bool { return among[u] }) && !yield(o.place.r) {
				return
			}
		}
	}
}

// beside yields the buffers that may lie on some units, the highest first.
func (p *heights) beside(on []*unit) iter.Seq[*buffer] {
	seen := map[device.ID]bool{}
	var all []*btree.BTreeG[*buffer]
	for _, u := range on {
		for id := range p.known.members.above(u.id) {
			if list := p.high[id]; list != nil && !seen[id] {
				all = append(all, list)
			}
			seen[id] = true
		}
	}
	if len(all) == 1 {
		return func(yield func(*buffer) bool) { all[0].Ascend(yield) }
	}
	var merged []*buffer
	for _, list := range all {
		list.Ascend(func(b *buffer) bool {
			merged = append(merged, b)
			return true
		})
	}
	slices.SortFunc(merged, byHeight)
	return slices.Values(merged)
}

func (p *heights) add(b *buffer) {
	if b.place.r.IsEmpty() {
		return
	}
	if p.high[b.said.named] == nil {
		p.high[b.said.named] = newTree()
	}
	p.high[b.said.named].ReplaceOrInsert(b)
}

func (p *heights) remove(b *buffer) {
	list := p.high[b.said.named]
	if list == nil {
		return
	}
	if list.Delete(b); list.Len() == 0 {
		delete(p.high, b.said.named)
	}
}

// newTree orders buffers by where they end, the highest first. A sorted slice took half
// of the time of a database with 100,000 buffers at the end of an operation.
func newTree() *btree.BTreeG[*buffer] {
	return btree.NewG(16, func(a, b *buffer) bool { return byHeight(a, b) < 0 })
}

// byHeight orders buffers by where they end, the highest first.
func byHeight(a, b *buffer) int {
	return cmp.Or(cmp.Compare(b.place.r.End, a.place.r.End), cmp.Compare(a.id, b.id))
}

// border returns where L1_SMALL begins on some units: L1 buffers on all of them lie below low,
// L1_SMALL buffers above high.
func border(on []*unit, otherwise l1.Spec) (low, high uint64) {
	of := func(s l1.Spec) uint64 { return s.L1Size - s.L1Small }
	if len(on) == 0 {
		return of(otherwise), of(otherwise)
	}
	by := func(a, b *unit) int { return cmp.Compare(of(a.spec), of(b.spec)) }
	return of(slices.MinFunc(on, by).spec), of(slices.MaxFunc(on, by).spec)
}

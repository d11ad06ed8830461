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
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// heights are the ranges of the L1 buffers that live. Buffers without an address go from
// the top down, as tt-metal's allocator does it.
type heights struct {
	*shared
	high map[device.ID]*btree.BTreeG[*survey.Buffer] // by the id that they name, the highest first
}

func newHeights(g *shared) heights {
	return heights{shared: g, high: map[device.ID]*btree.BTreeG[*survey.Buffer]{}}
}

// locate finds the range of a new buffer in L1, whose units are known. One without an
// address goes to the highest gap that is free on all its units.
func (p *heights) locate(b *survey.Buffer, spec l1.Spec) {
	size := b.Said.PerCore
	if !size.OK {
		if b.Place.Unsized = b.Place.Address.OK && b.Place.Address.V <= jsonobject.MaxL1; b.Place.Unsized {
			b.Place.Range = l1.Range{Start: b.Place.Address.V, End: b.Place.Address.V}
		}
		return
	}
	if b.Place.Address.OK {
		if size.V > jsonobject.MaxL1 || b.Place.Address.V > jsonobject.MaxL1-size.V {
			b.Place.Address = event.Opt[uint64]{} // no place in any L1
			return
		}
		b.Place.Range = l1.Range{Start: b.Place.Address.V, End: b.Place.Address.V + size.V}
		p.add(b)
		p.Known.Bottom.Buffer(survey.Owner{ID: b.Said.Named, Unit: b.Unit}, b.Said.Kind, b.Place.Range)
		return
	}
	if b.Said.Bare && p.Known.Members.Recorded {
		return // it lies where the capture does not say
	}
	on := p.units.of(b.Place.On)
	low, high := border(on, spec)
	base := spec.CBBase
	for i, u := range on {
		if base = max(base, u.spec.CBBase); i == 0 {
			base = u.spec.CBBase
		}
	}
	between := l1.Range{Start: base, End: low}
	if b.Said.Kind == fit.KindL1Small {
		between = l1.Range{Start: high, End: spec.L1Size}
	}
	at, ok := fit.Highest(size.V, fit.Alignment(spec), between, p.taken(b.Place.On))
	if !ok {
		return
	}
	b.Place.Address, b.Place.Placed, b.Place.Range = event.Some(at.Start), true, at
	p.add(b)
}

// unplaced says why a buffer in L1 lies nowhere, or "" if it does lie somewhere or has
// no bytes. recorded says that other buffers have addresses.
func unplaced(b *survey.Buffer, recorded bool) string {
	switch {
	case !b.Place.Range.IsEmpty() || b.Place.Unsized || b.Said.PerCore == event.Some(uint64(0)):
		return ""
	case b.Said.Kind == fit.KindL1Small && b.Said.Recorded == 0:
		return event.UnplacedSmall
	case b.Said.Recorded != 0:
		return event.UnplacedBeyond
	case !b.Said.PerCore.OK:
		return event.UnplacedSize
	case b.Said.Bare && recorded:
		return event.UnplacedHidden
	}
	return event.UnplacedFull
}

// taken yields the ranges of the buffers on some units, the highest first.
func (p *heights) taken(on []device.ID) iter.Seq[l1.Range] {
	among := make(map[device.ID]bool, len(on))
	for _, id := range on {
		among[id] = true
	}
	return func(yield func(l1.Range) bool) {
		for o := range p.beside(on) {
			if slices.ContainsFunc(o.Place.On, func(id device.ID) bool { return among[id] }) && !yield(o.Place.Range) {
				return
			}
		}
	}
}

// beside yields the buffers that may lie on some units, the highest first.
func (p *heights) beside(on []device.ID) iter.Seq[*survey.Buffer] {
	seen := map[device.ID]bool{}
	var all []*btree.BTreeG[*survey.Buffer]
	for _, unit := range on {
		for id := range p.Known.Members.Above(unit) {
			if list := p.high[id]; list != nil && !seen[id] {
				all = append(all, list)
			}
			seen[id] = true
		}
	}
	if len(all) == 1 {
		return func(yield func(*survey.Buffer) bool) { all[0].Ascend(yield) }
	}
	var merged []*survey.Buffer
	for _, list := range all {
		list.Ascend(func(b *survey.Buffer) bool {
			merged = append(merged, b)
			return true
		})
	}
	slices.SortFunc(merged, byHeight)
	return slices.Values(merged)
}

func (p *heights) add(b *survey.Buffer) {
	if b.Place.Range.IsEmpty() {
		return
	}
	if p.high[b.Said.Named] == nil {
		p.high[b.Said.Named] = newTree()
	}
	p.high[b.Said.Named].ReplaceOrInsert(b)
}

func (p *heights) remove(b *survey.Buffer) {
	list := p.high[b.Said.Named]
	if list == nil {
		return
	}
	if list.Delete(b); list.Len() == 0 {
		delete(p.high, b.Said.Named)
	}
}

// newTree orders buffers by where they end, the highest first. A sorted slice took half
// of the time of a database with 100,000 buffers at the end of an operation.
func newTree() *btree.BTreeG[*survey.Buffer] {
	return btree.NewG(16, func(a, b *survey.Buffer) bool { return byHeight(a, b) < 0 })
}

// byHeight orders buffers by where they end, the highest first.
func byHeight(a, b *survey.Buffer) int {
	return cmp.Or(cmp.Compare(b.Place.Range.End, a.Place.Range.End), cmp.Compare(a.ID, b.ID))
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

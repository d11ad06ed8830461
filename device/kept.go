package device

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/glance"
	"github.com/cbl1/cbl1/l1"
)

// A Moment is what lay in the L1 of a device at one moment. Nothing changes it, and keeping
// it costs nothing: who may have to say later what a peak consisted of keeps one for each.
// The zero Moment is empty.
type Moment struct {
	left  *residue.Residue
	order heap.Order
	name  MomentName
}

// A MomentName names the content of a [Moment]. Moments of one fleet with equal names have the same
// dispatched programs and the same buffers. Equal contents may have several names.
type MomentName struct {
	left    *residue.Residue
	buffers uint64
	without string // of these
}

// Name returns a name of the content. Cost: nothing.
func (m Moment) Name() MomentName { return m.name }

// Moment returns what lies in L1 now by BasisResident, but for some buffers.
// Cost: O(log n) for each buffer left out; the next changes of buffers copy what they touch.
func (d Device) Moment(without ...fit.BufferID) (m Moment) {
	d.write(func(c *cohort) {
		m.left = c.left
		h := c.heap()
		m.order = h.InTheWay()
		m.name = MomentName{left: c.left, buffers: h.Version()}
		if len(without) > 0 {
			m.name.without = fmt.Sprint(without)
		}
		for _, id := range without {
			if a := h.Find(id); a != nil && a.InTheWay() {
				m.order.Drop(a)
			}
		}
	})
	return m
}

// UsageGroups returns the cores on which anything lay, as those of a Device do.
// Cost: O(n log n) in the buffers and programs that lay there.
func (m Moment) UsageGroups() iter.Seq[UsageGroup] {
	all := m.order.All()
	slices.SortFunc(all, func(a, b *heap.Allocation) int { return cmp.Compare(a.ID, b.ID) })
	return usageGroups(tiles(appendAllocations(appendResidue(nil, m.left), all)))
}

// A glimpse is a device that answers what is internal.
type glimpse struct{ Device }

// Glance answers what the packages of this module ask after every event. Its type is internal and may change.
func (d Device) Glance() glance.Device { return glimpse{d} }

func (d glimpse) Fullest() (cores l1.CoreSet) {
	d.write(func(c *cohort) { // what a residue holds may be worked out now
		most := c.trackedNow().Core
		for part, bytes := range c.piled(max(most, 1)) {
			if bytes == most {
				cores = cores.Union(part)
			}
		}
	})
	return cores
}

// Clear returns the addresses in which nothing but circular buffers lies, on any core of
// the device: above all kernels and the reserved area, below everything else (fit.Clears).
// Cost: nothing.
func (d Device) Clear() l1.Range {
	free := heap.Anywhere()
	d.read(func(c *cohort) { free = c.heap().Gap() })
	return free
}

// piled returns the cores on which anything lies, in parts that hold equally many bytes, as
// long as these may be at least so many.
func (c *cohort) piled(least uint64) iter.Seq2[l1.CoreSet, uint64] {
	classes, held := c.heap().Classes(), c.left.Held()
	return func(yield func(l1.CoreSet, uint64) bool) {
		var written l1.CoreSet
		for g := range held.Groups() {
			alone, own := g.Cores(), g.Bytes()
			written = written.Union(alone)
			for _, of := range classes {
				bytes := own + of.Covered.Bytes()
				if bytes < least || !alone.Overlaps(of.Cores) {
					continue
				}
				alone = alone.Minus(of.Cores)
				for r := range g.Ranges() {
					bytes -= of.Covered.BytesIn(r)
				}
				if !yield(g.Cores().Intersect(of.Cores), bytes) {
					return
				}
			}
			if own >= least && !alone.IsEmpty() && !yield(alone, own) {
				return
			}
		}
		for _, of := range classes {
			if of.Covered.Bytes() < least {
				continue
			}
			if alone := of.Cores.Minus(written); !alone.IsEmpty() && !yield(alone, of.Covered.Bytes()) {
				return
			}
		}
	}
}

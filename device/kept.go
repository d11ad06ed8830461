package device

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A Moment holds the L1 content of a device at one moment. It never changes, and
// keeping it costs nothing: keep one per peak to list the contents of each peak
// later. The zero Moment is empty.
type Moment struct {
	left  *residue.Residue
	order heap.Order
	name  MomentName
}

// A MomentName names the content of a [Moment]. Moments of one fleet with equal names
// have the same dispatched programs and the same buffers. Equal contents may have
// several names.
type MomentName struct {
	left    *residue.Residue
	buffers uint64
	without string // ids left out of the buffers
}

// Name returns a name of the content. Cost: O(1).
func (m Moment) Name() MomentName { return m.name }

// Moment returns the content of L1 now by BasisResident, except some buffers. Cost:
// O(log n) for each buffer left out; the next changes of buffers copy the nodes that
// they change.
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

// UsageGroups returns the cores that held anything, like Device.UsageGroups. Cost:
// O(n log n) in the buffers and programs.
func (m Moment) UsageGroups() iter.Seq[UsageGroup] {
	all := m.order.All()
	slices.SortFunc(all, func(a, b *heap.Allocation) int { return cmp.Compare(a.ID, b.ID) })
	return usageGroups(tiles(appendAllocations(appendResidue(nil, m.left), all)))
}

// Overlap returns the bytes of L1 that several buffers hold, once for each but the first, summed over cores.
// Cost: O(1).
func (d Device) Overlap() (bytes uint64) {
	d.read(func(c *cohort) { bytes = c.heap().Overlap() })
	return bytes
}

// Fullest returns the cores that hold Totals.TrackedCore bytes: none if nothing does. Cost: O(classes of equal cores),
// whatever lies there.
func (d Device) Fullest() (cores l1.CoreSet) {
	d.write(func(c *cohort) { // a residue may work out its footprint now
		most := c.trackedNow().Core
		for part, bytes := range c.piled(max(most, 1), heap.Anywhere()) {
			if bytes == most {
				cores = cores.Union(part)
			}
		}
	})
	return cores
}

// FullestIn returns the most tracked bytes that a core holds in a range of addresses, and the cores that hold as many:
// of the given cores, or of all if there are none. Cost: as Fullest.
func (d Device) FullestIn(within l1.Range, cores l1.CoreSet) (most uint64, on l1.CoreSet) {
	d.write(func(c *cohort) {
		for part, bytes := range c.piled(1, within) {
			if !cores.IsEmpty() {
				part = part.Intersect(cores)
			}
			switch {
			case part.IsEmpty() || bytes < most:
			case bytes > most:
				most, on = bytes, part
			default:
				on = on.Union(part)
			}
		}
	})
	return most, on
}

// Clear returns the addresses that only circular buffers use, on any core of the
// device: above all kernels and the reserved area, below everything else
// (fit.Clears). Cost: O(log n) in the buffers.
func (d Device) Clear() l1.Range {
	free := heap.Anywhere()
	d.read(func(c *cohort) { free = c.heap().Gap() })
	return free
}

// piled yields the cores that hold anything in a range of addresses, in parts with equally many bytes there. It may
// leave out parts with fewer than least bytes.
func (c *cohort) piled(least uint64, within l1.Range) iter.Seq2[l1.CoreSet, uint64] {
	classes, held := c.heap().Classes(), c.left.Held()
	return func(yield func(l1.CoreSet, uint64) bool) {
		var written l1.CoreSet
		for g := range held.Groups() {
			alone, own := g.Cores(), uint64(0)
			for r := range g.Ranges() {
				own += r.Intersect(within).Len()
			}
			written = written.Union(alone)
			for _, of := range classes {
				bytes := own + of.Covered.BytesIn(within)
				if bytes < least || !alone.Overlaps(of.Cores) {
					continue
				}
				alone = alone.Minus(of.Cores)
				for r := range g.Ranges() {
					bytes -= of.Covered.BytesIn(r.Intersect(within))
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
			bytes := of.Covered.BytesIn(within)
			if bytes < least {
				continue
			}
			if alone := of.Cores.Minus(written); !alone.IsEmpty() && !yield(alone, bytes) {
				return
			}
		}
	}
}

package heap

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/lookup"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// An Allocation is a Buffer that is live on a device, in the form that can be
// counted. It never changes.
type Allocation struct {
	fit.Buffer
	hash   lookup.Hash
	Charge uint64          // bounds its bytes in any sum
	placed *classes.Holder // its parts; nil if it has none or is backing
	Span   l1.Range        // from the first byte of the parts to the last, or from 0 if cores are hidden; without bytes empty
	users  int             // devices that have it
	at     int             // in Book.live, among those of its id
}

// newAllocation returns the allocation of a plain buffer whose bytes add up to 2^63-1
// at most. It returns false if the sum of its footprint exceeds that.
func newAllocation(b fit.Buffer, n *lookup.Numbers) (*Allocation, bool) {
	a := &Allocation{Buffer: b}
	var sum uint64
	for p := range b.All() {
		sum += p.Range.Len() * uint64(p.Cores.Len())
		if !p.Range.IsEmpty() && !p.Cores.IsEmpty() {
			if a.Span.IsEmpty() {
				a.Span = p.Range
			}
			a.Span = l1.Range{Start: min(a.Span.Start, p.Range.Start), End: max(a.Span.End, p.Range.End)}
		}
	}
	if b.Unsized {
		a.Span = startOf(&b)
		if b.Kind.Below() {
			a.Span.End = math.MaxUint64 // it may reach into programs
		}
	}
	if !b.Hidden.IsEmpty() {
		a.Span.Start = 0 // it may lie anywhere
	}
	a.Charge = max(b.Size, sum)
	a.hash = n.Of(n.Next())
	if b.Backing || sum == 0 {
		return a, true
	}
	takes, ok := program.FootprintOf(func(yield func(l1.CoreSet, l1.Range) bool) {
		for p := range b.All() {
			if !yield(p.Cores, p.Range) {
				return
			}
		}
	})
	a.placed = classes.HolderOf(takes)
	return a, ok
}

// startOf returns the lowest address of an unsized buffer, as an empty range.
func startOf(b *fit.Buffer) l1.Range {
	low := uint64(math.MaxUint64)
	for p := range b.All() {
		if !p.Cores.IsEmpty() {
			low = min(low, p.Range.Start)
		}
	}
	return l1.Range{Start: low, End: low}
}

// InTheWay reports whether the buffer counts when programs are judged.
func (a *Allocation) InTheWay() bool {
	return a.placed != nil || (a.Unsized || !a.Hidden.IsEmpty()) && a.Stands()
}

// Takes returns the footprint of the buffer: empty if it backs another one.
func (a *Allocation) Takes() program.Footprint {
	if a.placed == nil {
		return program.Footprint{}
	}
	return classes.OccupiedBy(a.placed)
}

// Copy returns the Buffer with Parts that a caller may write.
func (a *Allocation) Copy() fit.Buffer { return a.Plain() }

// equal reports whether the allocation is of a plain buffer, whatever its id.
func (a *Allocation) equal(b *fit.Buffer) bool {
	return a.Kind == b.Kind && a.Mode == b.Mode && a.Size == b.Size && a.Backing == b.Backing && a.Unsized == b.Unsized &&
		a.Name == b.Name && a.Range == b.Range && a.Cores.Equal(b.Cores) && a.Hidden.Equal(b.Hidden) &&
		slices.EqualFunc(a.Parts, b.Parts, func(p, q fit.Part) bool { return p.Range == q.Range && p.Cores.Equal(q.Cores) })
}

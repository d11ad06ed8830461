package fit

import (
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Replaced returns a program with the same addresses, but found by placement, so that a
// buffer whose size changes moves those above it. The lowest buffer is taken for the base if
// it does not lie at the base of the Spec. ok is false if placement finds other addresses.
func Replaced(p *program.Program) (again *program.Program, ok bool) {
	low := uint64(math.MaxUint64)
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() {
			low = min(low, cb.Range.Start)
		}
	}
	spec := p.Spec()
	for _, base := range []uint64{spec.CBBase, low} {
		spec.CBBase = base
		b := program.NewBuilder(p.ID()).Name(p.Name()).Like(p)
		for _, cb := range p.CBs() {
			next := cb.CB
			next.Fixed = next.Fixed && next.Global
			b.CB(next)
		}
		again, err := b.Build(spec)
		if err == nil && sameRanges(p, again) {
			return again, true
		}
	}
	return nil, false
}

// sameRanges reports whether two programs with the same buffers have them in the same
// places.
func sameRanges(p, q *program.Program) bool {
	var ranges []l1.Range
	for _, cb := range p.CBs() {
		ranges = append(ranges, cb.Range)
	}
	for i, cb := range q.CBs() {
		if cb.Range != ranges[i] {
			return false
		}
	}
	return true
}

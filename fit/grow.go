package fit

import (
	"math"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// MayGrow returns by how many bytes the size of a CB of p may grow so that the program,
// laid out anew, still fits on all places. Growing by that much fits. Growing by one step
// more does not fit, or ends in L1_SMALL, above usable L1.
//
// A step is one byte. Where page sizes are known it is the smallest number of bytes that
// keeps the size a multiple of all of them: of pages of 2,048 and 3,072 bytes it is 6,144.
// Growth by less than the answer may not fit where placement passes over a range that is
// "already marked higher".
//
// ok is false if p does not fit as it is, if the CB is global and takes nothing, and if
// there is no program.
//
// Errors: *program.Error if there is no such CB. Cost: some forty layouts of the
// program.
func MayGrow(p *program.Program, cb int, places ...Place) (bytes uint64, ok bool, err error) {
	if p == nil {
		return 0, false, nil
	}
	var size uint64
	if cb >= 0 && cb < p.Len() {
		size = p.CB(cb).Size
	}
	if _, err := p.Resize(cb, size); err != nil || p.CB(cb).Global {
		return 0, false, err
	}
	all, step, end := sitesOf(places), stepOf(p, cb), uint64(l1.MaxAddr)
	if len(all) == 0 {
		end = p.Spec().Usable().End
	}
	for i := range all {
		end = min(end, all[i].Spec.Usable().End)
	}
	fits := func(steps uint64) bool {
		next, err := p.Resize(cb, size+steps*step)
		return err == nil && all.fit(next) && !rises(p, next, end)
	}
	if !fits(0) {
		return 0, false, nil
	}
	high := uint64(1)
	if end > size {
		high = (end-size)/step + 1 // beyond the end, wherever it starts
	}
	return last(0, high, fits) * step, true, nil
}

// last returns the last number from low on, and below high, for which something holds: for low it
// does, and for high it does not.
func last(low, high uint64, holds func(uint64) bool) uint64 {
	for high-low > 1 {
		if mid := low + (high-low)/2; holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// rises reports whether a buffer of a program ends above a limit and higher than before
// it was laid out anew.
func rises(was, is *program.Program, limit uint64) bool {
	for i, cb := range is.CBs() {
		if !cb.Global && cb.Range.End > max(limit, was.CB(i).Range.End) {
			return true
		}
	}
	return false
}

// stepOf returns the least common multiple of the page sizes of a CB and of its aliases,
// which change with it.
func stepOf(p *program.Program, cb int) uint64 {
	step, alias := uint64(1), p.CB(cb).Alias
	for i, placed := range p.CBs() {
		if i != cb && (alias == 0 || placed.Alias != alias) {
			continue
		}
		for _, index := range placed.Indices {
			if index.PageSize > 0 {
				step = lcm(step, index.PageSize)
			}
		}
	}
	return step
}

// lcm returns the least common multiple, or 2^63-1 if it is larger.
func lcm(a, b uint64) uint64 {
	g, r := a, b
	for r != 0 {
		g, r = r, g%r
	}
	if a/g > l1.MaxAddr/b {
		return l1.MaxAddr
	}
	return a / g * b
}

// Replaced returns a program with the same addresses, but found by placement, so that a buffer
// whose size changes moves the ones above it. The lowest buffer is taken for the base if it does
// not lie at the base of the Spec. ok is false if placement finds other addresses.
func Replaced(p *program.Program) (again *program.Program, ok bool) {
	b := program.NewBuilder(p.ID()).Name(p.Name()).Like(p)
	low := uint64(math.MaxUint64)
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() {
			low = min(low, cb.Range.Start)
		}
		cb.Fixed = cb.Fixed && cb.Global
		b.CB(cb.CB)
	}
	spec := p.Spec()
	for _, base := range []uint64{spec.CBBase, low} {
		spec.CBBase = base
		if again, err := b.Build(spec); err == nil && sameRanges(p, again) {
			return again, true
		}
	}
	return nil, false
}

// sameRanges reports whether two programs with the same buffers have them in the same
// places.
func sameRanges(p, q *program.Program) bool {
	for i, cb := range q.CBs() {
		if cb.Range != p.CB(i).Range {
			return false
		}
	}
	return true
}

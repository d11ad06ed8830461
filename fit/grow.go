package fit

import (
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
// Errors: *program.CBError if there is no such CB. Cost: some forty layouts of the
// program.
func MayGrow(p *program.Program, cb int, places ...Place) (bytes uint64, ok bool, err error) {
	return NewOutline(places...).MayGrow(p, cb)
}

// MayGrow is MayGrow for all places of the outline.
func (o Outline) MayGrow(p *program.Program, cb int) (bytes uint64, ok bool, err error) {
	if p == nil {
		return 0, false, nil
	}
	size, global := uint64(0), true
	for i, placed := range p.CBs() {
		if i == cb {
			size, global = placed.Size, placed.Global
		}
	}
	if _, err := p.Resize(cb, size); err != nil || global {
		return 0, false, err
	}
	step := stepOf(p, cb)
	end := o.end(p)
	fits := func(steps uint64) bool {
		next, err := p.Resize(cb, size+steps*step)
		return err == nil && o.Fits(next) && !rises(p, next, end)
	}
	if !fits(0) {
		return 0, false, nil
	}
	low, high := uint64(0), uint64(1)
	if end > size {
		high = (end-size)/step + 1 // beyond the end, wherever it starts
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low * step, true, nil
}

// end returns where usable L1 ends on all places; by the Spec of the program if there are none.
func (o Outline) end(p *program.Program) uint64 {
	if len(o.sites) == 0 {
		return p.Spec().Usable().End
	}
	end := uint64(l1.MaxAddr)
	for i := range o.sites {
		end = min(end, o.sites[i].Spec.Usable().End)
	}
	return end
}

// rises reports whether a buffer of a program ends above a limit and higher than before
// it was laid out anew.
func rises(was, is *program.Program, limit uint64) bool {
	var ends []uint64
	for _, cb := range was.CBs() {
		ends = append(ends, cb.Range.End)
	}
	for i, cb := range is.CBs() {
		if !cb.Global && cb.Range.End > max(limit, ends[i]) {
			return true
		}
	}
	return false
}

// stepOf returns the least common multiple of the page sizes of a CB and of its aliases,
// which change with it.
func stepOf(p *program.Program, cb int) uint64 {
	alias := 0
	for i, placed := range p.CBs() {
		if i == cb {
			alias = placed.Alias
		}
	}
	step := uint64(1)
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

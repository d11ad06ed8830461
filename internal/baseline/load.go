package baseline

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// The baselines are so slow that bringing them to where a measurement begins would take longer than
// the measurement. Loading puts many ranges into a counter by one sweep over their ends; the result
// equals adding them one by one.

// An end is an address at which the number of ranges changes by d.
type end struct {
	addr uint64
	d    int
}

// A loading is ranges that are put into a counter at once, and their ends.
type loading struct {
	ranges []l1.Range
	ends   []end
}

func loadingOf(ranges []l1.Range) *loading { return &loading{ranges, endsOf(ranges)} }

// endsOf returns the ends of the ranges, in order.
func endsOf(ranges []l1.Range) []end {
	ends := make([]end, 0, 2*len(ranges))
	for _, r := range ranges {
		ends = append(ends, end{r.Start, +1}, end{r.End, -1})
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.addr, b.addr) })
	return ends
}

// merge adds ordered ends to ordered edges. It returns the edges of both and the
// number of bytes that they cover.
func merge(old []edge, ends []end) (edges []edge, bytes uint64) {
	n, was := 0, 0  // the count so far; the part of it that is in old
	at := uint64(0) // where the bytes with count n start
	for len(old) > 0 || len(ends) > 0 {
		var addr uint64
		switch {
		case len(ends) == 0 || len(old) > 0 && old[0].addr < ends[0].addr:
			addr = old[0].addr
		default:
			addr = ends[0].addr
		}
		if n > 0 {
			bytes += addr - at
		}
		before := n
		at = addr
		if len(old) > 0 && old[0].addr == addr {
			n += old[0].n - was
			was = old[0].n
			old = old[1:]
		}
		for len(ends) > 0 && ends[0].addr == addr {
			n += ends[0].d
			ends = ends[1:]
		}
		if n != before {
			edges = append(edges, edge{addr, n})
		}
	}
	return edges, bytes
}

package program

import (
	"iter"

	"github.com/cbl1/cbl1/l1"
)

// FootprintOf returns what ranges on sets of cores take together: the footprint of something
// that is no program, as a buffer is. Its Logical is the plain sum of their bytes. A range
// without bytes, or on no core, takes nothing. ok is false if a range is illegal, or if the
// sum is beyond 2^63-1.
//
// Cost: O(1) for one range. For several, the sum of the cores of the distinct sets, and
// O(log n) for each range.
func FootprintOf(parts iter.Seq2[l1.CoreSet, l1.Range]) (f Footprint, ok bool) {
	var cores l1.CoreSet
	var only l1.Range
	n := 0
	for on, r := range parts {
		if r.Check() != nil {
			return Footprint{}, false
		}
		if !r.IsEmpty() && !on.IsEmpty() {
			cores, only = on, r
			n++
		}
	}
	switch n {
	case 0:
		return Footprint{}, true
	case 1:
		return single(cores, only)
	}
	return lay(parts)
}

// single returns the footprint of one range.
func single(cores l1.CoreSet, r l1.Range) (f Footprint, ok bool) {
	own := &struct { // they live as long as each other
		groups [1]Group
		ranges [1]l1.Range
	}{ranges: [1]l1.Range{r}}
	own.groups[0] = Group{cores: cores, ranges: own.ranges[:], bytes: r.Len(), sizes: r.Len()}
	f.groups = own.groups[:]
	if !addTimes(&f.bytes, r.Len(), cores.Len()) {
		return Footprint{}, false
	}
	f.sizes = f.bytes
	return f, true
}

// lay is FootprintOf for several ranges: a layer for each distinct set.
func lay(parts iter.Seq2[l1.CoreSet, l1.Range]) (f Footprint, ok bool) {
	s := newDesk()
	var on [][]l1.Range // area -> its ranges
	for cores, r := range parts {
		if r.IsEmpty() || cores.IsEmpty() {
			continue
		}
		ranges := cores.Ranges()
		s.key = appendSet(s.key[:0], ranges)
		k, fresh := s.roll.number(s.key)
		if fresh {
			s.areas, on = append(s.areas, area{ranges, cores}), append(on, nil)
			s.layers = append(s.layers, layer{like: k})
		}
		on[k] = append(on[k], r)
		if s.layers[k].size += r.Len(); s.layers[k].size > l1.MaxAddr {
			return Footprint{}, false
		}
	}
	for k, ranges := range on {
		s.layers[k].ranges = l1.Merge(ranges)
	}
	return s.footprint(s.cells(s.areas))
}

package fit

import (
	"iter"

	"github.com/cbl1/cbl1/l1"
)

// Highest returns where tt-metal's allocator puts size bytes into a free range of a core: as high as
// they can be, at a multiple of align, in the highest gap that holds them. 0 is 1 as an alignment.
// taken yields ranges that are not free, the highest end first. ok is false if no gap holds the size.
//
//	free [   gap  ####      gap      ###  gap  ]
//	                        [size]       too small
//
// Its lists of free blocks search so for L1 buffers: they take the highest block that is large enough,
// not the smallest one, and cut from its top (allocator/algorithms/free_list_opt.cpp with the policy
// FIRST of bank_manager.cpp, from the top as buffers/buffer.cpp asks for all outside DRAM). Circular
// buffers are in no such list and do not block: a program checks them when it runs.
func Highest(size, align uint64, free l1.Range, taken iter.Seq[l1.Range]) (at l1.Range, ok bool) {
	top := free.End
	fits := func(bottom uint64) bool {
		if bottom = max(bottom, free.Start); top < bottom || top-bottom < size {
			return false
		}
		at.Start = top - size
		at.Start -= at.Start % max(align, 1)
		at.End = at.Start + size
		return at.Start >= bottom
	}
	for r := range taken {
		if r.Start >= top {
			continue
		}
		if r.End <= top && fits(r.End) {
			return at, true
		}
		top = r.Start
	}
	if !fits(free.Start) {
		return l1.Range{}, false
	}
	return at, true
}

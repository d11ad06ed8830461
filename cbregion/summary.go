package cbregion

// A summary holds all figures that the tree needs of a run of neighbouring boundaries. Runs that
// follow each other combine:
//
//	    left                          right
//	    first ............... last    first ............... last
//	      |   segments inside   |       |   segments inside   |
//	count     left.min           left.sum     left.sum + right.min
//
// Counts are relative: the count in front of the run's first boundary is taken as
// 0, and min may be negative. 64 bits cannot overflow: each call moves a count by
// one.
type summary struct {
	first, last uint64 // addresses of the first and last boundary
	sum         int64  // of the deltas: the count behind last
	min         int64  // least count in the segments from first to last; noSegment if there are none
	gap         uint64 // bytes of those segments that have count min
}

// noSegment is the least count of a run that has no segments. It is larger than
// any count, also after the addition of another run's sum.
const noSegment = 1 << 62

// covered returns the bytes from first to last whose count is not 0, if the count
// in front of first is before.
func (s *summary) covered(before int64) uint64 {
	if before+s.min == 0 {
		return s.last - s.first - s.gap
	}
	return s.last - s.first
}

// ofBlock sets s to the summary of a sorted block of boundaries, which must not be
// empty. (It sets fields one by one, and so does ofKids: copying a summary that has
// just been written stalls the processor, which was a quarter of a change.)
func (s *summary) ofBlock(block []boundary) {
	least, gap := int64(noSegment), uint64(0)
	at, count := block[0].addr, block[0].delta
	s.first = at
	for _, b := range block[1:] {
		if count <= least {
			if count < least {
				least, gap = count, 0
			}
			gap += b.addr - at
		}
		at = b.addr
		count += b.delta
	}
	s.last, s.sum, s.min, s.gap = at, count, least, gap
}

// ofKids sets s to the summary of neighbouring subtrees, at least one.
func (s *summary) ofKids(kids []child) {
	k := &kids[0]
	last, sum, least, gap := k.last, k.sum, k.min, k.gap
	s.first = k.first
	for i := range kids[1:] {
		k := &kids[i+1]
		if sum <= least { // the segment in front of k
			if sum < least {
				least, gap = sum, 0
			}
			gap += k.first - last
		}
		if m := sum + k.min; m <= least {
			if m < least {
				least, gap = m, 0
			}
			gap += k.gap
		}
		last = k.last
		sum += k.sum
	}
	s.last, s.sum, s.min, s.gap = last, sum, least, gap
}

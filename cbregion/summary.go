package cbregion

// A summary is all that the tree needs to know of a run of neighbouring boundaries
// to answer for it. Runs that follow each other combine:
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

// summariseBlock returns the summary of a sorted block of boundaries, which must not be
// empty.
func summariseBlock(block []boundary) summary {
	least, gap := int64(noSegment), uint64(0)
	at, count := block[0].addr, block[0].delta
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
	return summary{block[0].addr, at, count, least, gap}
}

// summariseKids returns the summary of neighbouring subtrees, which must not be empty.
func summariseKids(kids []child) summary {
	s := kids[0].summary
	for i := range kids[1:] {
		k := &kids[i+1]
		if s.sum <= s.min {
			if s.sum < s.min {
				s.min, s.gap = s.sum, 0
			}
			s.gap += k.first - s.last
		}
		if least := s.sum + k.min; least <= s.min {
			if least < s.min {
				s.min, s.gap = least, 0
			}
			s.gap += k.gap
		}
		s.last = k.last
		s.sum += k.sum
	}
	return s
}

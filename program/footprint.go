package program

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Footprint is what one program takes of L1, grouped by cores that hold the same.
// The zero value takes nothing.
type Footprint struct {
	// Groups are disjoint, not empty, ordered by their first core, and no two are
	// equal in ranges and sizes. So equal footprints have equal groups.
	groups []Group
	where  *where // core -> group; nil if there are few groups
	bytes  uint64 // sum of bytes times cores, at most 2^63-1
	sizes  uint64 // sum of sizes times cores, at most 2^63-1
}

// A Group is a set of cores with identical ranges and the same logical bytes. (Cores
// where CBs overlap may hold the ranges of others, and count more logical bytes.)
type Group struct {
	cores  l1.CoreSet
	ranges []l1.Range // merged: sorted, disjoint, not touching, not empty
	bytes  uint64     // sum of the ranges
	sizes  uint64     // sum of the sizes of the CBs on one core
}

// Cores returns the cores of the group.
func (g Group) Cores() l1.CoreSet { return g.cores }

// NumRanges returns the number of merged ranges on each core, at least one.
func (g Group) NumRanges() int { return len(g.ranges) }

// Range returns the i-th merged range on each core, lowest first.
func (g Group) Range(i int) l1.Range { return g.ranges[i] }

// Ranges returns the merged ranges on each core, lowest first.
func (g Group) Ranges() iter.Seq[l1.Range] { return slices.Values(g.ranges) }

// Bytes returns the physical bytes on each core: the length of the ranges.
func (g Group) Bytes() uint64 { return g.bytes }

// Logical returns the plain sum of the sizes of the CBs on each core.
func (g Group) Logical() uint64 { return g.sizes }

// Groups returns the groups by their first core.
func (f Footprint) Groups() iter.Seq[Group] { return slices.Values(f.groups) }

// NumGroups returns the number of groups; the usual program has one.
func (f Footprint) NumGroups() int { return len(f.groups) }

// Group returns the i-th group.
func (f Footprint) Group(i int) Group { return f.groups[i] }

// Bytes returns the physical bytes, summed over cores.
func (f Footprint) Bytes() uint64 { return f.bytes }

// Logical returns the plain sum of CB size times cores.
func (f Footprint) Logical() uint64 { return f.sizes }

// Cores returns the cores on which something is taken.
func (f Footprint) Cores() l1.CoreSet {
	sets := make([]l1.CoreSet, len(f.groups))
	for i, g := range f.groups {
		sets[i] = g.cores
	}
	return unite(sets)
}

// On returns the group that holds core c, if something is taken there. O(1).
func (f Footprint) On(c l1.Core) (Group, bool) {
	if f.where != nil {
		if i := f.where.group(c); i >= 0 {
			return f.groups[i], true
		}
		return Group{}, false
	}
	for _, g := range f.groups {
		if g.cores.Has(c) {
			return g, true
		}
	}
	return Group{}, false
}

// Equal reports whether f and o take the same bytes on the same cores, and count
// the same logical bytes.
func (f Footprint) Equal(o Footprint) bool {
	return f.bytes == o.bytes && f.sizes == o.sizes &&
		slices.EqualFunc(f.groups, o.groups, func(a, b Group) bool {
			return a.sizes == b.sizes && slices.Equal(a.ranges, b.ranges) && a.cores.Equal(b.cores)
		})
}

// A layer is what one area adds to a footprint: merged ranges, and a size to count.
type layer struct {
	ranges []l1.Range
	size   uint64
	like   int // layers with one number have equal ranges
}

// footprint unites the layers of each cell and joins cells that come out equal. Layers
// and areas of the cells have the same numbers. ok is false if a sum over all cores lies
// beyond 2^63-1.
func (s *workspace) footprint(cells []cell) (f Footprint, ok bool) {
	s.roll.reset()
	f.groups = make([]Group, 0, len(cells))
	s.groupOf = zeroed(s.groupOf, len(cells))
	held := 0 // ranges of all groups
	s.ranges = s.ranges[:0]
	s.taken = zeroed(s.taken, len(s.layers))
	for i, c := range cells {
		g, ranges, ok := s.unite(c, int32(i+1))
		if !ok {
			return f, false
		}
		if len(ranges) == 0 {
			continue
		}
		if n := c.cores.Len(); !addTimes(&f.bytes, g.bytes, n) || !addTimes(&f.sizes, g.sizes, n) {
			return f, false
		}
		s.key = binary.LittleEndian.AppendUint64(s.key[:0], g.sizes)
		s.key = appendRanges(s.key, ranges)
		k, fresh := s.roll.number(s.key)
		if fresh {
			g.ranges, held = ranges, held+len(ranges)
			f.groups, s.ranges = append(f.groups, g), s.ranges[:len(s.ranges)+len(ranges)]
		}
		s.groupOf[i] = int32(k + 1)
	}
	s.join(f.groups, cells)
	if len(f.groups) < len(cells) {
		f.groups = slices.Clone(f.groups)
	}
	f.where = whereOf(f.groups)
	own := make([]l1.Range, 0, held)
	for k := range f.groups {
		g := &f.groups[k]
		from := len(own)
		own = append(own, g.ranges...)
		g.ranges = own[from:len(own):len(own)]
	}
	return f, true
}

// join gives each group the cores of all its cells.
func (s *workspace) join(groups []Group, cells []cell) {
	s.counts = zeroed(s.counts, len(groups)+1)
	for _, g := range s.groupOf {
		s.counts[g]++
	}
	at := int32(0)
	for g, n := range s.counts {
		s.counts[g], at = at, at+n
	}
	s.sets = slices.Grow(s.sets[:0], len(cells))[:len(cells)]
	for i, g := range s.groupOf {
		s.sets[s.counts[g]] = cells[i].cores
		s.counts[g]++
	}
	for k := range groups { // the counts are where each group ends now
		if sets := s.sets[s.counts[k]:s.counts[k+1]]; len(sets) > 1 {
			groups[k].cores = unite(sets)
		}
	}
}

// unite returns what the layers of a cell have on each of its cores. The ranges lie behind
// those of s, in whose memory they stay if they are kept. Layers that are alike are taken
// once for each cell, which has a number: all of a thousand may be.
func (s *workspace) unite(c cell, number int32) (g Group, ranges []l1.Range, ok bool) {
	from := len(s.ranges)
	all := s.ranges
	for _, i := range c.areas {
		y := &s.layers[i]
		if s.taken[y.like] != number {
			s.taken[y.like] = number
			all = append(all, y.ranges...)
		}
		if g.sizes += y.size; g.sizes > l1.MaxAddr {
			return g, nil, false
		}
	}
	s.ranges = all[:from]
	ranges = l1.Merge(all[from:])
	for _, r := range ranges {
		g.bytes += r.Len()
	}
	g.cores = c.cores
	return g, ranges, true
}

// appendRanges appends what tells lists of ranges apart.
func appendRanges(key []byte, ranges []l1.Range) []byte {
	for _, r := range ranges {
		key = binary.LittleEndian.AppendUint64(key, r.Start)
		key = binary.LittleEndian.AppendUint64(key, r.End)
	}
	return key
}

// addTimes adds n times bytes to sum and reports whether the result is at most 2^63-1.
func addTimes(sum *uint64, bytes uint64, n int) bool {
	hi, lo := bits.Mul64(bytes, uint64(n))
	lo, carry := bits.Add64(lo, *sum, 0)
	*sum = lo
	return hi == 0 && carry == 0 && lo <= l1.MaxAddr
}

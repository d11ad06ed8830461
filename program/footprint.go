package program

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Footprint holds the L1 ranges of one program, grouped by cores that hold the same. The zero
// value is empty.
type Footprint struct {
	// Groups are disjoint, not empty, ordered by their first core, and no two are
	// equal in ranges and sizes. So equal footprints have equal groups.
	groups []Group
	where  *coreIndex // core -> group; nil if there are few groups
	bytes  uint64     // sum of bytes times cores, at most 2^63-1
	sizes  uint64     // sum of sizes times cores, at most 2^63-1; if it is 0, the sizes of the groups do not count
}

// A Group is a set of cores with identical ranges and the same logical bytes. (Cores
// where CBs overlap may hold the ranges of others, and count more logical bytes.)
type Group struct {
	cores  l1.CoreSet
	ranges []l1.Range // merged: sorted, disjoint, not touching, not empty
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
func (g Group) Bytes() uint64 {
	sum := uint64(0)
	for _, r := range g.ranges {
		sum += r.Len()
	}
	return sum
}

// Logical returns the plain sum of the sizes of the CBs on each core.
func (g Group) Logical() uint64 { return g.sizes }

// Groups returns the groups by their first core.
func (f Footprint) Groups() iter.Seq[Group] {
	return func(yield func(Group) bool) {
		for i := range f.groups {
			if !yield(f.Group(i)) {
				return
			}
		}
	}
}

// NumGroups returns the number of groups; the usual program has one.
func (f Footprint) NumGroups() int { return len(f.groups) }

// Group returns the i-th group.
func (f Footprint) Group(i int) Group {
	g := f.groups[i]
	if f.sizes == 0 {
		g.sizes = 0
	}
	return g
}

// Bytes returns the physical bytes, summed over cores.
func (f Footprint) Bytes() uint64 { return f.bytes }

// Logical returns the plain sum of CB size times cores.
func (f Footprint) Logical() uint64 { return f.sizes }

// Cores returns the cores on which something is taken.
func (f Footprint) Cores() l1.CoreSet { return unite(coresOf(f.groups, Group.Cores)) }

// On returns the group that holds core c, if something is taken there. O(1).
func (f Footprint) On(c l1.Core) (Group, bool) {
	if f.where != nil {
		if i := f.where.group(c); i >= 0 {
			return f.Group(i), true
		}
		return Group{}, false
	}
	for i := range f.groups {
		if f.groups[i].cores.Has(c) {
			return f.Group(i), true
		}
	}
	return Group{}, false
}

// Equal reports whether f and o take the same bytes on the same cores, and count
// the same logical bytes.
func (f Footprint) Equal(o Footprint) bool {
	return f.bytes == o.bytes && f.sizes == o.sizes &&
		slices.EqualFunc(f.groups, o.groups, func(a, b Group) bool {
			return (f.sizes == 0 || a.sizes == b.sizes) && slices.Equal(a.ranges, b.ranges) && a.cores.Equal(b.cores)
		})
}

// A layer is some cores on which ranges lie.
type layer struct {
	cores l1.CoreSet
	in    []int32 // the numbers of the ranges
}

func (y layer) where() l1.CoreSet { return y.cores }

// footprint unites the ranges of each core, and counts their sizes if counted is true. tiles are
// the tiles of the layers. ok is false if a sum over all cores lies beyond 2^63-1.
func footprint(layers []layer, tiles []l1.Tile, ranges []l1.Range, counted bool) (f Footprint, ok bool) {
	for i := range layers {
		size := uint64(0) // also where there is no core
		for _, k := range layers[i].in {
			if size += ranges[k].Len(); counted && size > l1.MaxAddr {
				return Footprint{}, false
			}
		}
	}
	here := make([]l1.Range, 0, len(ranges))
	seen := make([]int, len(ranges)) // 1 + the last tile with the range: layers may have the same ones
	groups := make([]Group, 0, len(tiles))
	for n, t := range tiles {
		g := Group{cores: t.Cores}
		here = here[:0]
		for _, k := range t.In {
			for _, i := range layers[k].in {
				if seen[i] <= n {
					seen[i] = n + 1
					if last := len(here) - 1; last < 0 || !here[last].Contains(ranges[i]) { // programs start again and again at one address
						here = append(here, ranges[i])
					}
					g.sizes = min(g.sizes+ranges[i].Len(), l1.MaxAddr+1) // too large, but no more than that
				}
			}
		}
		if !counted {
			g.sizes = 0
		}
		if here = l1.Merge(here); len(here) > 0 {
			g.ranges = slices.Clone(here)
			groups = append(groups, g)
		}
	}
	return sum(join(groups))
}

// add adds a range on some cores, as footprint does. ok is false if a sum lies beyond 2^63-1.
func (f *Footprint) add(cores l1.CoreSet, r l1.Range, counted bool) (ok bool) {
	size := uint64(0)
	if counted {
		size = r.Len()
	}
	groups := make([]Group, 0, len(f.groups)+2)
	for i := range f.groups {
		g := f.Group(i)
		if in := g.cores.Intersect(cores); !in.IsEmpty() {
			ranges := g.ranges
			if at, _ := slices.BinarySearchFunc(ranges, r, l1.Range.Compare); at == 0 || !ranges[at-1].Contains(r) {
				ranges = l1.Merge(slices.Insert(slices.Clone(ranges), at, r))
			}
			groups = append(groups, Group{in, ranges, min(g.sizes+size, l1.MaxAddr+1)})
			g.cores, cores = g.cores.Minus(in), cores.Minus(in)
		}
		if !g.cores.IsEmpty() {
			groups = append(groups, g)
		}
	}
	if !cores.IsEmpty() {
		groups = append(groups, Group{cores, []l1.Range{r}, size})
	}
	*f, ok = sum(join(groups))
	return ok
}

// uncounted returns the footprint without sizes.
func (f Footprint) uncounted() Footprint { return Footprint{f.groups, f.where, f.bytes, 0} }

// sum returns the footprint of groups.
func sum(groups []Group) (f Footprint, ok bool) {
	f.groups = groups
	for i := range f.groups {
		g := &f.groups[i]
		if n := g.cores.Len(); !addTimes(&f.bytes, g.Bytes(), n) || !addTimes(&f.sizes, g.sizes, n) {
			return Footprint{}, false
		}
	}
	f.where = whereOf(f.groups)
	return f, true
}

// join makes one of groups that differ in nothing but their cores, and orders them by first core.
func join(groups []Group) []Group {
	slices.SortFunc(groups, Group.compare)
	out := groups[:0]
	for from, to := 0, 0; from < len(groups); from = to {
		for to++; to < len(groups) && groups[to].compare(groups[from]) == 0; {
			to++
		}
		g := groups[from]
		g.cores = unite(coresOf(groups[from:to], Group.Cores))
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Group) int { return a.cores.CompareFirst(b.cores) })
	if len(out) != 1 || len(out[0].ranges) != 1 {
		return slices.Clone(out) // without spare room
	}
	// The one range of the usual program lies beside its group: with cold caches a registration takes 1.1 times as
	// long without that (W1).
	one := &struct {
		groups [1]Group
		ranges [1]l1.Range
	}{[1]Group(out), [1]l1.Range(out[0].ranges)}
	one.groups[0].ranges = one.ranges[:]
	return one.groups[:]
}

// compare orders groups by their sizes and ranges on each core.
func (g Group) compare(o Group) int {
	return cmp.Or(cmp.Compare(g.sizes, o.sizes), slices.CompareFunc(g.ranges, o.ranges, l1.Range.Compare))
}

// coresOf returns the cores of each element.
func coresOf[T any](list []T, cores func(T) l1.CoreSet) []l1.CoreSet {
	sets := make([]l1.CoreSet, len(list))
	for i := range list {
		sets[i] = cores(list[i])
	}
	return sets
}

// addTimes adds n times bytes to sum and reports whether the result is at most 2^63-1.
func addTimes(sum *uint64, bytes uint64, n int) bool {
	hi, lo := bits.Mul64(bytes, uint64(n))
	lo, carry := bits.Add64(lo, *sum, 0)
	*sum = lo
	return hi == 0 && carry == 0 && lo <= l1.MaxAddr
}

// FootprintOf returns the footprint of ranges on sets of cores, for example of a buffer. Its
// Logical is the plain sum of their bytes. A range without bytes, or on no core, takes nothing. ok
// is false if a range is illegal, or if the sum is beyond 2^63-1.
//
// Cost: O(1) for one range. For several, one [l1.Tiles] of their cores, and O(log n) for each range
// of a tile.
func FootprintOf(parts iter.Seq2[l1.CoreSet, l1.Range]) (f Footprint, ok bool) {
	var groups []Group
	for cores, r := range parts {
		if r.Check() != nil {
			return Footprint{}, false
		}
		if !r.IsEmpty() && !cores.IsEmpty() {
			groups = append(groups, Group{cores, []l1.Range{r}, r.Len()})
		}
	}
	if len(groups) < 2 { // as of most buffers
		return sum(groups)
	}
	layers, ranges := make([]layer, len(groups)), make([]l1.Range, len(groups))
	for i, g := range groups {
		layers[i], ranges[i] = layer{g.cores, []int32{int32(i)}}, g.ranges[0]
	}
	return footprint(layers, l1.Tiles(coresOf(layers, layer.where)), ranges, true)
}

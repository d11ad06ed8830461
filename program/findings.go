package program

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Code names a kind of Finding.
type Code string

// The oddities of a program. tt-metal itself refuses some of these, some of them only when the
// program is launched, and does not notice Overlap at all.
const (
	Overlap        Code = "overlap"        // two CBs share bytes of a core
	IndexReuse     Code = "index-reuse"    // two CBs use one buffer index on a core
	IndexLimit     Code = "index-limit"    // a buffer index above what the device has
	PageSize       Code = "page-size"      // size is not a multiple of the page size
	PageCount      Code = "page-count"     // more than 65,535 pages
	OutsideGrid    Code = "outside-grid"   // cores outside the compute grid
	BeyondL1       Code = "beyond-l1"      // the CB ends beyond the L1 of a core
	Unaligned      Code = "unaligned"      // a given address is not a multiple of the alignment
	OutOfOrder     Code = "out-of-order"   // a given address below what earlier CBs took on the same cores; tt-metal would refuse it
	RangesOverlap  Code = "ranges-overlap" // rectangles of one core range set share cores; the first pair is shown
	largestPageNum      = 1<<16 - 1        // page counters of the device have 16 bits
)

// A Finding is something odd about a program that does not stop it from being
// counted exactly.
type Finding struct {
	Code  Code
	CB    int        // position in creation order
	Other int        // the other CB of Overlap and IndexReuse, created before; else -1
	Cores l1.CoreSet // where: the cores in question, or all cores of the CB
	Range l1.Range   // the bytes shared (Overlap); the CB (BeyondL1, Unaligned, OutOfOrder)
	Value uint64     // buffer index, page size, number of pages or alignment, by Code
	Limit uint64     // what Value or Range exceeds; for PageSize the size of the CB
}

// String describes the finding in one line.
func (f Finding) String() string {
	at := fmt.Sprintf("CB %d", f.CB)
	switch f.Code {
	case Overlap:
		return fmt.Sprintf("%s overlaps CB %d at %v on %v", at, f.Other, f.Range, f.Cores)
	case IndexReuse:
		return fmt.Sprintf("%s uses buffer index %d, which CB %d has on %v", at, f.Value, f.Other, f.Cores)
	case IndexLimit:
		return fmt.Sprintf("%s uses buffer index %d; the device has %d", at, f.Value, f.Limit)
	case PageSize:
		return fmt.Sprintf("%s: %d bytes are not a multiple of the page size %d", at, f.Limit, f.Value)
	case PageCount:
		return fmt.Sprintf("%s has %d pages; the device counts to %d", at, f.Value, f.Limit)
	case OutsideGrid:
		return fmt.Sprintf("%s: cores outside the grid: %v", at, f.Cores)
	case BeyondL1:
		return fmt.Sprintf("%s grows to %d, beyond the L1 of %d bytes", at, f.Range.End, f.Limit)
	case Unaligned:
		return fmt.Sprintf("%s starts at %d, not a multiple of %d", at, f.Range.Start, f.Value)
	case OutOfOrder:
		return fmt.Sprintf("%s at %v lies below a CB created before it", at, f.Range)
	case RangesOverlap:
		return fmt.Sprintf("%s: rectangles of its core range set share %v", at, f.Cores)
	}
	return fmt.Sprintf("%s: %s", at, f.Code)
}

// find finds the findings.
func (p *Program) find() {
	shapes := make([]shape, len(p.sets))
	for k, set := range p.sets {
		shapes[k] = p.newShape(set)
	}
	for i := range p.cbs {
		p.findAlone(i, &shapes[p.cbs[i].set])
	}
	if p.reusesIndex() || !p.apart() {
		p.findPairs(l1.Tiles(p.on))
	}
	slices.SortStableFunc(p.findings, func(a, b Finding) int { return cmp.Compare(a.CB, b.CB) })
}

// findPairs adds the findings about two CBs. It reorders tiles, the tiles of the shapes.
func (p *Program) findPairs(tiles []l1.Tile) {
	pairs := pairs{index: map[[3]int]int{}}
	on := make([][]int, len(p.sets))
	for i := range p.cbs {
		k := p.cbs[i].set
		on[k] = append(on[k], i)
	}
	slices.SortFunc(tiles, func(a, b l1.Tile) int { return a.Cores.CompareFirst(b.Cores) })
	for _, t := range tiles {
		var cbs []int
		for _, k := range t.In {
			cbs = append(cbs, on[k]...)
		}
		slices.Sort(cbs)
		p.findIndexReuse(t.Cores, cbs, &pairs)
		local := slices.DeleteFunc(cbs, func(i int) bool { return p.cbs[i].global || p.cbs[i].at().IsEmpty() })
		p.findOverlaps(t.Cores, local, &pairs)
	}
	for k, f := range pairs.found {
		f.Cores = unite(pairs.cores[k])
		p.findings = append(p.findings, f)
	}
}

// reusesIndex reports whether two CBs may share a buffer index: one is named twice, or is too large
// for the quick test.
func (p *Program) reusesIndex() bool {
	seen := uint64(0)
	for i := range p.cbs {
		for _, index := range p.indicesOf(i) {
			if index.Number > 63 || seen>>index.Number&1 != 0 {
				return true
			}
			seen |= 1 << index.Number
		}
	}
	return false
}

// apart reports whether no two CBs share a byte of a core: the occupied bytes are the sum of their
// sizes. Kinds are counted separately, so apart is false for a program with two kinds.
func (p *Program) apart() bool {
	for kind := range numKinds {
		if f := p.Occupied(kind); f.bytes != f.sizes {
			return false
		}
	}
	return p.oneKind()
}

// oneKind reports whether all CBs are of one kind.
func (p *Program) oneKind() bool {
	kinds := 0
	for _, of := range p.kinds {
		if of != nil {
			kinds++
		}
	}
	return kinds < 2
}

// pairs are the findings about two CBs, each once with all the cells where it holds.
type pairs struct {
	index map[[3]int]int // CB, other CB, buffer index or -1 -> position in found
	found []Finding
	cores [][]l1.CoreSet // of each finding
}

func (p *pairs) add(f Finding, index int, cores l1.CoreSet) {
	key := [3]int{f.CB, f.Other, index}
	k, ok := p.index[key]
	if !ok {
		k = len(p.found)
		p.index[key] = k
		p.found, p.cores = append(p.found, f), append(p.cores, nil)
	}
	p.cores[k] = append(p.cores[k], cores)
}

// findAlone adds the findings about CB i alone.
func (p *Program) findAlone(i int, s *shape) {
	cb := &p.cbs[i]
	add := func(f Finding) {
		f.CB, f.Other = i, -1
		if f.Cores.IsEmpty() {
			f.Cores = s.cores
		}
		p.findings = append(p.findings, f)
	}
	if cb.late {
		add(Finding{Code: OutOfOrder, Range: cb.at()})
	}
	if !s.doubled.IsEmpty() {
		add(Finding{Code: RangesOverlap, Cores: s.doubled})
	}
	if !s.outside.IsEmpty() {
		add(Finding{Code: OutsideGrid, Cores: s.outside})
	}
	if at := cb.at(); cb.known && !cb.global {
		if p.spec.L1Size > 0 && !at.IsEmpty() && at.End > p.spec.L1Size {
			add(Finding{Code: BeyondL1, Range: at, Limit: p.spec.L1Size})
		}
		if align := max(p.spec.CBAlign, 1); cb.fixed && cb.addr%align != 0 {
			add(Finding{Code: Unaligned, Range: at, Value: align})
		}
	}
	for _, index := range p.indicesOf(i) {
		if p.spec.CBIndices > 0 && index.Number >= p.spec.CBIndices {
			add(Finding{Code: IndexLimit, Value: uint64(index.Number), Limit: uint64(p.spec.CBIndices)})
		}
		if index.PageSize == 0 {
			continue
		}
		if cb.size%index.PageSize != 0 {
			add(Finding{Code: PageSize, Value: index.PageSize, Limit: cb.size})
		}
		if n := cb.size / index.PageSize; n > largestPageNum {
			add(Finding{Code: PageCount, Value: n, Limit: largestPageNum})
		}
	}
}

// findIndexReuse names, for each buffer index that several CBs use on the cores, the
// first CB that does.
func (p *Program) findIndexReuse(cores l1.CoreSet, cbs []int, pairs *pairs) {
	var user map[int]int // buffer index -> CB
	for _, i := range cbs {
		for _, index := range p.indicesOf(i) {
			if other, ok := user[index.Number]; !ok {
				if user == nil {
					user = map[int]int{}
				}
				user[index.Number] = i
			} else if other != i {
				pairs.add(Finding{Code: IndexReuse, CB: i, Other: other, Value: uint64(index.Number)}, index.Number, cores)
			}
		}
	}
}

// findOverlaps reports each local CB of the cores that shares bytes with one that starts lower. It
// names the lower one that reaches farthest. It sorts local.
//
// Aliases of one group have the same range, so skipping such a pair hides nothing: a range that
// overlaps one of them overlaps the first of them.
func (p *Program) findOverlaps(cores l1.CoreSet, local []int, pairs *pairs) {
	slices.SortStableFunc(local, func(a, b int) int { return p.cbs[a].at().Compare(p.cbs[b].at()) })
	for k, farthest := 1, 0; k < len(local); k++ {
		before, i := local[farthest], local[k]
		a, b := &p.cbs[before], &p.cbs[i]
		if shared := a.at().Intersect(b.at()); !shared.IsEmpty() && (a.alias == 0 || a.alias != b.alias) {
			pairs.add(Finding{Code: Overlap, CB: max(i, before), Other: min(i, before), Range: shared}, -1, cores)
		}
		if b.at().End > a.at().End {
			farthest = k
		}
	}
}

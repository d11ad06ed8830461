package program_test

import (
	"fmt"
	"slices"
	"testing"

	reference "github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model below is tt-metal's placement read aloud: a table of entries keyed by
// the text of a rectangle, a loop over all of them for every question, and a set of
// byte addresses for every core. It shares nothing with package program, and of l1
// only what its input is made of.

type byteSet map[uint64]bool

func (s byteSet) add(start, size uint64) {
	for b := start; b < start+size; b++ {
		s[b] = true
	}
}

// modelEntry is the bookkeeping of one rectangle.
type modelEntry struct {
	rect   l1.CoreRange
	marked bool
	end    uint64 // end of the last region
	bytes  byteSet
}

type model struct {
	spec    l1.Spec
	bases   []program.Base
	cut     func(program.CB) []l1.CoreRange // the rectangles that entries are keyed by
	names   []string                        // of the entries, in order of creation
	entries map[string]*modelEntry

	address    map[int]uint64 // CB -> address, if it has one
	outOfOrder map[int]bool
	occupied   map[program.Kind]map[l1.Core]byteSet
	logical    map[program.Kind]map[l1.Core]uint64
}

func rectCores(r l1.CoreRange) (out []l1.Core) {
	for x := int(r.Start.X); x <= int(r.End.X); x++ {
		for y := int(r.Start.Y); y <= int(r.End.Y); y++ {
			out = append(out, l1.Core{X: uint8(x), Y: uint8(y)})
		}
	}
	return out
}

func coresNamed(cb program.CB) map[l1.Core]bool {
	out := map[l1.Core]bool{}
	for r := range cb.Cores.All() {
		for _, c := range rectCores(r) {
			out[c] = true
		}
	}
	return out
}

// mergedRanges re-cuts a set of two or more rectangles: each row into runs, a run
// onto the rectangle directly above it if both have the same columns, then sorted.
func mergedRanges(cb program.CB) []l1.CoreRange {
	if cb.Cores.Len() < 2 {
		return slices.Collect(cb.Cores.All())
	}
	on := coresNamed(cb)
	has := func(x, y int) bool {
		return x >= 0 && x < 256 && on[l1.Core{X: uint8(x), Y: uint8(y)}]
	}
	var built []l1.CoreRange
	for y := range 20 {
		for x := range 20 {
			if !has(x, y) || has(x-1, y) {
				continue
			}
			end := x
			for has(end+1, y) {
				end++
			}
			fused := false
			for i, r := range built {
				if int(r.End.Y) == y-1 && int(r.Start.X) == x && int(r.End.X) == end {
					built[i].End.Y = uint8(y)
					fused = true
				}
			}
			if !fused {
				built = append(built, rect(x, y, end, y))
			}
		}
	}
	slices.SortFunc(built, func(a, b l1.CoreRange) int {
		order := func(r l1.CoreRange) int {
			return ((int(r.Start.X)*256+int(r.Start.Y))*256+int(r.End.X))*256 + int(r.End.Y)
		}
		return order(a) - order(b)
	})
	return built
}

func intersects(a, b l1.CoreRange) bool {
	for _, c := range rectCores(a) {
		if slices.Contains(rectCores(b), c) {
			return true
		}
	}
	return false
}

// writtenRanges leaves a set as it is.
func writtenRanges(cb program.CB) []l1.CoreRange { return slices.Collect(cb.Cores.All()) }

// modelOf places the CBs of one bookkeeping: circular buffers, or dataflow buffers
// and then scratchpads. cut is mergedRanges or writtenRanges.
func modelOf(
	spec l1.Spec, bases []program.Base, cut func(program.CB) []l1.CoreRange, cbs []program.CB, kinds ...program.Kind,
) *model {
	m := &model{
		spec: spec, bases: bases, cut: cut, entries: map[string]*modelEntry{}, address: map[int]uint64{}, outOfOrder: map[int]bool{},
		occupied: map[program.Kind]map[l1.Core]byteSet{}, logical: map[program.Kind]map[l1.Core]uint64{},
	}
	// One entry for each range not seen before, of local and of global CBs.
	for _, cb := range cbs {
		if !slices.Contains(kinds, cb.Kind) {
			continue
		}
		for _, r := range cut(cb) {
			if m.entries[r.String()] == nil {
				m.entries[r.String()] = &modelEntry{rect: r, bytes: byteSet{}}
				m.names = append(m.names, r.String())
			}
		}
	}
	for _, kind := range kinds {
		m.occupied[kind], m.logical[kind] = map[l1.Core]byteSet{}, map[l1.Core]uint64{}
		for i, cb := range cbs {
			if cb.Kind == kind {
				m.place(i, cbs)
			}
		}
	}
	return m
}

func (m *model) place(i int, cbs []program.CB) {
	cb := cbs[i]
	if cb.Global {
		if cb.Fixed {
			m.address[i] = cb.Address
		}
		return
	}
	// An alias group is one buffer on the ranges of all its members, placed with the
	// first of them.
	ranges, addr := m.cut(cb), m.low(cb)
	for k, other := range cbs {
		if cb.Alias == 0 || other.Alias != cb.Alias {
			continue
		}
		if at, placed := m.address[k]; placed {
			m.address[i] = at
			m.occupy(i, cbs)
			return
		}
		ranges, addr = append(ranges, m.cut(other)...), max(addr, m.low(other))
	}
	exact := func(e *modelEntry) bool { return slices.Contains(ranges, e.rect) }
	touched := func(e *modelEntry) bool {
		return slices.ContainsFunc(ranges, func(r l1.CoreRange) bool { return intersects(r, e.rect) })
	}

	for _, name := range m.names {
		e := m.entries[name]
		if exact(e) || cb.Kind == program.Scratchpad && touched(e) {
			addr = max(addr, e.end)
		}
	}
	for m.spec.CBAlign > 1 && addr%m.spec.CBAlign != 0 {
		addr++
	}
	if cb.Fixed {
		addr = cb.Address
	}
	m.address[i] = addr
	m.occupy(i, cbs)

	for _, name := range m.names {
		e := m.entries[name]
		if !touched(e) {
			continue
		}
		if !exact(e) && e.marked && addr < e.end {
			continue // already marked higher
		}
		if e.marked && addr < e.end { // the rule has no answer: unite
			m.outOfOrder[i] = true
		}
		e.marked = true
		e.end = max(e.end, addr+cb.Size)
		e.bytes.add(addr, cb.Size)
	}
}

// low is the highest of all bases of all cores of a CB.
func (m *model) low(cb program.CB) uint64 {
	out := m.spec.CBBase
	for c := range coresNamed(cb) {
		for _, base := range m.bases {
			if coresNamed(program.CB{Cores: base.Cores})[c] {
				out = max(out, base.Address)
			}
		}
	}
	return out
}

func (m *model) occupy(i int, cbs []program.CB) {
	cb := cbs[i]
	for c := range coresNamed(cb) {
		if m.occupied[cb.Kind][c] == nil {
			m.occupied[cb.Kind][c] = byteSet{}
		}
		m.occupied[cb.Kind][c].add(m.address[i], cb.Size)
		m.logical[cb.Kind][c] += cb.Size
	}
}

func (m *model) reserved(c l1.Core) byteSet {
	out := byteSet{}
	for _, name := range m.names {
		if e := m.entries[name]; slices.Contains(rectCores(e.rect), c) {
			for b := range e.bytes {
				out[b] = true
			}
		}
	}
	return out
}

// validated returns the entries with a region, in creation order.
func (m *model) validated() (out []program.Entry) {
	for _, name := range m.names {
		if e := m.entries[name]; len(e.bytes) > 0 {
			out = append(out, program.Entry{Cores: e.rect, End: e.end})
		}
	}
	return out
}

// Generators, unfair on purpose: few rectangles that are equal, overlap, touch or
// lie apart; few sizes; addresses that meet.

func genCores() *rapid.Generator[l1.CoreRangeSet] {
	return rapid.Custom(func(t *rapid.T) l1.CoreRangeSet {
		rects := rapid.SliceOfN(rapid.SampledFrom([]l1.CoreRange{
			rect(0, 0, 0, 0), rect(1, 0, 1, 0), rect(0, 1, 0, 1), rect(3, 3, 3, 3),
			rect(0, 0, 1, 0), rect(1, 0, 2, 0), rect(0, 0, 3, 0), rect(0, 1, 3, 1),
			rect(0, 0, 0, 3), rect(0, 0, 1, 1), rect(1, 1, 2, 2), rect(0, 0, 3, 3),
			rect(3, 0, 3, 3),
		}), 0, 3).Draw(t, "rects")
		if len(rects) == 0 && rapid.IntRange(0, 3).Draw(t, "no cores") > 0 {
			rects = append(rects, rect(0, 0, 0, 0))
		}
		return setOf(t, rects...)
	})
}

func genSpec() *rapid.Generator[l1.Spec] {
	return rapid.Custom(func(t *rapid.T) l1.Spec {
		if rapid.Bool().Draw(t, "toy") {
			return l1.Spec{
				Name: "toy", Cols: 4, Rows: 4, L1Size: 4096,
				CBBase:  rapid.SampledFrom([]uint64{0, 64, 100}).Draw(t, "base"),
				CBAlign: rapid.SampledFrom([]uint64{0, 1, 16, 64}).Draw(t, "align"),
			}
		}
		return rapid.SampledFrom(append(l1.Boards(), l1.Spec{})).Draw(t, "board")
	})
}

func genCB(spec l1.Spec, kinds []program.Kind, fixed bool) *rapid.Generator[program.CB] {
	aliasSize := []uint64{0, 48, 0, 7} // alias group -> the size of its members; group 0 is none
	return rapid.Custom(func(t *rapid.T) program.CB {
		c := program.CB{
			Kind:   rapid.SampledFrom(kinds).Draw(t, "kind"),
			Cores:  genCores().Draw(t, "cores"),
			Size:   rapid.SampledFrom([]uint64{0, 1, 16, 31, 32, 64, 65, 96, 200}).Draw(t, "size"),
			Global: rapid.IntRange(0, 5).Draw(t, "global") == 0,
		}
		if c.Kind == program.DataflowBuffer && !c.Global {
			if c.Alias = rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "alias"); c.Alias != 0 {
				c.Size = aliasSize[c.Alias]
				return c
			}
		}
		if fixed && rapid.Bool().Draw(t, "fixed") {
			c.Fixed = true
			c.Address = rapid.SampledFrom([]uint64{0, 16, 63, 64, 65, 96, 128, 160, 192, 264}).Draw(t, "address")
			if spec.CBBase > 1000 {
				c.Address += spec.CBBase - 64
			}
		}
		return c
	})
}

// genBases draws bases that a program may have.
func genBases(spec l1.Spec) *rapid.Generator[[]program.Base] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) program.Base {
		return program.Base{
			Cores:   genCores().Draw(t, "cores of the base"),
			Address: spec.CBBase + rapid.SampledFrom([]uint64{0, 1, 32, 64, 65, 160}).Draw(t, "base"),
		}
	}), 0, 3)
}

// What a program says must be what the model says, for every core.
func placementAgrees(t *rapid.T) {
	spec := genSpec().Draw(t, "spec")
	kinds := rapid.SampledFrom([][]program.Kind{
		{program.CircularBuffer},
		{program.DataflowBuffer, program.Scratchpad},
		{program.CircularBuffer, program.Scratchpad},
	}).Draw(t, "kinds")
	given := rapid.Bool().Draw(t, "some addresses given")
	cbs := rapid.SliceOfN(genCB(spec, kinds, given), 0, 8).Draw(t, "cbs")

	b, cut := builder(cbs...), mergedRanges
	if rapid.Bool().Draw(t, "as written") {
		b, cut = b.AsWritten(), writtenRanges
	}
	bases := genBases(spec).Draw(t, "bases")
	for _, base := range bases {
		b.Base(base.Cores, base.Address)
	}

	circular := modelOf(spec, bases, cut, cbs, program.CircularBuffer)
	dataflow := modelOf(spec, bases, cut, cbs, program.DataflowBuffer, program.Scratchpad)
	of := func(kind program.Kind) *model {
		if kind == program.CircularBuffer {
			return circular
		}
		return dataflow
	}
	p, err := b.Build(spec)
	require.NoError(t, err)

	shared := reference.PlaceLike(p)
	for i, placed := range p.CBs() {
		require.Equal(t, placed.Address, shared[i], "CB %d", i)
		addr, known := of(placed.Kind).address[i]
		require.Equal(t, known, placed.Known, "CB %d", i)
		if known {
			require.Equal(t, l1.Range{Start: addr, End: addr + placed.Size}, placed.Range, "CB %d", i)
			require.Equal(t, addr, placed.Address, "CB %d", i)
		}
	}

	for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer, program.Scratchpad} {
		occupied, reserved := p.Occupied(kind), p.Reserved(kind)
		require.NoError(t, checkGroups(occupied), "occupied %v", kind)
		require.NoError(t, checkGroups(reserved), "reserved %v", kind)
		if !slices.ContainsFunc(cbs, func(c program.CB) bool { return c.Kind == kind }) {
			require.Zero(t, occupied)
			require.Zero(t, reserved)
			continue
		}
		var bytes, charged, logical uint64
		for x := range 5 {
			for y := range 5 {
				c := l1.Core{X: uint8(x), Y: uint8(y)}
				want := of(kind).occupied[kind][c]
				require.Equal(t, len(want), countBytes(t, occupied, c, want), "%v occupied on %v", kind, c)
				g, _ := occupied.On(c)
				require.Equal(t, of(kind).logical[kind][c], g.Logical(), "%v logical on %v", kind, c)
				wantReserved := of(kind).reserved(c)
				require.Equal(t, len(wantReserved), countBytes(t, reserved, c, wantReserved), "%v reserved on %v", kind, c)
				for b := range want {
					require.True(t, wantReserved[b], "occupied byte %d of %v is not reserved", b, c)
				}
				bytes += uint64(len(want))
				charged += uint64(len(wantReserved))
				logical += of(kind).logical[kind][c]
			}
		}
		require.Equal(t, of(kind).validated(), slices.Collect(p.Entries(kind)), "entries of %ss", kind)
		require.Equal(t, bytes, occupied.Bytes())
		require.Equal(t, logical, occupied.Logical())
		require.Equal(t, charged, reserved.Bytes())
		require.LessOrEqual(t, occupied.Bytes(), occupied.Logical())
	}

	checkOverlapFindings(t, p)
	outOfOrder := map[int]bool{}
	for f := range p.Findings() {
		if f.Code == program.OutOfOrder {
			outOfOrder[f.CB] = true
		}
	}
	for i, c := range cbs {
		require.Equal(t, of(c.Kind).outOfOrder[i], outOfOrder[i], "out of order: CB %d", i)
	}
	checkInvariants(t, p)
}

// countBytes counts the bytes that f has on c. All of them must be wanted.
func countBytes(t require.TestingT, f program.Footprint, c l1.Core, want byteSet) int {
	n := 0
	g, _ := f.On(c)
	for r := range g.Ranges() {
		for b := r.Start; b < r.End; b++ {
			require.True(t, want[b], "byte %d of %v", b, c)
			n++
		}
	}
	return n
}

// checkGroups says which promise about the groups of a footprint is broken.
func checkGroups(f program.Footprint) error {
	seen := map[l1.Core]bool{}
	contents := map[string]bool{}
	var bytes, logical uint64
	last := -1
	n := 0
	for g := range f.Groups() {
		if !slices.Equal(slices.Collect(g.Ranges()), slices.Collect(f.Group(n).Ranges())) || !g.Cores().Equal(f.Group(n).Cores()) {
			return fmt.Errorf("Group(%d) and Groups differ", n)
		}
		n++
		cores := slices.Collect(g.Cores().All())
		if len(cores) == 0 || g.NumRanges() == 0 {
			return fmt.Errorf("empty group")
		}
		if first := int(cores[0].X)*256 + int(cores[0].Y); first <= last {
			return fmt.Errorf("groups are not ordered by first core")
		} else {
			last = first
		}
		for _, c := range cores {
			if seen[c] {
				return fmt.Errorf("core %v is in two groups", c)
			}
			seen[c] = true
		}
		end, sum := uint64(0), uint64(0)
		for i := range g.NumRanges() {
			r := g.Range(i)
			if r.Start >= r.End {
				return fmt.Errorf("empty range %v", r)
			}
			if i > 0 && r.Start <= end {
				return fmt.Errorf("range %v is not apart from the one below", r)
			}
			end, sum = r.End, sum+r.End-r.Start
		}
		if sum != g.Bytes() {
			return fmt.Errorf("group has %d bytes and says %d", sum, g.Bytes())
		}
		content := fmt.Sprint(slices.Collect(g.Ranges()), g.Logical())
		if contents[content] {
			return fmt.Errorf("two groups hold %s", content)
		}
		contents[content] = true
		bytes, logical = bytes+sum*uint64(len(cores)), logical+g.Logical()*uint64(len(cores))
	}
	if n != f.NumGroups() || f.Cores().Len() != len(seen) || bytes != f.Bytes() || logical != f.Logical() {
		return fmt.Errorf("sums: %d groups, %d cores, %d bytes, %d logical", n, len(seen), bytes, logical)
	}
	return nil
}

// checkOverlapFindings: Overlap on a core exactly when two local CBs there share a
// byte without being aliases; each CB that overlaps one starting before it is named;
// what a finding says about its two CBs is true.
func checkOverlapFindings(t require.TestingT, p *program.Program) {
	var cbs []program.Placed
	for _, cb := range p.CBs() {
		cbs = append(cbs, cb)
	}
	share := func(a, b program.Placed) bool {
		return !a.Global && !b.Global && (a.Alias == 0 || a.Alias != b.Alias) &&
			a.Range.Start < b.Range.End && b.Range.Start < a.Range.End && a.Size > 0 && b.Size > 0
	}
	want, got := map[l1.Core]bool{}, map[l1.Core]bool{}
	for i, a := range cbs {
		for _, b := range cbs[:i] {
			for c := range coresNamed(a.CB) {
				if share(a, b) && coresNamed(b.CB)[c] {
					want[c] = true
				}
			}
		}
	}
	pairs := map[[2]int]bool{}
	for f := range p.Findings() {
		if f.Code != program.Overlap {
			continue
		}
		require.Less(t, f.Other, f.CB)
		require.False(t, pairs[[2]int{f.CB, f.Other}], "each pair once")
		pairs[[2]int{f.CB, f.Other}] = true
		a, b := cbs[f.CB], cbs[f.Other]
		require.True(t, share(a, b))
		require.Equal(t, l1.Range{Start: max(a.Range.Start, b.Range.Start), End: min(a.Range.End, b.Range.End)}, f.Range)
		require.False(t, f.Cores.IsEmpty())
		for c := range f.Cores.All() {
			require.True(t, coresNamed(a.CB)[c] && coresNamed(b.CB)[c])
			got[c] = true
		}
	}
	require.Equal(t, want, got, "cores with an overlap")
}

// checkInvariants: what holds for every program, whatever the model says.
func checkInvariants(t require.TestingT, p *program.Program) {
	b := program.NewBuilder(p.ID() + 1).Like(p)
	cores := map[l1.Core]bool{}
	for _, cb := range p.CBs() {
		b.CB(cb.CB)
		for c := range coresNamed(cb.CB) {
			cores[c] = true
		}
	}
	require.Equal(t, len(cores), p.Cores().Len())
	for c := range cores {
		require.True(t, p.Cores().Has(c))
	}

	again, err := b.Build(p.Spec())
	require.NoError(t, err)
	require.True(t, p.Equal(again), "built again from its own CBs")
	require.Equal(t, slices.Collect(p.Findings()), slices.Collect(again.Findings()))
}

func TestPlacementModel(t *testing.T) { rapid.Check(t, placementAgrees) }

func FuzzPlacementModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(placementAgrees)) }

// Put a block of cores where one core was: nothing changes but the number of cores.
// A grid of 240x80 cores takes other paths through the bookkeeping than one of 4x4.
func placementScales(t *rapid.T) {
	const wide, high = 60, 20
	spec := l1.Spec{CBBase: 64, CBAlign: rapid.SampledFrom([]uint64{1, 16}).Draw(t, "align")}
	kinds := []program.Kind{rapid.SampledFrom([]program.Kind{program.CircularBuffer, program.Scratchpad}).Draw(t, "kind")}
	cbs := rapid.SliceOfN(genCB(spec, kinds, true), 0, 12).Draw(t, "cbs")
	var scaled []program.CB
	for _, c := range cbs {
		var rects []l1.CoreRange
		for r := range c.Cores.All() {
			rects = append(rects, rect(int(r.Start.X)*wide, int(r.Start.Y)*high, int(r.End.X)*wide+wide-1, int(r.End.Y)*high+high-1))
		}
		c.Cores = setOf(t, rects...)
		scaled = append(scaled, c)
	}
	small, large := build(t, spec, cbs...), build(t, spec, scaled...)

	require.Equal(t, addresses(small), addresses(large))
	require.Equal(t, small.Cores().Len()*wide*high, large.Cores().Len())
	for _, f := range [][2]program.Footprint{
		{small.Occupied(kinds[0]), large.Occupied(kinds[0])}, {small.Reserved(kinds[0]), large.Reserved(kinds[0])},
	} {
		require.Equal(t, f[0].NumGroups(), f[1].NumGroups())
		for i := range f[0].NumGroups() {
			a, b := f[0].Group(i), f[1].Group(i)
			require.Equal(t, slices.Collect(a.Ranges()), slices.Collect(b.Ranges()))
			require.Equal(t, a.Logical(), b.Logical())
			require.Equal(t, a.Cores().Len()*wide*high, b.Cores().Len())
			for c := range a.Cores().All() {
				for _, corner := range rectCores(rect(0, 0, 1, 1)) {
					x, y := int(c.X)*wide+int(corner.X)*(wide-1), int(c.Y)*high+int(corner.Y)*(high-1)
					require.True(t, b.Cores().Has(l1.Core{X: uint8(x), Y: uint8(y)}))
				}
			}
		}
	}
	found := [2][]program.Finding{slices.Collect(small.Findings()), slices.Collect(large.Findings())}
	require.Equal(t, len(found[0]), len(found[1]))
	for i := range found[0] {
		a, b := found[0][i], found[1][i]
		require.Equal(t, a.Cores.Len()*wide*high, b.Cores.Len())
		a.Cores, b.Cores = l1.CoreSet{}, l1.CoreSet{}
		require.Equal(t, a, b)
	}
}

func TestPlacementScales(t *testing.T) { rapid.Check(t, placementScales) }

func FuzzPlacementScales(f *testing.F) { f.Fuzz(rapid.MakeFuzz(placementScales)) }

// The model itself, on the worked example that shows the most of it.
func TestModelOnExampleC(t *testing.T) {
	cbs := slices.Concat(times(3, cb("{[0-0 - 0-0]}", 2048)), times(5, cb("{[0-2 - 0-2]}", 2048)), []program.CB{cb("{[0-0 - 0-2]}", 2048)})
	m := modelOf(l1.N150(), nil, mergedRanges, cbs, program.CircularBuffer)
	require.EqualValues(t, 113_952, m.address[8])
	for y, occupied := range []int{8192, 2048, 12_288} {
		require.Len(t, m.occupied[program.CircularBuffer][l1.Core{Y: uint8(y)}], occupied)
		require.Len(t, m.reserved(l1.Core{Y: uint8(y)}), 12_288)
	}
}

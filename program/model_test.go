package program_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A byteSet is a set of addresses.
type byteSet map[uint64]bool

func (s byteSet) add(start, size uint64) {
	for b := start; b < start+size; b++ {
		s[b] = true
	}
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

	b := builder(cbs...)
	if rapid.Bool().Draw(t, "as written") {
		b = b.AsWritten()
	}
	for _, base := range genBases(spec).Draw(t, "bases") {
		b.Base(base.Cores, base.Address)
	}
	p, err := b.Build(spec)
	require.NoError(t, err)

	for i, addr := range model.PlaceLike(p) {
		placed := p.CB(i)
		known := !placed.Global || placed.Fixed
		require.Equal(t, known, placed.Known, "CB %d", i)
		if known {
			require.Equal(t, l1.Range{Start: addr, End: addr + placed.Size}, placed.Range, "CB %d", i)
			require.Equal(t, addr, placed.Address, "CB %d", i)
		}
	}

	picture := model.Paint(p)
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
				on, _ := occupied.On(c)
				require.Equal(t, picture.Occupied(kind, c), slices.Collect(on.Ranges()), "%v occupied on %v", kind, c)
				require.Equal(t, picture.Logical(kind, c), on.Logical(), "%v logical on %v", kind, c)
				within, _ := reserved.On(c)
				require.Equal(t, picture.Reserved(kind, c), slices.Collect(within.Ranges()), "%v reserved on %v", kind, c)
				for r := range on.Ranges() {
					holds := func(o l1.Range) bool { return o.Start <= r.Start && r.End <= o.End }
					require.True(t, slices.ContainsFunc(picture.Reserved(kind, c), holds), "%v of %v is not reserved", r, c)
				}
				bytes += lenOf(picture.Occupied(kind, c))
				charged += lenOf(picture.Reserved(kind, c))
				logical += picture.Logical(kind, c)
			}
		}
		require.Equal(t, picture.Entries(kind), slices.Collect(p.Entries(kind)), "entries of %ss", kind)
		require.Equal(t, bytes, occupied.Bytes())
		require.Equal(t, logical, occupied.Logical())
		require.Equal(t, charged, reserved.Bytes())
		require.LessOrEqual(t, occupied.Bytes(), occupied.Logical())
	}

	checkOverlapFindings(t, p)
	var outOfOrder []int
	for f := range p.Findings() {
		if f.Code == program.OutOfOrder {
			outOfOrder = append(outOfOrder, f.CB)
		}
	}
	require.ElementsMatch(t, picture.OutOfOrder(), outOfOrder, "out of order")
	checkInvariants(t, p)
}

func lenOf(ranges []l1.Range) (sum uint64) {
	for _, r := range ranges {
		sum += r.Len()
	}
	return sum
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
	var cbs []program.PlacedCB
	for _, cb := range p.CBs() {
		cbs = append(cbs, cb)
	}
	share := func(a, b program.PlacedCB) bool {
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

// A program that grows from form to form is the program of all its CBs.
func longerFormsAgree(t *rapid.T) {
	spec := genSpec().Draw(t, "spec")
	kinds, sets := []program.Kind{program.CircularBuffer}, rapid.SliceOfN(genCores(), 1, 3).Draw(t, "sets")
	odd := rapid.IntRange(0, 3).Draw(t, "odd") == 0 // most forms have nothing for which they are placed anew
	if odd {
		kinds = rapid.SampledFrom([][]program.Kind{{program.DataflowBuffer, program.Scratchpad}, {program.CircularBuffer, program.Scratchpad}}).Draw(t, "kinds")
	}
	cbs := rapid.SliceOfN(genCB(spec, kinds, rapid.Bool().Draw(t, "some addresses given")), 1, 12).Draw(t, "cbs")
	for i := range cbs {
		if cbs[i].Cores = rapid.SampledFrom(sets).Draw(t, "set"); !odd && cbs[i].Size == 0 {
			cbs[i].Size = 33
		}
	}
	written := rapid.Bool().Draw(t, "as written")
	var p *program.Program
	for from := 0; from < len(cbs); {
		to := rapid.IntRange(from+1, len(cbs)).Draw(t, "form")
		b := builder(cbs[:to]...)
		if written {
			b.AsWritten()
		}
		all, err := b.Build(spec)
		require.NoError(t, err)
		ok := false
		if from > 0 {
			p, ok = p.With(all.ID(), "", cbs[from:to]...)
		}
		if from = to; !ok {
			p = all
			continue
		}
		require.Equal(t, fmt.Sprintf("%#v", all), fmt.Sprintf("%#v", p))
		require.Equal(t, slices.Collect(all.Findings()), slices.Collect(p.Findings()))
		for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer, program.Scratchpad} {
			require.Equal(t, all.Occupied(kind), p.Occupied(kind))
			require.Equal(t, slices.Collect(all.Reserved(kind).Groups()), slices.Collect(p.Reserved(kind).Groups()))
			require.Equal(t, slices.Collect(all.Entries(kind)), slices.Collect(p.Entries(kind)))
			named := l1.CoreSet{}
			for _, cb := range p.CBs() {
				if cb.Kind == kind {
					named = named.Union(cb.On)
				}
			}
			require.True(t, named.Equal(p.Named(kind)), "%v on %v", kind, p.Named(kind))
		}
		require.True(t, p.Equal(all) && all.Equal(p))
	}
}

func TestLongerForms(t *testing.T) { rapid.Check(t, longerFormsAgree) }

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

package cbregion

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
)

// height returns the number of levels of the tree, 1 for a leaf alone, and its number
// of nodes.
func height(n *node) (levels, nodes int) {
	if n.kids == nil {
		return 1, 1
	}
	for _, k := range n.kids {
		l, m := height(&k.node)
		levels = l + 1
		nodes += m
	}
	return levels, nodes + 1
}

// A plain Counter recomputed from scratch: the boundaries sorted, one pass.
func recompute(live []l1.Range) (bytes uint64, regions []l1.Range) {
	sorted := slices.SortedFunc(slices.Values(live), l1.Range.Compare)
	for _, r := range sorted {
		if n := len(regions); n > 0 && r.Start <= regions[n-1].End {
			regions[n-1].End = max(regions[n-1].End, r.End)
		} else {
			regions = append(regions, r)
		}
	}
	for _, r := range regions {
		bytes += r.Len()
	}
	return bytes, regions
}

// A life in the thousands with the nodes of production: the tree grows to three
// levels and more, shrinks again and ends empty; all nodes are checked all the way.
func TestDeepTree(t *testing.T) {
	const ranges = 12_000
	rnd := rand.New(rand.NewPCG(3, 14))
	var (
		v    Coverage
		live []l1.Range
		top  int
	)
	check := func() {
		require.NoError(t, v.CheckInvariants())
		bytes, regions := recompute(live)
		require.Equal(t, bytes, v.Bytes())
		require.Equal(t, regions, slices.Collect(v.Regions()))
		if len(regions) > 0 {
			require.Equal(t, l1.Range{Start: regions[0].Start, End: regions[len(regions)-1].End}, v.Span())
		}
		levels, _ := height(&v.root)
		top = max(top, levels)
	}
	for len(live) < ranges {
		if len(live) > 0 && rnd.IntN(4) == 0 {
			i := rnd.IntN(len(live))
			v.Remove(live[i])
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		} else {
			// Many short ranges with gaps, some long ones, ends that meet now and then.
			r := l1.Range{Start: rnd.Uint64N(1<<20) * 4}
			r.End = r.Start + 4 + rnd.Uint64N(40)
			if rnd.IntN(8) == 0 {
				r.End += rnd.Uint64N(1 << 12)
			}
			v.Add(r)
			live = append(live, r)
		}
		if len(live)%500 == 0 {
			check()
		}
	}
	require.GreaterOrEqual(t, top, 3)
	_, most := height(&v.root)

	// BytesIn against the regions.
	_, regions := recompute(live)
	for range 500 {
		a, b := rnd.Uint64N(1<<22), rnd.Uint64N(1<<22)
		r := l1.Range{Start: min(a, b), End: max(a, b)}
		want := uint64(0)
		for _, x := range regions {
			want += x.Intersect(r).Len()
		}
		require.Equal(t, want, v.BytesIn(r))

		gap := r // from the end of the last region below to the first one above
		for _, x := range regions {
			if x.Start <= gap.Start {
				gap.Start = max(gap.Start, x.End)
			} else {
				gap.End = min(gap.End, x.Start)
				break
			}
		}
		if gap.IsEmpty() {
			gap = l1.Range{}
		}
		require.Equal(t, gap, v.Gap(r))
	}

	c := v.Clone()
	for len(live) > 0 {
		i := rnd.IntN(len(live))
		v.Remove(live[i])
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
		if len(live)%500 == 0 {
			check()
		}
		if len(live) == ranges/20 {
			_, nodes := height(&v.root)
			require.Less(t, nodes, most/5, "memory goes back")
		}
	}
	require.True(t, v.IsEmpty())
	require.Nil(t, v.root.kids)
	require.NoError(t, c.CheckInvariants())
}

// The same in order, up and down, where splits and joins always meet the same edge.
func TestDeepTreeInOrder(t *testing.T) {
	const n = 8_000
	at := func(i int) l1.Range { return l1.Range{Start: uint64(i) * 16, End: uint64(i)*16 + 8} }
	for name, order := range map[string]func(i int) int{
		"up":       func(i int) int { return i },
		"down":     func(i int) int { return n - 1 - i },
		"from mid": func(i int) int { return (i + n/2) % n },
		"outside":  func(i int) int { return max(i/2, (n-1-i/2)*(i&1)) },
	} {
		t.Run(name, func(t *testing.T) {
			var v Coverage
			for i := range n {
				require.EqualValues(t, 8, v.Add(at(order(i))))
				if i%1000 == 999 {
					require.NoError(t, v.CheckInvariants())
				}
			}
			require.Equal(t, 2*n, v.Boundaries())
			for i := range n {
				require.EqualValues(t, 8, v.Remove(at(order(i))))
				if i%1000 == 999 {
					require.NoError(t, v.CheckInvariants())
				}
			}
			require.True(t, v.IsEmpty())
		})
	}
}

// One base and many ends: one boundary with a large delta.
func TestSameBaseIsOneBoundary(t *testing.T) {
	var v Coverage
	for i := range uint64(4096) {
		v.Add(l1.Range{Start: 111_616, End: 111_616 + (i%2+1)*64})
	}
	require.Equal(t, 3, v.Boundaries())
	require.EqualValues(t, 128, v.Bytes())
	require.Equal(t, boundary{111_616, 4096}, v.root.block[0])
	require.NoError(t, v.CheckInvariants())
}

// Removing bytes that are not covered panics, and nothing has changed then.
func TestCoverageRemoveOfUncoveredPanics(t *testing.T) {
	for _, l := range limits {
		for _, n := range []uint64{3, 200} {
			v := &Coverage{leafLimit: l[0], innerLimit: l[1]}
			require.Panics(t, func() { v.Remove(l1.Range{Start: 0, End: 1}) })
			for i := range n {
				v.Add(l1.Range{Start: i * 16, End: i*16 + 8})
			}
			before := v.Clone()
			for _, r := range []l1.Range{
				{Start: 0, End: 9},
				{Start: 8, End: 16},
				{Start: 16, End: 40},
				{Start: 12, End: 17},
				{Start: 0, End: 3200},
				{Start: 5000, End: 5001},
			} {
				require.Panics(t, func() { v.Remove(r) }, "%v", r)
				require.NoError(t, v.CheckInvariants())
				require.Equal(t, before.Bytes(), v.Bytes())
				require.Equal(t, before.Boundaries(), v.Boundaries())
				require.Equal(t, slices.Collect(before.Regions()), slices.Collect(v.Regions()))
			}
		}
	}
}

// Two inner nodes that are joined lose a child where they meet: the rest may be small enough for
// another neighbour.
func TestJoinedNodesAreJoinedOn(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		v := &Coverage{leafLimit: 4, innerLimit: 4}
		var live []l1.Range
		for range 150 {
			start := rnd.Uint64N(10_000)
			live = append(live, l1.Range{Start: start, End: start + 1 + rnd.Uint64N(2500)})
			v.Add(live[len(live)-1])
		}
		rnd.Shuffle(len(live), func(i, k int) { live[i], live[k] = live[k], live[i] })
		for _, r := range live {
			v.Remove(r)
			require.NoError(t, v.CheckInvariants())
		}
	}
}

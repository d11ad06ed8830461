package cbregion

import (
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/google/btree"
	"github.com/stretchr/testify/require"
)

// leftmost returns the first leaf below n.
func leftmost(n *node) *node {
	for n.kids != nil {
		n = &n.kids[0].node
	}
	return n
}

// CheckInvariants is what the other tests trust, so every way to break a tree is
// planted here, and found by name.
func TestPlantedBreaksOfCoverageAreFound(t *testing.T) {
	for _, plant := range []struct {
		name string
		fn   func(v *Coverage)
		want string
	}{
		{"bytes", func(v *Coverage) { v.bytes++ }, "bytes covered, counted as"},
		{"boundaries", func(v *Coverage) { v.boundaries++ }, "boundaries, counted as"},
		{"empty but not", func(v *Coverage) { v.boundaries = 0 }, "empty coverage with"},
		{"delta in a leaf", func(v *Coverage) { leftmost(&v.root).block[0].delta++ }, "summary is"},
		{"zero delta", func(v *Coverage) { leftmost(&v.root).block[1].delta = 0 }, "without a change"},
		{"negative count", func(v *Coverage) { leftmost(&v.root).block[0].delta = -1 }, "count -1 behind"},
		{"order", func(v *Coverage) {
			b := leftmost(&v.root).block
			b[0].addr, b[1].addr = b[1].addr, b[0].addr
		}, "follows"},
		{"summary", func(v *Coverage) { v.root.kids[1].gap++ }, "summary is"},
		{"empty leaf", func(v *Coverage) { leftmost(&v.root).block = nil }, "node of size 0"},
		{"one child", func(v *Coverage) { v.root.kids = v.root.kids[:1] }, "root with 1 child"},
		{"large leaf", func(v *Coverage) { v.leafLimit = 1 }, "limit 1"},
		{"depth", func(v *Coverage) {
			first := &v.root.kids[0]
			first.node = first.kids[0].node
			first.update()
		}, "leaves at depths"},
		{"boundaries in an inner node", func(v *Coverage) {
			v.root.kids[0].block = []boundary{{1, 1}}
		}, "inner node with boundaries"},
		{"small neighbours", func(v *Coverage) { v.leafLimit = 16 }, "neighbours of size"},
	} {
		t.Run(plant.name, func(t *testing.T) {
			v := &Coverage{leafLimit: 4, innerLimit: 4}
			for i := range uint64(100) {
				v.Add(l1.Range{Start: i * 16, End: i*16 + 8})
			}
			require.NoError(t, v.CheckInvariants())
			plant.fn(v)
			err := v.CheckInvariants()
			var broken *InvariantError
			require.ErrorAs(t, err, &broken)
			require.Contains(t, broken.Reason, plant.want)
		})
	}

	t.Run("sum", func(t *testing.T) {
		var v Coverage
		v.Add(l1.Range{Start: 0, End: 8})
		v.root.block[1].delta = 1
		require.ErrorContains(t, v.CheckInvariants(), "count 2 behind the last boundary")
	})
}

func TestPlantedBreaksOfCounterAreFound(t *testing.T) {
	small, large := l1.Range{Start: 0, End: 8}, l1.Range{Start: 4, End: 16}
	for _, plant := range []struct {
		name string
		fn   func(c *Counter)
		want string
	}{
		{"coverage", func(c *Counter) { c.cover.bytes = 5 }, "bytes covered"},
		{"length", func(c *Counter) { c.n++ }, "live ranges, counted as"},
		{"no tree", func(c *Counter) { c.live = nil }, "no live ranges"},
		{"lost range", func(c *Counter) { c.live.Delete(holding{small, 1, 0}); c.n-- }, "boundaries, should be"},
		{"other range", func(c *Counter) {
			c.live.Delete(holding{large, 1, 0})
			c.live.ReplaceOrInsert(holding{l1.Range{Start: 4, End: 17}, 1, 1})
		}, "boundary 16 has delta"},
		{"order", func(c *Counter) {
			c.live = btree.NewG(2, func(a, b holding) bool { return b.less(a) })
			c.live.ReplaceOrInsert(holding{small, 1, 1})
			c.live.ReplaceOrInsert(holding{large, 1, 1})
		}, "follows"},
		{"times", func(c *Counter) { c.live.ReplaceOrInsert(holding{small, 1, 0}) }, "0 times"},
		{"range without bytes", func(c *Counter) { c.live.ReplaceOrInsert(holding{l1.Range{Start: 1, End: 1}, 1, 1}) }, "live range [1,1)"},
		{"illegal range", func(c *Counter) { c.live.ReplaceOrInsert(holding{l1.Range{Start: 2, End: 1}, 1, 1}) }, "live range [2,1)"},
	} {
		t.Run(plant.name, func(t *testing.T) {
			var c Counter
			mustAdd(t, &c, 1, small.Start, small.End)
			mustAdd(t, &c, 1, large.Start, large.End)
			require.NoError(t, c.CheckInvariants())
			plant.fn(&c)
			require.ErrorContains(t, c.CheckInvariants(), plant.want)
		})
	}

	t.Run("deep", func(t *testing.T) {
		c := Counter{cover: Coverage{leafLimit: 4, innerLimit: 4}}
		for i := range uint64(100) {
			mustAdd(t, &c, 1, i*16, i*16+8)
		}
		c.live.Delete(holding{l1.Range{Start: 160, End: 168}, 1, 0})
		c.live.ReplaceOrInsert(holding{l1.Range{Start: 161, End: 168}, 1, 1})
		require.ErrorContains(t, c.CheckInvariants(), "boundary 160 has delta")
	})
}

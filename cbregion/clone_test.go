package cbregion

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/l1"
)

// A copied is a Coverage and its model, the added ranges.
type copied struct {
	*Coverage
	live []l1.Range
}

func (c *copied) clone() *copied { return &copied{c.Clone(), slices.Clone(c.live)} }

func (c *copied) change(rnd *rand.Rand, room uint64) {
	if len(c.live) > 0 && rnd.IntN(2) == 0 {
		i := rnd.IntN(len(c.live))
		c.Remove(c.live[i])
		c.live = slices.Delete(c.live, i, i+1)
		return
	}
	start := rnd.Uint64N(room)
	r := l1.Range{Start: start, End: start + 1 + rnd.Uint64N(room/4+1)}
	c.Add(r)
	c.live = append(c.live, r)
}

func (c *copied) check(t require.TestingT) {
	require.NoError(t, c.CheckInvariants())
	want := CoverageOf(c.live)
	require.Equal(t, want.Bytes(), c.Bytes())
	require.Equal(t, want.Boundaries(), c.Boundaries())
	require.Equal(t, slices.Collect(want.Regions()), slices.Collect(c.Regions()))
}

// Copies of copies are changed in turns: none sees what happens to another one.
func TestCopiesAreIndependent(t *testing.T) {
	for _, l := range limits {
		rapid.Check(t, func(t *rapid.T) {
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			room := rapid.SampledFrom([]uint64{8, 100, 10_000}).Draw(t, "room")
			grow := rapid.IntRange(0, 100).Draw(t, "before the first copy")
			all := []*copied{{Coverage: &Coverage{leafLimit: l[0], innerLimit: l[1]}}}
			for range grow {
				all[0].change(rnd, room)
			}
			for range 3 {
				all = append(all, all[0].clone())
			}
			for range rapid.IntRange(1, 300).Draw(t, "changes") {
				c := all[rnd.IntN(len(all))]
				switch {
				case rnd.IntN(20) > 0:
					c.change(rnd, room)
				case len(all) < 6:
					all = append(all, c.clone())
				default:
					all[rnd.IntN(len(all))] = c.clone()
				}
			}
			for _, c := range all {
				c.check(t)
			}
			// All get small in turns: shared nodes are joined in each of them.
			for len(all[0].live) > 0 {
				for _, c := range all {
					if n := len(c.live); n > 0 {
						c.Remove(c.live[n-1])
						c.live = c.live[:n-1]
					}
				}
				if len(all[0].live)%8 == 0 {
					for _, c := range all {
						c.check(t)
					}
				}
			}
		})
	}
}

// A change of a copy allocates a few nodes: those on the way from the root to the changed leaf.
func TestChangeBehindACopy(t *testing.T) {
	const n = 50_000
	v := new(Coverage)
	for i := range uint64(n) {
		v.Add(l1.Range{Start: 16 * i, End: 16*i + 8})
	}
	before := nodesOf(&v.root, map[*boundary]bool{})
	w := v.Clone()
	w.Add(l1.Range{Start: 16*n/2 + 3, End: 16*n/2 + 12})
	after := nodesOf(&w.root, map[*boundary]bool{})
	fresh := 0
	for block := range after {
		if !before[block] {
			fresh++
		}
	}
	require.LessOrEqual(t, fresh, 3)
	require.Equal(t, before, nodesOf(&v.root, map[*boundary]bool{}))
	require.NoError(t, v.CheckInvariants())
	require.NoError(t, w.CheckInvariants())
}

// nodesOf returns the blocks of all leaves.
func nodesOf(n *node, out map[*boundary]bool) map[*boundary]bool {
	if n.kids == nil {
		out[&n.block[0]] = true
	}
	for i := range n.kids {
		nodesOf(&n.kids[i].node, out)
	}
	return out
}

// Readers may copy at the same time, and change their copies.
func TestReadersCopyAtOnce(t *testing.T) {
	v, c := new(Coverage), new(Counter)
	for i := range uint64(1000) {
		r := l1.Range{Start: 16 * i, End: 16*i + 8}
		v.Add(r)
		mustAdd(t, c, Owner(i), r.Start, r.End)
	}
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for i := range uint64(50) {
				w, d := v.Clone(), c.Clone()
				w.Add(l1.Range{Start: 16 * i, End: 16*i + 16})
				if _, err := d.Add(1, l1.Range{Start: 16 * i, End: 16*i + 16}); err != nil || w.Bytes() != 8008 || d.Bytes() != 8008 || v.Bytes() != 8000 {
					t.Error("another copy is changed")
				}
			}
		})
	}
	done.Wait()
	require.NoError(t, v.CheckInvariants())
	require.NoError(t, c.CheckInvariants())
}

// Two copies take the same neighbour into a leaf that they share: each into its own.
func TestCopiesJoinTheSameLeaf(t *testing.T) {
	var all []l1.Range
	for i := range uint64(63) { // three leaves of 42 boundaries
		all = append(all, l1.Range{Start: 16 * i, End: 16*i + 8})
	}
	v := &copied{CoverageOf(all), slices.Clone(all)}
	drop := func(c *copied, ranges ...l1.Range) {
		for _, r := range ranges {
			c.Remove(r)
			i := slices.Index(c.live, r)
			c.live = slices.Delete(c.live, i, i+1)
		}
		c.check(t)
	}
	drop(v, all[42:]...)   // the last leaf
	drop(v, all[:14]...)   // leaves 14 boundaries on the left
	drop(v, all[21:33]...) // and 18 on the right
	require.Len(t, v.root.kids, 2)
	w := v.clone()
	drop(v, all[33:35]...)
	drop(w, all[40:42]...)
	require.Nil(t, v.root.kids)
	require.Nil(t, w.root.kids)
	v.check(t)
	w.check(t)
}

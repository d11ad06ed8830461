package replay_test

import (
	"cmp"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/answer"
)

// seekScarcity records how much the buffers of each device leave free on all cores at once, a flag
// a byte. Where nothing lies there is nothing scarce.
func (n *naive) seekScarcity() {
	for _, id := range n.fleet.Devices() {
		spec, err := n.fleet.Spec(id)
		require.NoError(n.t, err)
		if spec.L1Size == 0 || spec.L1Size > naiveL1 {
			continue
		}
		taken, usable, s := [naiveL1]bool{}, spec.Usable(), answer.Scarcity{}
		for _, core := range naiveCores(spec) {
			for _, held := range n.fleet.Residents(id, core, false) {
				for a := held.Range.Start; held.CB < 0 && !held.Range.IsEmpty() && a < naiveL1; a++ {
					if a >= held.Range.End && a%n.fleet.Align(id) == 0 {
						break // the allocator gives whole steps
					}
					taken[a] = true
				}
			}
		}
		run := uint64(0)
		for a := usable.Start; a < usable.End; a++ {
			if run++; taken[a] {
				run = 0
				continue
			}
			s.Free++
			s.Block = max(s.Block, run)
		}
		if s.Free == usable.Len() {
			continue
		}
		if n.scarce == nil {
			n.scarce = map[uint64]map[answer.Scarcity]uint64{}
		}
		if n.scarce[id] == nil {
			n.scarce[id] = map[answer.Scarcity]uint64{}
		}
		if _, known := n.scarce[id][s]; !known {
			n.scarce[id][s] = n.node
		}
		n.seen["scarce"]++
		if s.Block < s.Free {
			n.seen["scarce, and fragmented"]++
		}
	}
}

// allFree are all that any device ever had.
func (n *naive) allFree() (out []answer.Scarcity) {
	for _, of := range n.scarce {
		for s := range of {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b answer.Scarcity) int {
		return cmp.Or(cmp.Compare(a.Free, b.Free), cmp.Compare(a.Block, b.Block))
	})
	return out
}

// freeMoments compares when so much was free, and that what lay there then leaves as much.
func (c comparison) freeMoments() {
	for _, d := range c.got.L1 {
		want, got := c.want.scarce[d.ID.V], map[answer.Scarcity]uint64{}
		for _, m := range d.Scarce {
			got[m.Scarcity] = m.At
			c.equal(len(m.Groups) > 0, true, "something lay there")
		}
		if want == nil {
			want = map[answer.Scarcity]uint64{}
		}
		c.equal(want, got, "when so much was free")
		c.equal(len(got), len(d.Scarce), "each once")
	}
}

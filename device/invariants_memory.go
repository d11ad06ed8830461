package device

import (
	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
)

// A tally counts anew what the devices of a fleet hold beside what is registered:
// from the programs that were dispatched and the parts of buffers, core by core,
// without classes, region trees or layers. Devices share what they share here too.
type tally struct {
	residues residue.Counts
	users    map[*residue.Residue]int
	pairs    heap.Pairing
}

func newTally() *tally {
	return &tally{residues: residue.Counts{}, users: map[*residue.Residue]int{}, pairs: heap.NewPairing()}
}

// usedHeaps returns the heaps that devices have.
func (f *Fleet) usedHeaps() (out heap.UsedHeaps) {
	for _, c := range f.slots {
		if c != nil && c.buffers() != nil {
			out.Meet(c.buffers(), c.id)
		}
	}
	return out
}

// checkHeaps holds what is kept for each set of buffers against the buffers.
func (all *recounting) checkHeaps(t *audit.Audit) {
	for h := range audit.Each(t, all.heaps) {
		h.Check(t, &all.roster)
	}
}

// checkChip holds a device against what it was left with and its buffers.
func (n *tally) checkChip(t *audit.Audit, c *chip) {
	again := n.residues.Count(t, c.left)
	n.users[c.left]++
	if t.Who = "device"; t.Err != nil {
		return
	}
	sameResident(t, c.left.Total(), c.resident.Load(), c.residentPeak, again.Bytes)
	if c.memory == nil {
		audit.Same(t, "resident dataflow buffers and scratchpads, without a place for what is tracked,", 0, again.Other)
		t.Reached("tracked on the fullest core", c.corePeak, again.Core)
		return
	}
	now := c.totals()
	heap.SameTracked(t, residue.Tracked{Bytes: now.Tracked, Core: now.TrackedCore}, n.pairs.Tracked(c.left, c.heap()))
	reachedTracked(t, now.Peak, now)
	n.pairs.Check(t, c.heap())
}

// checkUsers holds the number of devices of each residue against those that have it.
func (n *tally) checkUsers(t *audit.Audit, chips []*chip) {
	for _, c := range chips {
		if c != nil && c.left != nil {
			t.About(c.id, "", nil)
			audit.Same(t, "devices with the same resident", c.left.Users, n.users[c.left])
		}
	}
}

// checkKnown verifies that nothing that others know is changed in place.
func (f *Fleet) checkKnown(t *audit.Audit) {
	t.About(0, "", nil)
	f.residues.CheckKnown(t)
	for _, c := range f.slots {
		if c != nil && c.heap() != nil {
			c.heap().CheckKept(t)
		}
	}
}

// addTo adds the figures of one device to the sums of a mesh. What is kept for the
// device was found right before.
func (n *tally) addTo(m *mesh, c *chip) {
	left := n.residues[c.left]
	m.sum.Resident += left.Bytes
	now := n.pairs.Tracked(c.left, c.heap())
	m.sum.Tracked += now.Bytes
	m.sum.TrackedCore = max(m.sum.TrackedCore, now.Core)
	m.sum.Buffers.Move(BufferTotals{}, c.heap().Sums())
	m.load += left.Bytes + left.Other + c.heap().Charged()
}

// reachedTracked holds the high-water marks of what is tracked against what there is now.
func reachedTracked(t *audit.Audit, have Peaks, now Totals) {
	t.Reached("tracked", have.Tracked, now.Tracked)
	t.Reached("tracked on the fullest core", have.TrackedCore, now.TrackedCore)
	t.Reached("L1 buffers", have.L1, now.Buffers.L1)
	t.Reached("L1_SMALL buffers", have.L1Small, now.Buffers.L1Small)
	t.Reached("DRAM buffers", have.DRAM, now.Buffers.DRAM)
}

// sameResident holds what is kept of what dispatches left against a recount.
func sameResident(t *audit.Audit, have, published, peak, want uint64) {
	audit.Same(t, "resident", have, want)
	audit.Same(t, "published resident total", published, want)
	t.Reached("resident", peak, want)
}

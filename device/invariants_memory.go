package device

// A tally counts anew what the devices of a fleet hold beside what is registered:
// from the programs that were dispatched and the parts of buffers, core by core,
// without classes, region trees or layers. Devices share what they share here too.
type tally struct {
	residues residueCounts
	users    map[*residue]int
	pairs    pairing
}

func newTally() *tally {
	return &tally{residues: residueCounts{}, users: map[*residue]int{}, pairs: newPairing()}
}

// usedHeaps returns the heaps that devices have.
func (f *Fleet) usedHeaps() (out usedHeaps) {
	for _, c := range f.slots {
		if c != nil && c.heap() != nil {
			out.meet(c.heap(), c.id)
		}
	}
	return out
}

// checkHeaps holds what is kept for each set of buffers against the buffers.
func (all *recounting) checkHeaps(t *audit) {
	for h := range each(t, all.heaps) {
		h.check(t, &all.roster)
	}
}

// checkChip holds a device against what it was left with and its buffers.
func (n *tally) checkChip(t *audit, c *chip) {
	again := n.residues.count(t, c.left)
	n.users[c.left]++
	if t.who = "device"; t.err != nil {
		return
	}
	sameResident(t, c.left.total(), c.resident.Load(), c.residentPeak, again.bytes)
	if c.memory == nil {
		same(t, "resident dataflow buffers and scratchpads, without a place for what is tracked,", 0, again.other)
		t.reached("tracked on the fullest core", c.corePeak, again.core)
		return
	}
	now := c.totals()
	sameTracked(t, tracked{bytes: now.Tracked, core: now.TrackedCore}, n.pairs.tracked(c.left, c.heap()))
	reachedTracked(t, now.Peak, now)
	n.pairs.check(t, c.heap())
}

// checkUsers holds the number of devices of each residue against those that have it.
func (n *tally) checkUsers(t *audit, chips []*chip) {
	for _, c := range chips {
		if c != nil && c.left != nil {
			t.about(c.id, "", nil)
			same(t, "devices with the same resident", c.left.users, n.users[c.left])
		}
	}
}

// checkKnown verifies that nothing that others know is changed in place.
func (f *Fleet) checkKnown(t *audit) {
	t.about(0, "", nil)
	f.residues.checkKnown(t)
	for _, c := range f.slots {
		if c != nil && c.heap() != nil {
			c.heap().checkKept(t)
		}
	}
}

// addTo adds the figures of one device to the sums of a mesh. What is kept for the
// device was found right before.
func (n *tally) addTo(m *mesh, c *chip) {
	left := n.residues[c.left]
	m.sum.Resident += left.bytes
	now := n.pairs.tracked(c.left, c.heap())
	m.sum.Tracked += now.bytes
	m.sum.TrackedCore = max(m.sum.TrackedCore, now.core)
	m.sum.Buffers.Move(BufferTotals{}, c.heap().sums())
	m.load += left.bytes + left.other + c.heap().charged()
}

// reachedTracked holds the high-water marks of what is tracked against what there is now.
func reachedTracked(t *audit, have Peaks, now Totals) {
	t.reached("tracked", have.Tracked, now.Tracked)
	t.reached("tracked on the fullest core", have.TrackedCore, now.TrackedCore)
	t.reached("L1 buffers", have.L1, now.Buffers.L1)
	t.reached("L1_SMALL buffers", have.L1Small, now.Buffers.L1Small)
	t.reached("DRAM buffers", have.DRAM, now.Buffers.DRAM)
}

// sameResident holds what is kept of what dispatches left against a recount.
func sameResident(t *audit, have, published, peak, want uint64) {
	same(t, "resident", have, want)
	same(t, "published resident total", published, want)
	t.reached("resident", peak, want)
}

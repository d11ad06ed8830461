package device

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A tally counts anew what the devices of a fleet hold beside what is registered:
// from the programs that were dispatched and the parts of buffers, core by core,
// without classes, region trees or layers. Devices share what they share here too.
type tally struct {
	residues residueCounts
	users    map[*residue]int
	tracked  map[holding]tracked
	asked    map[*heap]bool // what it remembers
}

// A holding is what a device has: what dispatches left, and buffers.
type holding struct {
	left *residue
	heap *heap
}

func newTally() *tally {
	return &tally{residueCounts{}, map[*residue]int{}, map[holding]tracked{}, map[*heap]bool{}}
}

// checkUsers returns the heaps that devices have, each of which is found.
func (f *Fleet) checkUsers(t *audit) (heaps []usedHeap) {
	known := map[*heap]int{} // place in heaps
	for _, c := range f.slots {
		if c == nil || c.heap() == nil {
			continue
		}
		at, ok := known[c.heap()]
		if !ok {
			at = len(heaps)
			known[c.heap()] = at
			heaps = append(heaps, usedHeap{c.heap(), c.id, 0})
		}
		heaps[at].devices++
	}
	for _, h := range heaps {
		t.about(h.first, "", nil)
		same(t, "devices with the buffers", h.users, h.devices)
		t.once("number of times that the buffers are found by their hash", f.heaps.has(h.hash, h.heap))
	}
	return heaps
}

// checkAllocations holds the index of heaps and allocations against the heaps that devices have.
func (f *Fleet) checkAllocations(t *audit, heaps []usedHeap) {
	devices := map[*allocation]int{}
	for _, h := range heaps {
		for _, a := range h.live.all() {
			devices[a] += h.devices
		}
	}
	same(t, "number of sets of buffers", f.heaps.len(), len(heaps))
	entries := 0
	for _, id := range slices.Sorted(maps.Keys(f.allocations)) {
		for i, a := range f.allocations[id] {
			entries++
			t.about(0, "", a)
			same(t, "place", a.at, i)
			same(t, "id", a.ID, id)
			same(t, "devices", a.users, devices[a])
			t.once("devices, at least 1,", a.users > 0)
		}
	}
	t.about(0, "", nil)
	same(t, "number of live buffers that can be found", entries, len(devices))
	f.checkHeapWays(t, heaps)
}

// checkHeapWays verifies that the ways from heaps lead to the buffers that they name, and
// that no two heaps are equal.
func (f *Fleet) checkHeapWays(t *audit, heaps []usedHeap) {
	known := shelf[heap]{} // equal ones have one hash, as was verified
	for h := range each(t, heaps) {
		if known.find(h.hash, func(o *heap) bool { return h.live.equal(&o.live) }) != nil {
			t.differs("number of equal sets of buffers", 2, 1)
		}
		known.put(h.hash, h.heap)
		t.once("number of times that buffers are where ways lead", h.self == h.heap && h.name != 0)
		for _, w := range h.ways {
			if !w.open() {
				continue
			}
			set := map[uint64]bool{w.new: true}
			for _, a := range h.live.all() {
				set[a.serial] = true
			}
			delete(set, w.old)
			delete(set, 0)
			to := w.to.self
			right := f.heaps.has(to.hash, to) && len(set) == to.live.len()
			for _, a := range to.live.all() {
				right = right && set[a.serial]
			}
			t.once("number of times that a way between heaps leads to the right one", right)
		}
	}
}

// checkHeaps holds what is kept for each set of buffers against the buffers.
func (all *recounting) checkHeaps(t *audit) {
	for h := range each(t, all.heaps) {
		again := heap{free: anywhere(), placed: partition{footprint: occupiedBy, roster: &all.roster}}
		for id, a := range h.live.all() {
			t.about(h.first, "", a)
			same(t, "id", a.ID, id)
			a.checkPlaced(t)
			t.once("number of times that the number is that", a.placed == nil || all.roster.at(a.placed.number) == a.placed)
			again.count(a)
		}
		t.about(h.first, "", nil)
		same(t, "hash of the buffers", h.hash, again.hash)
		same(t, "charge of the buffers", h.charge, again.charge)
		same(t, "end of the kernels", h.free.Start, again.free.Start)
		same(t, "lowest of all that is not a kernel", h.free.End, again.free.End)
		same(t, "sum of the buffers' classes", h.placed.bytes, again.placed.bytes)
		same(t, "bytes of buffers on the fullest core", h.full, again.placed.fullest)
		t.about(h.first, "device", nil)
		t.buffers(h.totals, again.totals)
		h.placed.check(t, h.first, "buffers'", &again.placed)
	}
}

// count counts a buffer in the figures of a heap.
func (h *heap) count(a *allocation) {
	h.hash += a.hash
	h.charge += a.charge
	h.totals.Add(&a.Buffer)
	for p := range a.All() {
		switch {
		case a.Backing || p.Range.Len() == 0 && !a.Unsized || p.Cores.Len() == 0:
			continue
		case a.Kind.Below():
			h.free.Start = max(h.free.Start, p.Range.End)
		default:
			h.free.End = min(h.free.End, p.Range.Start)
		}
	}
	if a.placed != nil && !a.Kind.Below() {
		h.placed.add(a.placed)
	}
}

// checkAnswers holds what a heap remembers of what is tracked beside it against a count.
func (n *tally) checkAnswers(t *audit, h *heap) {
	if h == nil || n.asked[h] {
		return
	}
	n.asked[h] = true
	t.who = "remembered answer of what is"
	for _, left := range slices.SortedFunc(maps.Keys(h.tracked), func(a, b *residue) int { return cmp.Compare(a.serial, b.serial) }) {
		t.sums(h.tracked[left], n.trackedBy(left, h))
	}
	if h.last != nil {
		t.who = "last answer of what is"
		t.sums(h.known, n.trackedBy(h.last, h))
	}
}

// checkPlaced holds the form in which a buffer is counted against its parts.
func (a *allocation) checkPlaced(t *audit) {
	on := map[l1.Core][]l1.Range{}
	var sum, union, placed uint64
	for p := range a.All() {
		sum += p.Range.Len() * uint64(p.Cores.Len())
		for core := range p.Cores.All() {
			on[core] = append(on[core], p.Range)
		}
	}
	for _, ranges := range on {
		union += length(l1.Merge(ranges))
	}
	if a.Backing {
		union = 0
	}
	if a.placed != nil {
		placed = a.placed.buffer.Bytes()
	}
	same(t, "charge", a.charge, max(a.Size, sum))
	same(t, "bytes", placed, union)
}

// checkChip holds a device against what it was left with and its buffers.
func (n *tally) checkChip(t *audit, c *chip) {
	again := n.residues.count(t, c.left)
	n.users[c.left]++
	if t.who = "device"; t.err != nil {
		return
	}
	t.resident(c.left.total(), c.resident.Load(), c.residentPeak, again.bytes)
	if c.memory == nil {
		same(t, "resident dataflow buffers and scratchpads, without a place for what is tracked,", 0, again.other)
		t.reached("tracked on the fullest core", c.corePeak, again.core)
		return
	}
	now := c.totals()
	t.sums(tracked{bytes: now.Tracked, core: now.TrackedCore}, n.trackedBy(c.left, c.heap()))
	t.tracked(now.Peak, now)
	n.checkAnswers(t, c.heap())
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
			c.heap().last.checkKept(t)
		}
	}
}

// trackedBy counts what is tracked where something was left beside some buffers.
func (n *tally) trackedBy(left *residue, h *heap) tracked {
	what := holding{left, h}
	if sum, ok := n.tracked[what]; ok {
		return sum
	}
	on := map[l1.Core][]l1.Range{}
	paintResidue(on, left)
	if h != nil {
		for _, a := range h.live.all() {
			if a.Backing || !a.Kind.InL1() || a.Kind.Below() {
				continue
			}
			for p := range a.All() {
				for core := range p.Cores.All() {
					on[core] = append(on[core], p.Range)
				}
			}
		}
	}
	var sum tracked
	for _, ranges := range on {
		bytes := length(l1.Merge(ranges))
		sum.bytes += bytes
		sum.core = max(sum.core, bytes)
	}
	n.tracked[what] = sum
	return sum
}

// addTo adds the figures of one device to the sums of a mesh. What is kept for the
// device was found right before.
func (n *tally) addTo(m *mesh, c *chip) {
	left := n.residues[c.left]
	m.sum.Resident += left.bytes
	now := n.trackedBy(c.left, c.heap())
	m.sum.Tracked += now.bytes
	m.sum.TrackedCore = max(m.sum.TrackedCore, now.core)
	m.sum.Buffers.Move(BufferTotals{}, c.heap().sums())
	m.load += left.bytes + left.other + c.heap().charged()
}

// sums holds what is kept of what is tracked against a recount.
func (t *audit) sums(have, want tracked) {
	same(t, "tracked", have.bytes, want.bytes)
	same(t, "tracked on the fullest core", have.core, want.core)
}

// buffers holds what is kept of buffers against a recount.
func (t *audit) buffers(have, want BufferTotals) {
	same(t, "number of buffers", have.Count, want.Count)
	same(t, "bytes of L1 buffers", have.L1, want.L1)
	same(t, "bytes of L1_SMALL buffers", have.L1Small, want.L1Small)
	same(t, "bytes of DRAM buffers", have.DRAM, want.DRAM)
	same(t, "bytes of trace buffers", have.Trace, want.Trace)
	same(t, "bytes of system buffers", have.System, want.System)
	same(t, "bytes of kernels", have.Kernels, want.Kernels)
	same(t, "number of backing allocations", have.Backings, want.Backings)
	same(t, "bytes of backing allocations", have.Backing, want.Backing)
}

// tracked holds the high-water marks of what is tracked against what there is now.
func (t *audit) tracked(have Peaks, now Totals) {
	t.reached("tracked", have.Tracked, now.Tracked)
	t.reached("tracked on the fullest core", have.TrackedCore, now.TrackedCore)
	t.reached("L1 buffers", have.L1, now.Buffers.L1)
	t.reached("L1_SMALL buffers", have.L1Small, now.Buffers.L1Small)
	t.reached("DRAM buffers", have.DRAM, now.Buffers.DRAM)
}

// resident holds what is kept of what dispatches left against a recount.
func (t *audit) resident(have, published, peak, want uint64) {
	same(t, "resident", have, want)
	same(t, "published resident total", published, want)
	t.reached("resident", peak, want)
}

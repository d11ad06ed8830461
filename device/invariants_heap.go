package device

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A usedHeap is a heap that so many devices have.
type usedHeap struct {
	*heap
	first   fit.DeviceID // of the devices
	devices int
}

// usedHeaps are the heaps that devices have, by their first device. The zero ones are none.
type usedHeaps struct {
	all   []usedHeap
	place map[*heap]int // in all
}

// meet counts a device that has a heap.
func (u *usedHeaps) meet(h *heap, id fit.DeviceID) {
	at, ok := u.place[h]
	if !ok {
		if u.place == nil {
			u.place = map[*heap]int{}
		}
		at = len(u.all)
		u.place[h] = at
		u.all = append(u.all, usedHeap{heap: h, first: id})
	}
	u.all[at].devices++
}

// copied returns copies for reading, as they are now, and which one is of which heap; that of
// nil is nil.
func (u *usedHeaps) copied() (out []usedHeap, of map[*heap]*heap) {
	of = map[*heap]*heap{nil: nil}
	for _, h := range u.all {
		to := *h.heap
		to.tracked = maps.Clone(h.tracked)
		of[h.heap] = &to
		out = append(out, usedHeap{heap: &to, first: h.first, devices: h.devices})
	}
	return out, of
}

// checkUsers verifies that the heaps that devices have are found.
func (o *heaps) checkUsers(t *audit, used *usedHeaps) {
	for _, h := range used.all {
		t.about(h.first, "", nil)
		same(t, "devices with the buffers", h.users, h.devices)
		t.once("number of times that the buffers are found by their hash", o.found.has(h.hash, h.heap))
	}
}

// check holds the index of heaps and allocations against the heaps that devices have.
func (o *heaps) check(t *audit, used *usedHeaps) {
	devices := map[*allocation]int{}
	for _, h := range used.all {
		for _, a := range h.live.all() {
			devices[a] += h.devices
		}
	}
	same(t, "number of sets of buffers", o.found.len(), len(used.all))
	entries := 0
	for _, id := range slices.Sorted(maps.Keys(o.live)) {
		for i, a := range o.live[id] {
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
	o.checkWays(t, used)
}

// checkWays verifies that the ways from heaps lead to the buffers that they name, and
// that no two heaps are equal.
func (o *heaps) checkWays(t *audit, used *usedHeaps) {
	known := shelf[heap]{} // equal ones have one hash, as was verified
	for h := range each(t, used.all) {
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
			right := o.found.has(to.hash, to) && len(set) == to.live.len()
			for _, a := range to.live.all() {
				right = right && set[a.serial]
			}
			t.once("number of times that a way between heaps leads to the right one", right)
		}
	}
}

// check holds what is kept for a set of buffers against the buffers. Their numbers are those of
// a roster.
func (h *usedHeap) check(t *audit, numbered *roster) {
	again := heap{free: anywhere(), placed: partition{footprint: occupiedBy, roster: numbered}}
	for id, a := range h.live.all() {
		t.about(h.first, "", a)
		same(t, "id", a.ID, id)
		a.check(t)
		t.once("number of times that the number is that", a.placed == nil || numbered.at(a.placed.number) == a.placed)
		again.count(a)
	}
	t.about(h.first, "", nil)
	same(t, "hash of the buffers", h.hash, again.hash)
	same(t, "charge of the buffers", h.charge, again.charge)
	same(t, "end of the kernels", h.free.Start, again.free.Start)
	same(t, "lowest of all that is not a kernel", h.free.End, again.free.End)
	same(t, "sum of the buffers' classes", h.placed.bytes, again.placed.bytes)
	same(t, "bytes of buffers on the fullest core", h.placed.fullest, again.placed.fullest)
	t.about(h.first, "device", nil)
	sameBuffers(t, h.totals, again.totals)
	h.placed.check(t, h.first, "buffers'", &again.placed)
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

// check holds the form in which a buffer is counted against its parts.
func (a *allocation) check(t *audit) {
	on := map[l1.Core][]l1.Range{}
	var sum, union uint64
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
	same(t, "charge", a.charge, max(a.Size, sum))
	same(t, "bytes", a.takes().Bytes(), union)
}

// A pairing counts anew what is tracked where something was left beside some buffers, each pair
// once.
type pairing struct {
	sums  map[pair]tracked
	asked map[*heap]bool // what it remembers
}

// A pair is what a device has: what dispatches left, and buffers.
type pair struct {
	left *residue
	heap *heap
}

// newPairing returns a pairing of nothing yet.
func newPairing() pairing { return pairing{sums: map[pair]tracked{}, asked: map[*heap]bool{}} }

// tracked counts what is tracked where something was left beside some buffers.
func (n *pairing) tracked(left *residue, h *heap) tracked {
	what := pair{left, h}
	if sum, ok := n.sums[what]; ok {
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
	n.sums[what] = sum
	return sum
}

// check holds what a heap remembers of what is tracked beside it against a count, once.
func (n *pairing) check(t *audit, h *heap) {
	if h == nil || n.asked[h] {
		return
	}
	n.asked[h] = true
	t.who = "remembered answer of what is"
	for _, left := range slices.SortedFunc(maps.Keys(h.tracked), func(a, b *residue) int { return cmp.Compare(a.serial, b.serial) }) {
		sameTracked(t, h.tracked[left], n.tracked(left, h))
	}
	if h.last != nil {
		t.who = "last answer of what is"
		sameTracked(t, h.known, n.tracked(h.last, h))
	}
}

// checkKept verifies that what was left beside the buffers is not changed in place.
func (h *heap) checkKept(t *audit) { h.last.checkKept(t) }

// sameTracked holds what is kept of what is tracked against a recount.
func sameTracked(t *audit, have, want tracked) {
	same(t, "tracked", have.bytes, want.bytes)
	same(t, "tracked on the fullest core", have.core, want.core)
}

// sameBuffers holds what is kept of buffers against a recount.
func sameBuffers(t *audit, have, want fit.BufferTotals) {
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

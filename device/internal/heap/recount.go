package heap

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device/internal/audit"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A UsedHeap is the heap of a state that so many devices have.
type UsedHeap struct {
	*Heap
	state   *State
	first   fit.DeviceID // of the devices
	devices int
}

// UsedHeaps are the heaps that devices have, by their first device. The zero ones are none.
type UsedHeaps struct {
	all   []UsedHeap
	place map[*State]int // in all
}

// Meet counts a device that has a heap.
func (u *UsedHeaps) Meet(s *State, id fit.DeviceID) {
	at, ok := u.place[s]
	if !ok {
		if u.place == nil {
			u.place = map[*State]int{}
		}
		at = len(u.all)
		u.place[s] = at
		u.all = append(u.all, UsedHeap{Heap: s.Heap(), state: s, first: id})
	}
	u.all[at].devices++
}

// Copied returns copies for reading, as they are now, and which one is of which heap; that of
// nil is nil.
func (u *UsedHeaps) Copied() (out []UsedHeap, of map[*State]*State) {
	of = map[*State]*State{nil: nil}
	for _, h := range u.all {
		to := *h.Heap
		to.tracked = maps.Clone(h.tracked)
		s := newState(h.state.Hash)
		s.Content = &to
		of[h.state] = s
		out = append(out, UsedHeap{Heap: &to, state: s, first: h.first, devices: h.devices})
	}
	return out, of
}

// CheckUsers verifies that the heaps that devices have are found.
func (o *Book) CheckUsers(t *audit.Audit, used *UsedHeaps) {
	for _, h := range used.all {
		t.About(h.first, "", nil)
		audit.Same(t, "devices with the buffers", h.state.Users, h.devices)
	}
}

// Check holds the index of heaps and allocations against the heaps that devices have.
func (o *Book) Check(t *audit.Audit, used *UsedHeaps) {
	devices := map[*Allocation]int{}
	for _, h := range used.all {
		for _, a := range h.live.all() {
			devices[a] += h.devices
		}
	}
	entries := 0
	for _, id := range slices.Sorted(maps.Keys(o.live)) {
		for i, a := range o.live[id] {
			entries++
			t.About(0, "", a)
			audit.Same(t, "place", a.at, i)
			audit.Same(t, "id", a.ID, id)
			audit.Same(t, "devices", a.users, devices[a])
			t.Once("devices, at least 1,", a.users > 0)
		}
	}
	t.About(0, "", nil)
	audit.Same(t, "number of live buffers that can be found", entries, len(devices))
}

// Check holds what is kept for a set of buffers against the buffers. Their numbers are those of
// a roster.
func (h *UsedHeap) Check(t *audit.Audit, numbered *classes.Roster) {
	again := Heap{free: Anywhere(), placed: classes.Partition{Footprint: classes.OccupiedBy, Roster: numbered}}
	for id, a := range h.live.all() {
		t.About(h.first, "", a)
		audit.Same(t, "id", a.ID, id)
		a.check(t)
		t.Once("number of times that the number is that", a.placed == nil || numbered.At(a.placed.Number) == a.placed)
		again.count(a)
	}
	t.About(h.first, "", nil)
	audit.Same(t, "charge of the buffers", h.charge, again.charge)
	audit.Same(t, "end of the kernels", h.free.Start, again.free.Start)
	audit.Same(t, "lowest of all that is not a kernel", h.free.End, again.free.End)
	audit.Same(t, "sum of the buffers' classes", h.placed.Bytes, again.placed.Bytes)
	audit.Same(t, "bytes of buffers on the fullest core", h.placed.Fullest, again.placed.Fullest)
	t.About(h.first, "device", nil)
	SameBuffers(t, h.totals, again.totals)
	h.placed.Check(t, h.first, "buffers'", &again.placed)
}

// count counts a buffer in the figures of a heap.
func (h *Heap) count(a *Allocation) {
	h.charge += a.Charge
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
	if !a.Backing && !a.Hidden.IsEmpty() {
		h.free.End = 0
	}
	if a.placed != nil && !a.Kind.Below() {
		h.placed.Add(a.placed)
	}
}

// check holds the form in which a buffer is counted against its parts.
func (a *Allocation) check(t *audit.Audit) {
	on := map[l1.Core][]l1.Range{}
	var sum, union uint64
	for p := range a.All() {
		sum += p.Range.Len() * uint64(p.Cores.Len())
		for core := range p.Cores.All() {
			on[core] = append(on[core], p.Range)
		}
	}
	for _, ranges := range on {
		union += residue.Length(l1.Merge(ranges))
	}
	if a.Backing {
		union = 0
	}
	audit.Same(t, "charge", a.Charge, max(a.Size, sum))
	audit.Same(t, "bytes", a.Takes().Bytes(), union)
}

// A Pairing counts anew what is tracked where something was left beside some buffers, each pair
// once.
type Pairing struct {
	sums  map[pair]residue.Tracked
	asked map[*Heap]bool // what it remembers
}

// A pair is what a device has: what dispatches left, and buffers.
type pair struct {
	left *residue.Residue
	heap *Heap
}

// NewPairing returns a pairing of nothing yet.
func NewPairing() Pairing { return Pairing{sums: map[pair]residue.Tracked{}, asked: map[*Heap]bool{}} }

// Tracked counts what is tracked where something was left beside some buffers.
func (n *Pairing) Tracked(left *residue.Residue, h *Heap) residue.Tracked {
	what := pair{left, h}
	if sum, ok := n.sums[what]; ok {
		return sum
	}
	on := map[l1.Core][]l1.Range{}
	residue.Paint(on, left)
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
	var sum residue.Tracked
	for _, ranges := range on {
		bytes := residue.Length(l1.Merge(ranges))
		sum.Bytes += bytes
		sum.Core = max(sum.Core, bytes)
	}
	n.sums[what] = sum
	return sum
}

// Check holds what a heap remembers of what is tracked beside it against a count, once.
func (n *Pairing) Check(t *audit.Audit, h *Heap) {
	if h == nil || n.asked[h] {
		return
	}
	n.asked[h] = true
	t.Who = "remembered answer of what is"
	for _, left := range slices.SortedFunc(maps.Keys(h.tracked), func(a, b *residue.Residue) int { return cmp.Compare(a.Serial, b.Serial) }) {
		SameTracked(t, h.tracked[left], n.Tracked(left, h))
	}
	if h.last != nil {
		t.Who = "last answer of what is"
		SameTracked(t, h.known, n.Tracked(h.last, h))
	}
}

// CheckKept verifies that what was left beside the buffers is not changed in place.
func (h *Heap) CheckKept(t *audit.Audit) { h.last.CheckKept(t) }

// SameTracked holds what is kept of what is tracked against a recount.
func SameTracked(t *audit.Audit, have, want residue.Tracked) {
	audit.Same(t, "tracked", have.Bytes, want.Bytes)
	audit.Same(t, "tracked on the fullest core", have.Core, want.Core)
}

// SameBuffers holds what is kept of buffers against a recount.
func SameBuffers(t *audit.Audit, have, want fit.BufferTotals) {
	audit.Same(t, "number of buffers", have.Count, want.Count)
	audit.Same(t, "bytes of L1 buffers", have.L1, want.L1)
	audit.Same(t, "bytes of L1_SMALL buffers", have.L1Small, want.L1Small)
	audit.Same(t, "bytes of DRAM buffers", have.DRAM, want.DRAM)
	audit.Same(t, "bytes of trace buffers", have.Trace, want.Trace)
	audit.Same(t, "bytes of system buffers", have.System, want.System)
	audit.Same(t, "bytes of kernels", have.Kernels, want.Kernels)
	audit.Same(t, "number of backing allocations", have.Backings, want.Backings)
	audit.Same(t, "bytes of backing allocations", have.Backing, want.Backing)
}

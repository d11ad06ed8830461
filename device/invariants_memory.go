package device

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A tally counts anew what the devices of a fleet hold beside what is registered:
// from the programs that were dispatched and the parts of buffers, core by core,
// without classes, region trees or layers. Devices share what they share here too.
type tally struct {
	residues map[*residue]residueCount
	tracked  map[holding]tracked
	asked    map[*heap]bool // what it remembers
}

type residueCount struct{ bytes, other, all, core uint64 }

// A holding is what a device has: what dispatches left, and buffers.
type holding struct {
	left *residue
	heap *heap
}

func newTally() *tally {
	return &tally{map[*residue]residueCount{}, map[holding]tracked{}, map[*heap]bool{}}
}

// checkUsers returns the heaps that devices have, each of which is found.
func (f *Fleet) checkUsers() (heaps []usedHeap, err error) {
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
		if h.users != h.devices {
			return nil, &InvariantError{h.first, "devices with the buffers", uint64(h.users), uint64(h.devices)}
		}
		if !f.heaps.has(h.hash, h.heap) {
			return nil, &InvariantError{h.first, "number of times that the buffers are found by their hash", 0, 1}
		}
	}
	return heaps, nil
}

// checkHeaps holds each heap against its buffers.
func (all *recounting) checkHeaps() error {
	for _, h := range all.heaps {
		if err := checkHeap(h.first, h.heap, &all.roster); err != nil {
			return err
		}
	}
	return nil
}

// checkAllocations holds the index of heaps and allocations against the heaps that devices have.
func (f *Fleet) checkAllocations(heaps []usedHeap) error {
	devices := map[*allocation]int{}
	for _, h := range heaps {
		for _, a := range h.live.all() {
			devices[a] += h.devices
		}
	}
	if have := f.heaps.len(); have != len(heaps) {
		return &InvariantError{0, "number of sets of buffers", uint64(have), uint64(len(heaps))}
	}
	entries := 0
	for _, id := range slices.Sorted(maps.Keys(f.allocations)) {
		for i, a := range f.allocations[id] {
			entries++
			switch {
			case a.at != i:
				return &InvariantError{0, "place of " + a.String(), uint64(a.at), uint64(i)}
			case a.ID != id:
				return &InvariantError{0, "id of " + a.String(), uint64(a.ID), uint64(id)}
			case a.users != devices[a]:
				return &InvariantError{0, "devices of " + a.String(), uint64(a.users), uint64(devices[a])}
			case a.users == 0:
				return &InvariantError{0, "devices, at least 1, of " + a.String(), 0, 1}
			}
		}
	}
	if entries != len(devices) {
		return &InvariantError{0, "number of live buffers that can be found", uint64(entries), uint64(len(devices))}
	}
	return f.checkHeapWays(heaps)
}

// checkHeapWays verifies that the ways from heaps lead to the buffers that they name, and
// that no two heaps are equal.
func (f *Fleet) checkHeapWays(heaps []usedHeap) error {
	known := shelf[heap]{} // equal ones have one hash, as was verified
	for _, h := range heaps {
		if known.find(h.hash, func(o *heap) bool { return h.live.equal(&o.live) }) != nil {
			return &InvariantError{0, "number of equal sets of buffers", 2, 1}
		}
		known.put(h.hash, h.heap)
		if h.self != h.heap || h.name == 0 {
			return &InvariantError{0, "number of times that buffers are where ways lead", 0, 1}
		}
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
			if !right {
				return &InvariantError{0, "number of times that a way between heaps leads to the right one", 0, 1}
			}
		}
	}
	return nil
}

// checkHeap holds what is kept for a set of buffers against the buffers, which are in a roster.
func checkHeap(id ID, h *heap, o *roster) error {
	again := heap{free: l1.Range{End: math.MaxUint64}, placed: partition{footprint: occupiedBy, roster: o}}
	for known, a := range h.live.all() {
		if a.ID != known {
			return &InvariantError{id, "id of " + a.String(), uint64(a.ID), uint64(known)}
		}
		if err := a.checkPlaced(id); err != nil {
			return err
		}
		if r := a.placed; r != nil && o.at(r.number) != r {
			return &InvariantError{id, fmt.Sprintf("number of times that %v has its number", a), 0, 1}
		}
		again.hash += a.hash
		again.charge += a.charge
		count, bytes := again.totals.of(&a.Buffer)
		*count++
		*bytes += a.Size
		for p := range a.All() {
			switch {
			case a.Backing || p.Range.Len() == 0 && !a.Unsized || p.Cores.Len() == 0:
				continue
			case a.Kind == KindKernel, a.Kind == KindReserved:
				again.free.Start = max(again.free.Start, p.Range.End)
			default:
				again.free.End = min(again.free.End, p.Range.Start)
			}
		}
		if a.placed != nil && a.Kind != KindKernel && a.Kind != KindReserved {
			again.placed.add(a.placed)
		}
	}
	if err := agree(id, "",
		figure{"hash of the buffers", uint64(h.hash), uint64(again.hash)},
		figure{"charge of the buffers", h.charge, again.charge},
		figure{"end of the kernels", h.free.Start, again.free.Start},
		figure{"lowest of all that is not a kernel", h.free.End, again.free.End},
		figure{"sum of the buffers' classes", h.placed.bytes, again.placed.bytes},
		figure{"bytes of buffers on the fullest core", h.full, again.placed.fullest},
	); err != nil {
		return err
	}
	if err := compareBuffers(id, "device", h.totals, again.totals); err != nil {
		return err
	}
	return h.placed.check(id, "buffers'", &again.placed)
}

// checkAnswers holds what a heap remembers of what is tracked beside it against a count.
func (n *tally) checkAnswers(id ID, h *heap) error {
	if h == nil || n.asked[h] {
		return nil
	}
	n.asked[h] = true
	known := slices.SortedFunc(maps.Keys(h.tracked), func(a, b *residue) int {
		return cmp.Compare(a.serial, b.serial)
	})
	for _, left := range known {
		if err := agreeTracked(id, "remembered answer of what is", h.tracked[left], n.trackedBy(left, h)); err != nil {
			return err
		}
	}
	if h.last != nil {
		return agreeTracked(id, "last answer of what is", h.known, n.trackedBy(h.last, h))
	}
	return nil
}

// checkPlaced holds the form in which a buffer is counted against its parts.
func (a *allocation) checkPlaced(id ID) error {
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
	placed := uint64(0)
	if a.placed != nil {
		placed = a.placed.buffer.Bytes()
	}
	switch {
	case a.charge != max(a.Size, sum):
		return &InvariantError{id, "charge of " + a.String(), a.charge, max(a.Size, sum)}
	case placed != union:
		return &InvariantError{id, "bytes of " + a.String(), placed, union}
	}
	return nil
}

func length(ranges []l1.Range) (sum uint64) {
	for _, r := range ranges {
		sum += r.Len()
	}
	return sum
}

// checkChip holds a device against what it was left with and its buffers.
func (n *tally) checkChip(c *chip) error {
	again, err := n.countResidue(c.id, c.left)
	if err != nil {
		return err
	}
	if err := compareResident(c.id, "device", c.left.total(), c.resident.Load(), c.residentPeak, again.bytes); err != nil {
		return err
	}
	if c.memory == nil {
		if again.other > 0 {
			return &InvariantError{c.id, "resident dataflow buffers and scratchpads, without a place for what is tracked", 0, again.other}
		}
		if c.corePeak < again.core {
			return &InvariantError{c.id, "device peak of tracked on the fullest core", c.corePeak, again.core}
		}
		return nil
	}
	totals := c.totals()
	if err := agreeTracked(c.id, "device", tracked{totals.Tracked, totals.TrackedCore}, n.trackedBy(c.left, c.heap())); err != nil {
		return err
	}
	if err := n.checkAnswers(c.id, c.heap()); err != nil {
		return err
	}
	return peaksOfMemory(c.id, "device", totals.Peak, totals)
}

// countResidue counts what dispatches left, and holds what is kept for it against
// that.
func (n *tally) countResidue(id ID, r *residue) (out residueCount, err error) {
	if r == nil {
		return out, nil
	}
	if known, ok := n.residues[r]; ok {
		return known, nil
	}
	h, err := out.countPieces(id, r)
	if err != nil {
		return out, err
	}
	end, err := out.countCells(id, r)
	if err != nil {
		return out, err
	}
	if err := agree(id, "",
		figure{"device resident", r.bytes, out.bytes},
		figure{"device resident dataflow buffers and scratchpads", r.other, out.other},
		figure{"device resident, of all kinds", r.all, out.all},
		figure{"device resident, on the fullest core", r.core, out.core},
		figure{"end of what is resident", r.end, end},
		figure{"charge of what is resident", r.charge, out.bytes + out.other},
		figure{"hash of what is resident", uint64(r.hash), uint64(h)},
	); err != nil {
		return out, err
	}
	n.residues[r] = out
	return out, nil
}

// countPieces counts the programs of a residue, by kind, and returns their hash.
func (out *residueCount) countPieces(id ID, r *residue) (h hash, err error) {
	if err := checkPlanes(id, r.planes); err != nil {
		return h, err
	}
	cores := 0
	for _, w := range r.written() {
		for core := range w.cores.All() {
			h += w.hash * hashOfColumn(core.X) * hashOfRow(core.Y)
			cores++
			bytes := uint64(0)
			if g, ok := w.program.Occupied(w.kind).On(core); ok {
				bytes = g.Bytes()
			}
			if w.kind == program.CircularBuffer {
				out.bytes += bytes
			} else {
				out.other += bytes
			}
			if have := w.group.Bytes(); have != bytes {
				return h, &InvariantError{id, "device resident, bytes of a program on a core", have, bytes}
			}
		}
	}
	if r.n != cores {
		return h, &InvariantError{id, "cores that were written", uint64(r.n), uint64(cores)}
	}
	return h, nil
}

// checkPlanes verifies the form of planes.
func checkPlanes(id ID, all planes) error {
	for kind := range all {
		p := &all[kind]
		claimed := make([]uint64, len(p.claims))
		for _, b := range p.blocks {
			columns := uint64(0) // to the last one that was written
			for at, number := range b.last {
				if number == 0 {
					continue
				}
				if number > uint32(len(claimed)) {
					return &InvariantError{id, "number of a writer, at most", uint64(number), uint64(len(claimed))}
				}
				columns = uint64(at/16 + 1)
				claimed[number-1]++
			}
			if have := uint64(len(b.last)); have != 16*columns {
				return &InvariantError{id, "columns of a block of cores, x 16,", have, 16 * columns}
			}
		}
		for i, c := range p.claims {
			if have := uint64(c.cores); have != claimed[i] {
				return &InvariantError{id, "cores of a resident program", have, claimed[i]}
			}
			if claimed[i] > 0 && c.kind != program.Kind(kind) {
				return &InvariantError{id, "kind of a resident program", uint64(c.kind), uint64(kind)}
			}
		}
	}
	return nil
}

// countCells counts the bytes of a residue core by core, each once, and returns the
// highest end.
func (out *residueCount) countCells(id ID, r *residue) (end uint64, err error) {
	union := map[l1.Core][]l1.Range{}
	paintResidue(union, r)
	for core, ranges := range union {
		union[core] = l1.Merge(ranges)
		out.all += length(union[core])
		out.core = max(out.core, length(union[core]))
		end = max(end, union[core][len(union[core])-1].End)
	}
	cells := l1.CoreSet{}
	for _, cell := range r.cells {
		cells = cells.Union(cell.cores)
		for core := range cell.cores.All() {
			if !slices.Equal(cell.ranges, union[core]) {
				return end, differ(id, "resident ranges on "+core.String(), cell.ranges, union[core])
			}
		}
		if n := length(cell.ranges); cell.bytes != n {
			return end, &InvariantError{id, "resident bytes of some cores", cell.bytes, n}
		}
	}
	if r.cells != nil && cells.Len() != len(union) {
		return end, &InvariantError{id, "cores with something resident", uint64(cells.Len()), uint64(len(union))}
	}
	return end, nil
}

// differ returns what differs first between two lists of ranges: their number, or an end
// of one.
func differ(id ID, who string, have, want []l1.Range) error {
	if err := agree(id, who, figure{"", uint64(len(have)), uint64(len(want))}); err != nil {
		return err
	}
	for i, r := range have {
		if err := agree(id, who, figure{"start of one", r.Start, want[i].Start}, figure{"end of one", r.End, want[i].End}); err != nil {
			return err
		}
	}
	return nil
}

// paintResidue adds the ranges that dispatches left on each core that has any.
func paintResidue(on map[l1.Core][]l1.Range, r *residue) {
	if r == nil {
		return
	}
	for _, w := range r.written() {
		for core := range w.cores.All() {
			if g, ok := w.program.Occupied(w.kind).On(core); ok {
				on[core] = slices.AppendSeq(on[core], g.Ranges())
			}
		}
	}
}

// agreeTracked compares what is tracked with a recount.
func agreeTracked(id ID, who string, have, want tracked) error {
	return agree(id, who, figure{"tracked", have.bytes, want.bytes}, figure{"tracked on the fullest core", have.core, want.core})
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
			if a.Backing || !a.Kind.InL1() || a.Kind == KindKernel || a.Kind == KindReserved {
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
	m.sum.Buffers.move(BufferTotals{}, c.heap().sums())
	m.load += left.bytes + left.other + c.heap().charged()
}

// checkMemory holds a mesh against sums over its devices.
func (m *mesh) checkMemory(again *mesh) error {
	if have, want := m.sum.Tracked, again.sum.Tracked; have != want {
		return &InvariantError{m.first, "mesh tracked", have, want}
	}
	if err := compareBuffers(m.first, "mesh", m.sum.Buffers, again.sum.Buffers); err != nil {
		return err
	}
	if m.load != again.load {
		return &InvariantError{m.first, "load of the mesh", m.load, again.load}
	}
	return peaksOfMemory(m.first, "mesh", m.peak, again.sum)
}

func compareBuffers(id ID, who string, have, want BufferTotals) error {
	return agree(id, who,
		figure{"number of buffers", uint64(have.Count), uint64(want.Count)},
		figure{"bytes of L1 buffers", have.L1, want.L1},
		figure{"bytes of L1_SMALL buffers", have.L1Small, want.L1Small},
		figure{"bytes of DRAM buffers", have.DRAM, want.DRAM},
		figure{"bytes of trace buffers", have.Trace, want.Trace},
		figure{"bytes of system buffers", have.System, want.System},
		figure{"bytes of kernels", have.Kernels, want.Kernels},
		figure{"number of backing allocations", uint64(have.Backings), uint64(want.Backings)},
		figure{"bytes of backing allocations", have.Backing, want.Backing},
	)
}

func peaksOfMemory(id ID, who string, have Peaks, now Totals) error {
	return reached(id, who,
		figure{"tracked", have.Tracked, now.Tracked},
		figure{"tracked on the fullest core", have.TrackedCore, now.TrackedCore},
		figure{"L1 buffers", have.L1, now.Buffers.L1},
		figure{"L1_SMALL buffers", have.L1Small, now.Buffers.L1Small},
		figure{"DRAM buffers", have.DRAM, now.Buffers.DRAM},
	)
}

func compareResident(id ID, who string, have, published, peak, want uint64) error {
	switch {
	case have != want:
		return &InvariantError{id, who + " resident", have, want}
	case published != want:
		return &InvariantError{id, "published resident total of the " + who, published, want}
	case peak < want:
		return &InvariantError{id, who + " peak of resident", peak, want}
	}
	return nil
}

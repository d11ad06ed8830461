package wire_test

import (
	"slices"

	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// naive is the ledger without any structure: a list of live lots in order. Every figure is worked
// out anew from it.
type naive struct {
	lots  []naiveLot
	freed map[naiveKey]bool
	odd   map[wire.Oddity]int64
	chips map[int32][]int32 // of declared meshes
}

// lies reports whether a lot lies on a device: CBs and kernels of a mesh lie on its chips.
func (n *naive) lies(lot naiveLot, device int32) bool {
	if chips := n.chips[lot.device]; chips != nil && lot.what != 'b' {
		return slices.Contains(chips, device)
	}
	return lot.device == device
}

// backs reports whether buffers under an id are the buffers of chips once more.
func (n *naive) backs(device int32) bool {
	chips := n.chips[device]
	return len(chips) > 0 && !slices.Contains(chips, device)
}

type naiveKey struct {
	what   byte // 'b', 'c', 'k'
	device int32
	id     uint64
}

type naiveLot struct {
	naiveKey
	owner wire.Client
	size  uint64
	kind  uint8
	first bool // since nothing lived there
}

func (n *naive) note(a wire.Oddity) { n.odd[a]++ }

func (n *naive) apply(o wire.Client, r wire.Record) {
	what, comes := byte('b'), true
	switch r.Type {
	case wire.TypeAlloc:
	case wire.TypeFree:
		comes = false
	case wire.TypeCBAlloc, wire.TypeCBFree:
		what, comes = 'c', r.Type == wire.TypeCBAlloc
	case wire.TypeKernelLoad, wire.TypeKernelUnload:
		what, comes = 'k', r.Type == wire.TypeKernelLoad
	default:
		return
	}
	k := naiveKey{what, r.Device, r.ID}
	switch {
	case (r.Device < 0 || r.Device > 255) && n.chips[r.Device] == nil:
		n.note(wire.OddityDevice)
	case comes:
		n.bring(k, o, r)
	default:
		n.take(k, o, r)
	}
}

func (n *naive) at(k naiveKey) (out []int) {
	for i, lot := range n.lots {
		if lot.naiveKey == k {
			out = append(out, i)
		}
	}
	return out
}

func (n *naive) bring(k naiveKey, o wire.Client, r wire.Record) {
	there := n.at(k)
	switch {
	case k.what == 'b' && (r.Size == 0 || r.Size > 100<<30):
		n.note(wire.OdditySize)
		return
	case k.what == 'b' && r.Kind > 4:
		n.note(wire.OddityKind)
		return
	case r.Size > 1<<62: // the worlds of the test have no sizes between
		n.note(wire.OddityOverflow)
		return
	case k.what == 'b' && len(there) > 0 && (n.lots[there[0]].size != r.Size || n.lots[there[0]].kind != r.Kind):
		n.note(wire.OddityDiffers)
	}
	n.lots = append(n.lots, naiveLot{k, o, r.Size, r.Kind, len(there) == 0})
	delete(n.freed, k)
}

func (n *naive) take(k naiveKey, o wire.Client, r wire.Record) {
	there := n.at(k)
	if k.what == 'c' && r.Size > n.totals(k.device).CB {
		n.note(wire.OddityWrapped)
	}
	if len(there) == 0 {
		if n.freed[k] {
			n.note(wire.OddityDoubleFree)
		} else {
			n.note(wire.OddityUnknownFree)
		}
		return
	}
	slices.Reverse(there)
	best := -1
	for _, want := range []func(naiveLot) bool{
		func(x naiveLot) bool { return x.owner == o && k.what != 'b' && r.Size != 0 && x.size == r.Size },
		func(x naiveLot) bool { return x.owner == o },
		func(x naiveLot) bool { return k.what != 'b' && r.Size != 0 && x.size == r.Size },
		func(naiveLot) bool { return true },
	} {
		if i := slices.IndexFunc(there, func(i int) bool { return want(n.lots[i]) }); i >= 0 {
			best = there[i]
			break
		}
	}
	if size := n.lots[best].size; k.what != 'b' && r.Size != 0 && r.Size != size {
		if r.Size > size {
			n.note(wire.OddityTooLarge)
			return
		}
		n.note(wire.OddityFreeSize)
	}
	n.remove(best)
}

// remove takes a lot away. What counts for several counts on, at the place of the first
// that is another process's own, or else of the first.
func (n *naive) remove(i int) {
	gone := n.lots[i]
	n.lots = slices.Delete(n.lots, i, i+1)
	rest := n.at(gone.naiveKey)
	if len(rest) == 0 {
		n.freed[gone.naiveKey] = true
		return
	}
	if gone.what != 'b' || !gone.first {
		return
	}
	heir := rest[0]
	for _, j := range rest {
		if n.lots[j].owner != gone.owner {
			heir = j
			break
		}
	}
	lot := n.lots[heir]
	lot.size, lot.kind, lot.first = gone.size, gone.kind, true
	n.lots = slices.Delete(n.lots, heir, heir+1)
	n.lots = slices.Insert(n.lots, rest[0], lot)
}

func (n *naive) release(o wire.Client) {
	for i := len(n.lots) - 1; i >= 0; i = min(i, len(n.lots)) - 1 {
		if n.lots[i].owner == o {
			n.remove(i)
			i = len(n.lots)
		}
	}
}

// totals are the figures of the records with an id.
func (n *naive) totals(device int32) wire.Sums {
	return n.sums(func(lot naiveLot) bool { return lot.device == device })
}

// on are the figures of all that lies on a device.
func (n *naive) on(device int32) wire.Sums {
	return n.sums(func(lot naiveLot) bool { return n.lies(lot, device) })
}

func (n *naive) sums(of func(naiveLot) bool) (t wire.Sums) {
	seen := map[naiveKey][]wire.Client{}
	for _, lot := range n.lots {
		if !of(lot) {
			continue
		}
		owners := seen[lot.naiveKey]
		seen[lot.naiveKey] = append(owners, lot.owner)
		own := slices.Contains(owners, lot.owner)
		switch {
		case lot.what == 'c':
			t.CBs++
			t.CB += lot.size
		case lot.what == 'k':
			t.Count++
			t.Loaded++
			t.Kernels += lot.size
		case own, n.backs(lot.device) && len(owners) == 0:
			t.Backings++
			t.Backing += lot.size
		case len(owners) == 0:
			t.Count++
			*[]*uint64{&t.DRAM, &t.L1, &t.System, &t.L1Small, &t.Trace}[lot.kind] += lot.size
		}
	}
	return t
}

// total returns the sum that the line of a record has.
func (n *naive) total(r wire.Record) uint64 {
	t := n.totals(r.Device)
	switch r.Type {
	case wire.TypeCBAlloc, wire.TypeCBFree:
		return t.CB
	case wire.TypeKernelLoad, wire.TypeKernelUnload:
		return t.Kernels
	}
	return t.DRAM + t.L1 + t.System + t.L1Small + t.Trace
}

// union returns the bytes of a core on which every CB of a device lies.
func (n *naive) union(device int32) (bytes uint64) {
	taken := map[uint64]bool{}
	for _, lot := range n.lots {
		if lot.what == 'c' && n.lies(lot, device) && lot.id+lot.size < 1<<32 {
			for i := range lot.size {
				taken[lot.id+i] = true
			}
		}
	}
	return uint64(len(taken))
}

// totalsOf are the sums over what an owner has on a device, each thing as if it were its alone.
func (n *naive) totalsOf(o wire.Client, device int32) (t wire.Sums) {
	for _, lot := range n.lots {
		if lot.owner != o || !n.lies(lot, device) {
			continue
		}
		switch lot.what {
		case 'c':
			t.CBs, t.CB = t.CBs+1, t.CB+lot.size
		case 'k':
			t.Count++
			t.Loaded++
			t.Kernels += lot.size
		default:
			t.Count++
			*map[uint8]*uint64{0: &t.DRAM, 1: &t.L1, 2: &t.System, 3: &t.L1Small, 4: &t.Trace}[lot.kind] += lot.size
		}
	}
	return t
}

// shared are the buffers that a process has where another one's is: a fleet counts them apart.
func (n *naive) shared(device int32) (count int, bytes uint64) {
	seen := map[naiveKey][]wire.Client{}
	for _, lot := range n.lots {
		if lot.what != 'b' || lot.device != device {
			continue
		}
		if owners := seen[lot.naiveKey]; len(owners) > 0 && !slices.Contains(owners, lot.owner) {
			count, bytes = count+1, bytes+lot.size
		}
		seen[lot.naiveKey] = append(seen[lot.naiveKey], lot.owner)
	}
	return count, bytes
}

// isInL1 reports whether events have a CB: it has bytes, and lies in what may be an L1.
func isInL1(id, size uint64) bool { return size > 0 && size < 1<<32 && id+size < 1<<32 }

// reported returns the figures of a process on a device by the events.
func (n *naive) reported(o wire.Client, device int32) (p watch.Process, has bool) {
	on := uint64(device)
	p = watch.Process{PID: int32(o), Device: &on}
	t := naive{chips: n.chips}
	for _, lot := range n.lots {
		if lot.owner == o && n.lies(lot, device) && (lot.what != 'c' || isInL1(lot.id, lot.size)) {
			t.lots = append(t.lots, lot)
		}
	}
	sums := t.totalsOf(o, device)
	p.CB, p.L1, p.L1Small, p.DRAM, p.Trace, p.Kernels = sums.CB, sums.L1, sums.L1Small, sums.DRAM, sums.Trace, sums.Kernels
	return p, len(t.lots) > 0
}

package model

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// Place allocates an L1 buffer where the allocator of tt-metal puts it. Parts has one part: its cores, and a
// range whose length is the bytes on each of them. In lockstep the buffer gets one address on all
// devices, per core one on each core of each device: the highest that is aligned, and whose bytes are free.
func (f *Fleet) Place(b Buffer, ids []uint64) error {
	if len(b.Parts) == 1 && !b.Parts[0].Range.IsEmpty() {
		b.Parts = []Part{{Cores: b.Parts[0].Cores, Range: l1.Range{End: b.Parts[0].Range.End - b.Parts[0].Range.Start}}}
	}
	devices, wrong := f.takers(b, ids)
	wrong.when(b.unplaceable(), ErrBuffer)
	if err := wrong.err(); err != nil {
		return err
	}
	wrong.when(f.Overloads(b, ids), ErrOverflow)
	groups := [][]*device{devices}
	if b.Mode == PerCore {
		groups = nil
		for _, d := range devices {
			groups = append(groups, []*device{d})
		}
	}
	placed := map[*device]*allocation{}
	for _, group := range groups {
		parts, ok := b.placed(group, false)
		others, fits := b.placed(group, true)
		same := slices.EqualFunc(parts, others, func(p, q Part) bool { return p.Range == q.Range && p.Cores.Equal(q.Cores) })
		switch {
		case fits && (!ok || !same):
			wrong = append(wrong, ErrHidden)
		case !fits && len(group) > 0:
			wrong = append(wrong, ErrNoSpace)
		}
		for _, d := range group {
			at := b
			at.Parts = parts
			placed[d] = at.paint()
		}
	}
	if err := wrong.err(); err != nil {
		return err
	}
	for d, a := range placed {
		d.live[b.ID] = a
	}
	f.settle()
	return nil
}

// unplaceable reports whether no allocator gives the buffer an address.
func (b Buffer) unplaceable() bool {
	return b.Kind != L1 && b.Kind != L1Small && b.Kind != GlobalCB || b.Hidden.Len() > 0 ||
		len(b.Parts) != 1 || b.Parts[0].Cores.Len() == 0 || b.Parts[0].Range.IsEmpty()
}

// placed returns where the buffer goes on devices, cores with the same address together. If blind, it
// passes over hidden addresses, and over what lies behind the first byte of a buffer without a known end.
func (b Buffer) placed(devices []*device, blind bool) (out []Part, ok bool) {
	cores, size := covered(b.Parts[0].Cores), b.Parts[0].Range.End-b.Parts[0].Range.Start
	sets := []map[l1.Core]bool{cores}
	if b.Mode == PerCore {
		sets = nil
		for c := range cores {
			sets = append(sets, map[l1.Core]bool{c: true})
		}
	}
	at := map[uint64]l1.CoreSet{}
	for _, on := range sets {
		start, ok := b.highest(devices, on, size, blind)
		if !ok {
			return nil, false
		}
		for c := range on {
			at[start] = at[start].Union(l1.CoreSetOf(c))
		}
	}
	for start, cores := range at {
		out = append(out, Part{Cores: cores.Ranges(), Range: l1.Range{Start: start, End: start + size}})
	}
	slices.SortFunc(out, func(p, q Part) int { return p.Cores.Cores().CompareFirst(q.Cores.Cores()) })
	return out, true
}

// highest returns the highest address at which the buffer has its bytes for itself, looking at each from the top.
func (b Buffer) highest(devices []*device, on map[l1.Core]bool, size uint64, blind bool) (start uint64, ok bool) {
	if len(devices) == 0 {
		return 0, false
	}
	for unaligned(size, devices) { // the allocator gives whole steps
		size++
	}
	held := func(a uint64) bool {
		return slices.ContainsFunc(devices, func(d *device) bool { return d.holdsBack(b, on, a, blind) })
	}
	free := uint64(0) // bytes from a on, up to a multiple
	for a := devices[0].spec.L1Size; a > 0; {
		a--
		if free++; held(a) || free == 1 && unaligned(a+1, devices) {
			free = 0
		}
		if free >= size && !unaligned(a, devices) {
			return a, true
		}
	}
	return 0, false
}

// Align returns the alignment of L1 buffers on a device, 1 without the device.
func (f *Fleet) Align(id uint64) uint64 {
	if d := f.devices[id]; d != nil {
		return d.align()
	}
	return 1
}

// Hybrid reports whether the allocator of a device is in HYBRID mode.
func (f *Fleet) Hybrid(id uint64) bool { return f.devices[id] != nil && f.devices[id].hybrid }

// align returns the alignment of L1 buffers: the larger one of L1Align and the alignment of DRAM.
func (d *device) align() uint64 { return max(d.spec.L1Align, d.spec.CBAlign, 1) }

// holdsBack reports whether the allocator of a device does not give a byte to a buffer on some cores.
func (d *device) holdsBack(b Buffer, on map[l1.Core]bool, a uint64, blind bool) bool {
	region := d.spec.Usable()
	if b.Kind == L1Small {
		region = l1.Range{Start: region.End, End: d.spec.L1Size}
	}
	return a < region.Start || a >= region.End || d.spec.L1Size == 0 || d.takes(b.Mode, on, a, blind)
}

// takes reports whether a buffer keeps a byte of a device from one that is allocated in a mode on some cores.
func (d *device) takes(mode Mode, on map[l1.Core]bool, a uint64, blind bool) bool {
	for _, live := range d.live {
		all := live.everywhere(mode)
		for c, start := range live.starts() {
			above := live.Unsized && (a == start || !blind && a > start) // where it ends is not known
			if bytes := live.bytes[c]; (above || bytes.holds(a)) && (all || on[c]) {
				return true
			}
		}
		for c := range covered(live.Hidden) {
			if !blind && !live.Backing && (all || on[c]) {
				return true
			}
		}
	}
	return false
}

package oracle

import (
	"cmp"
	"slices"
)

// A global CB lies in the bytes of an L1 buffer. If none is known there, it proves one from before the capture, which lives from the last
// end of an allocation in its place up to the next one.

// view is a global CB on a device.
type view struct {
	at     int64
	device string
	addr   uint64
	size   uint64
	cores  []core
	since  int64
	until  int64
}

// overlaps says whether an allocation of the capture lies on bytes of a device.
func (p *past) overlaps(l life, device string, start, end uint64) bool {
	return inL1(l.kind) && p.ids.reaches(l.owner, device) && l.addr > 0 && l.addr < end && start < max(l.addr+1, l.addr+l.perCore)
}

// readViews makes residents of the buffers that global CBs prove, and gives unsized ones the bytes that a CB in them shows.
func (p *past) readViews(nodes []node) {
	var proofs []view
	for _, n := range nodes {
		if !isPlaced(n.kind) || n.hidden || n.counter >= p.since {
			continue
		}
		b := n.buffer()
		if b.local || b.addr == 0 || b.logical() == 0 {
			continue
		}
		v := view{at: n.counter, device: n.on, addr: b.addr, size: b.size, cores: b.cores}
		if p.explains(v) {
			continue
		}
		v.until = forEver
		for _, l := range p.lives {
			switch here := p.overlaps(l, v.device, v.addr, v.addr+v.size); {
			case here && l.to <= v.at:
				v.since = max(v.since, l.to)
			case here && l.from >= v.at:
				v.until = min(v.until, l.from)
			}
		}
		i := slices.IndexFunc(proofs, func(o view) bool {
			return o.device == v.device && o.addr == v.addr && o.since == v.since && o.until > v.at
		})
		if i < 0 {
			proofs = append(proofs, v)
			continue
		}
		proofs[i].size, proofs[i].until = max(proofs[i].size, v.size), min(proofs[i].until, v.until)
		proofs[i].cores = slices.Concat(proofs[i].cores, v.cores)
	}
	slices.SortStableFunc(p.least, func(a, b leastSize) int { return cmp.Compare(a.bytes, b.bytes) })
	for _, least := range p.least { // the largest is set last
		least.set(least.bytes)
	}
	for _, v := range proofs {
		slices.SortFunc(v.cores, compareCores)
		p.earlier = append(p.earlier, alloc{
			counter: v.at, node: -1, owner: v.device, kind: "L1", perCore: v.size, sized: true, sharded: true, where: slices.Compact(v.cores), told: true, proven: true,
			recorded: true, placed: true, start: v.addr, end: v.addr + v.size, order: [4]int64{3, int64(v.addr), idOf(v.device)}, earlier: true, since: v.since, until: v.until,
		})
	}
}

// leastSize is the least number of bytes of an unsized buffer, as CBs in it show.
type leastSize struct {
	bytes uint64
	set   func(bytes uint64)
}

// explains says whether a known buffer holds the first byte of a CB, and notes how far an unsized one reaches.
func (p *past) explains(v view) bool {
	var set func(bytes uint64)
	highest := uint64(0)
	holds := func(l life, resize func(bytes uint64)) bool {
		if !inL1(l.kind) || !p.ids.reaches(l.owner, v.device) || l.addr == 0 || l.addr > v.addr || v.at < l.from || v.at >= l.to {
			return false
		}
		if !l.sized && l.addr > highest {
			set, highest = resize, l.addr
		}
		return l.sized && v.addr-l.addr < l.perCore
	}
	for i := range p.lives {
		l := &p.lives[i]
		if holds(*l, func(bytes uint64) { l.perCore, l.sized = bytes, true }) {
			return true
		}
	}
	for i := range p.earlier {
		a := &p.earlier[i]
		l := life{owner: a.owner, kind: a.kind, addr: a.start, perCore: a.perCore, sized: a.sized, from: a.since, to: a.until}
		if holds(l, func(bytes uint64) { a.perCore, a.sized, a.end = bytes, true, a.start+bytes }) {
			return true
		}
	}
	if set != nil {
		p.least = append(p.least, leastSize{v.addr + v.size - highest, set})
	}
	return set != nil
}

// overlapping counts the devices on which a buffer that comes takes a byte of a core that another one has.
func (p *player) overlapping(a *alloc, now int64) (n int) {
	for _, c := range p.chips {
		if p.lies(a, c) && slices.ContainsFunc(p.live, func(b *alloc) bool { return p.lies(b, c) && p.overlap(c, a, b, now) }) {
			n++
		}
	}
	return n
}

// overlap says whether two live buffers take a byte of a core. A buffer of a mesh and one of its chip in the same bytes back each other.
// Several witnesses show one buffer from before the capture.
func (p *player) overlap(c *chip, a, b *alloc, now int64) bool {
	backing := a.owner != b.owner && a.end == b.end && (p.ids.has(a.owner, b.owner) || p.ids.has(b.owner, a.owner)) || a.earlier && b.earlier
	switch {
	case a == b, !a.placed, !b.placed, !inL1(a.kind), !inL1(b.kind), b.until <= now, a.start == b.start && backing:
		return false
	}
	cores := b.cores(c)
	return max(a.start, b.start) < min(a.end, b.end) && slices.ContainsFunc(a.cores(c), func(x core) bool { return slices.Contains(cores, x) })
}

// lifeOf is the life that an allocation begins.
func (p *past) lifeOf(counter int64) life {
	for _, l := range p.lives {
		if l.from == counter {
			return l
		}
	}
	return life{to: forEver}
}

package oracle

import (
	"slices"
)

// Answer is the answer of check: 0 fits, 1 does not fit, 3 unknown. accepted are codes of Hidden
// that count as seen.
func (m *L1Results) Answer(accepted ...string) int {
	if m.Failed > 0 {
		return 1
	}
	for code := range m.Hidden {
		if !slices.Contains(accepted, code) {
			return 3
		}
	}
	return 0
}

func (p *player) hide(code string, hidden bool) {
	if hidden {
		p.out.Hidden[code]++
	}
}

// ofNow returns the live buffers at a counter: buffers of the capture, and buffers from before it.
// Buffers that come or go between two nodes do so before the second, first the ones that go.
func (p *player) ofNow(at int64) []*alloc {
	for i := range p.past.earlier {
		a := &p.past.earlier[i]
		if at <= a.until || !slices.Contains(p.live, a) { // at its end its free is the next node: open programs are enqueued first
			continue
		}
		p.settleOn(a)
		p.live = slices.DeleteFunc(slices.Clone(p.live), func(b *alloc) bool { return b == a })
	}
	for i := range p.past.earlier {
		a := &p.past.earlier[i]
		if at < a.since || at >= a.until || slices.Contains(p.live, a) {
			continue
		}
		p.settleOn(a)
		p.live = append(slices.Clone(p.live), a)
		p.arrive(a)
	}
	return p.live
}

// settleOn enqueues the open programs of the devices of a buffer that comes or goes.
func (p *player) settleOn(a *alloc) {
	for _, c := range p.chips {
		if p.reaches(a.owner, c.name) {
			p.enqueue(c)
		}
	}
}

// shownOnMesh says whether what a chip executes stands under the id of its mesh.
func (p *player) shownOnMesh(name string) bool {
	return slices.ContainsFunc(p.chips, func(m *chip) bool {
		if m.name == name || m.name == none || !p.reaches(m.name, name) {
			return false
		}
		p.enqueue(m)
		return len(m.since) > 0
	})
}

// findModes looks through the file for what holds from its start: aborted functions, and whether it is a plan.
func (p *player) findModes(nodes []node) {
	p.aborted, p.inside = map[int64]bool{}, map[int64]int64{}
	var stack []int64
	placed, zero, executed := 0, true, false
	for _, n := range nodes {
		switch {
		case n.kind == "function_start":
			stack = append(stack, n.counter)
		case n.kind == "function_end" && len(stack) > 0:
			if aborted, _ := n.flag("aborted"); aborted || n.hidden {
				p.aborted[stack[len(stack)-1]] = true
			}
			stack = stack[:len(stack)-1]
		case n.kind == "program_execution":
			executed = true
		case isPlaced(n.kind) && !n.hidden:
			placed++
			zero = zero && n.number("address") == 0
			if len(stack) > 0 {
				p.inside[n.counter] = stack[len(stack)-1]
			}
		}
	}
	p.plan = placed > 0 && zero && !executed
}

// wasAborted says whether the function that is innermost at a counter was ended by an exception.
func (p *player) wasAborted(at int64) bool {
	start, ok := p.inside[at]
	return ok && p.aborted[start]
}

// hideRest adds the codes that are known at the end only.
func (p *player) hideRest(nodes []node) {
	p.hide("no-nodes", len(nodes) == 0)
	p.hide("no-runs", p.out.Runs == 0)
	p.hide("unfinished", len(p.stack) > 0)
	p.out.FreeAgain = p.past.again
	for range p.past.unplaced {
		p.hide("buffer-unplaced", true)
	}
	bytes := false
	for i, n := range nodes {
		p.hide("buffer-unplaced", n.kind == "buffer" && !n.hidden && n.bufferKind() == "" && !allocatedNext(nodes, i))
		p.hide("operation-failed", n.kind == "error")
		p.hide("bad-device-tensors", n.kind == "tensor" && n.badMembers())
		if isPlaced(n.kind) && !n.hidden {
			b := n.buffer()
			p.hide("unattributed", b.local && len(b.cores) == 0)
			bytes = bytes || b.local && b.logical() > 0
		}
	}
	for range p.apart() {
		p.hide("apart", bytes)
	}
	for range p.ids.collided {
		p.hide("id-collision", true)
	}
	p.hide("earlier", bytes && p.hidEarlier())
}

// allocatedNext says whether the node behind a buffer node is its allocation.
func allocatedNext(nodes []node, i int) bool {
	return i+1 < len(nodes) && nodes[i+1].kind == "buffer_allocate" && slices.Contains(nodes[i+1].connections, nodes[i].counter)
}

// hidEarlier reports whether something was enqueued beside a buffer without a known place.
func (p *player) hidEarlier() bool {
	return slices.ContainsFunc(p.past.hidden, func(l life) bool {
		return slices.ContainsFunc(p.out.Verdicts, func(v Verdict) bool { return v.At < l.to && p.reaches(l.owner, v.Device) })
	})
}

// apart counts the ids with L1 buffers that no check covered, though they may be where programs ran.
func (p *player) apart() (n int) {
	owners := map[string]bool{}
	for _, l := range slices.Concat(p.past.lives, p.past.hidden) {
		owners[l.owner] = owners[l.owner] || l.kind == "L1"
	}
	for _, a := range p.past.earlier {
		owners[a.owner] = owners[a.owner] || a.kind == "L1"
	}
	ran := func(is func(name string) bool) bool {
		return slices.ContainsFunc(p.chips, func(c *chip) bool { return c.ran && is(c.name) })
	}
	for owner, own := range owners {
		known := len(p.ids.chipsOf[owner]) > 0 || ran(func(name string) bool { return name == owner })
		onMesh := ran(func(name string) bool { return name != none && p.reaches(name, owner) })
		some := ran(func(string) bool { return true })
		unnamed := ran(func(name string) bool { return name == none })
		other := owner == p.ids.mayBeMesh && ran(func(name string) bool { return name != owner })
		if own && owner != none && (unnamed || other || some && !known && (!p.ids.isChip(owner) || onMesh)) {
			n++
		}
	}
	return n
}

package oracle

import "slices"

// Pages that outlive programs lie at the bottom of L1 and lift the CBs above them. A capture shows that on a device where it
// records an L1 buffer that ends below all CBs of a program whose CBs are all recorded. If other CBs of the file have no address,
// these would be placed too low, on every device that has a buffer of that id, and it is not known whether they fit. Nor is it known
// whether tt-metal compares a program with a buffer below it.

// bottom keeps the recorded addresses at the bottom of L1, of the whole file.
type bottom struct {
	ends   map[string]uint64 // by owner: the lowest end of a recorded L1 buffer
	starts map[string]uint64 // by device: the highest start of a recorded program
	mixed  bool              // a CB has no address
}

// sawBuffer records the end of a new buffer.
func (p *player) sawBuffer(a *alloc) {
	if a.kind != "L1" || !a.recorded || !a.placed || a.end == a.start {
		return
	}
	if end, ok := p.bottom.ends[a.owner]; !ok || a.end < end {
		p.bottom.ends[a.owner] = a.end
	}
}

// sawProgram records the start of a program, by the addresses of the file.
func (p *player) sawProgram(c *chip, run []*buffer) {
	if slices.ContainsFunc(run, func(b *buffer) bool { return b.local && b.addr == 0 }) {
		p.bottom.mixed = true
	} else if start := lowestStart(run); start < forEver {
		p.bottom.starts[c.name] = max(p.bottom.starts[c.name], start)
	}
}

// lowestStart is where the bytes of some buffers begin.
func lowestStart(group []*buffer) uint64 {
	start := uint64(forEver)
	for _, b := range group {
		if b.local && b.logical() > 0 {
			start = min(start, b.addr)
		}
	}
	return start
}

// lifters are the ids with a buffer that ends below a program on a device that has it.
func (p *player) lifters() map[string]bool {
	out := map[string]bool{}
	if !p.bottom.mixed {
		return out
	}
	for owner, end := range p.bottom.ends {
		for device, start := range p.bottom.starts {
			if p.reaches(owner, device) && end <= start {
				out[owner] = true
			}
		}
	}
	return out
}

// onPages says whether persistent pages lie on a device.
func (p *player) onPages(c *chip) bool {
	for owner := range p.lifted {
		if p.reaches(owner, c.name) {
			return true
		}
	}
	return false
}

// uncertain reports whether some addresses of a program are unknown: its CBs were placed on a
// device with persistent pages.
func (p *player) uncertain(c *chip, run program) bool {
	return p.onPages(c) && slices.ContainsFunc(run.stated, func(b *buffer) bool { return b.local && b.addr == 0 })
}

// fromBelow says whether all that is against some buffers of a program on a device with persistent pages is a buffer below them.
func (p *player) fromBelow(c *chip, v Verdict, group []*buffer) bool {
	above := func(r Refusal) bool { return r.Kind != "clash" || r.Limit >= lowestStart(group) }
	return p.onPages(c) && len(v.Clash) == 0 && len(v.Refusals) > 0 && !slices.ContainsFunc(v.Refusals, above)
}

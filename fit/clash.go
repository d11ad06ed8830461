package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Our check, by the bytes of each core.

// clashes returns the cores of a site on which bytes of p clash, by first core.
func (at *site) clashes(p *program.Program) (out []Clash) {
	for _, t := range at.tiles(partsOf(p)) {
		if c, ok := t.clash(p, at); ok {
			out = append(out, c)
		}
	}
	return out
}

// clash looks for bytes of p on a tile that are beyond L1 or that others hold.
func (t *tile) clash(p *program.Program, at *site) (c Clash, ok bool) {
	size := at.Spec.L1Size
	c = Clash{Device: at.Device, Devices: at.Devices, Cores: t.cores, End: t.own[len(t.own)-1].End, Limit: math.MaxUint64}
	blocked := t.taken
	if size > 0 {
		blocked = l1.Merge(append(slices.Clone(blocked), l1.Range{Start: size, End: l1.MaxAddr}))
	}
	if c.Bytes = shared(t.own, blocked...); c.Bytes == 0 {
		return c, false
	}
	if size > 0 && c.End > size {
		c.Limit, c.Grows = size, true
	}
	for _, h := range t.held { // not merged: what lies right below one is not in the way
		if h.Range.Start < c.Limit && slices.ContainsFunc(t.own, h.Range.Overlaps) {
			c.Limit, c.Grows = h.Range.Start, false
		}
	}
	core, _ := t.cores.First()
	c.CBs = largest(p, func(_ int, cb program.Placed) bool { return !cb.Range.IsEmpty() && cb.Cores.Cores().Has(core) })
	c.Above = t.above(min(c.Limit, t.own[0].Start))
	c.Holes = t.holes(c.Limit, at.Spec)
	return c, true
}

// shared returns how many bytes merged ranges share with other merged ones.
func shared(own []l1.Range, with ...l1.Range) (n uint64) {
	for _, o := range with {
		for _, r := range own {
			n += r.Intersect(o).Len()
		}
	}
	return n
}

// largest returns the local buffers of a program that are meant, the largest first.
func largest(p *program.Program, meant func(i int, cb program.Placed) bool) (out []int) {
	for i, cb := range p.CBs() {
		if !cb.Global && meant(i, cb) {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(p.CB(b).Size, p.CB(a).Size) })
	return out
}

// above returns the buffers of a tile that end above an address, the largest first; of
// equals by address, then kind.
func (t *tile) above(addr uint64) (out []Resident) {
	out = make([]Resident, 0, len(t.held))
	for _, h := range t.held {
		if h.Range.End > addr && !h.Range.IsEmpty() {
			out = append(out, h.resident())
		}
	}
	slices.SortStableFunc(out, func(a, b Resident) int {
		return cmp.Or(cmp.Compare(b.Range.Len(), a.Range.Len()), a.Range.Compare(b.Range), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

func (h *held) resident() Resident {
	return Resident{Kind: h.buffer.Kind, Range: h.Range, CB: -1, Buffer: *h.buffer}
}

// holes returns the free bytes between the base and the end of usable L1 that a
// program whose way ends at limit cannot use.
func (t *tile) holes(limit uint64, spec l1.Spec) (out []Hole) {
	for _, gap := range t.gaps(spec) {
		why := "above what is in the way: circular buffers grow from the base up and cannot pass it"
		switch {
		case gap.End <= t.own[0].Start:
			why = "below the program's buffers: their address is that of all their cores"
		case gap.End <= t.own[len(t.own)-1].End && gap.Start < limit:
			why = "between the program's buffers: placement goes on above the last one and does not go back"
		}
		out = append(out, Hole{gap, why})
	}
	return out
}

// inTheWay returns the buffer that starts at the limit; the end of L1 is none.
func (c *Clash) inTheWay() (b Buffer, ok bool) {
	for _, r := range c.Above {
		if r.Range.Start == c.Limit && !c.Grows {
			return r.Buffer, true
		}
	}
	return b, false
}

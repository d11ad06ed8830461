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
	mine := layersOf(p)
	if len(mine) == 0 {
		return nil
	}
	for _, t := range tiles(slices.Concat(mine, at.layers)) {
		c, ok := t.clash(p, at.Spec)
		if !ok {
			continue
		}
		c.Device, c.Devices = at.Device, at.devices()
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Clash) int { return a.Cores.CompareFirst(b.Cores) })
	return out
}

// clash looks for bytes of p on a tile that are beyond L1 or that others hold.
func (t *tile) clash(p *program.Program, spec l1.Spec) (c Clash, ok bool) {
	own, others := t.divide()
	if len(own) == 0 {
		return c, false
	}
	blocked := slices.Clone(others)
	if spec.L1Size > 0 {
		blocked = append(blocked, l1.Range{Start: spec.L1Size, End: l1.MaxAddr})
	}
	c = Clash{Cores: t.cores, End: own[len(own)-1].End, Limit: math.MaxUint64}
	for _, b := range l1.Merge(blocked) {
		for _, r := range own {
			if shared := r.Intersect(b); !shared.IsEmpty() {
				c.Bytes += shared.Len()
			}
		}
	}
	if c.Bytes == 0 {
		return c, false
	}
	if spec.L1Size > 0 && c.End > spec.L1Size {
		c.Limit, c.Grows = spec.L1Size, true
	}
	for _, y := range t.layers {
		if y.buffer == nil {
			continue
		}
		for _, b := range y.ranges { // not merged: what lies right below one is not in the way
			if b.Start < c.Limit && slices.ContainsFunc(own, b.Overlaps) {
				c.Limit, c.Grows = b.Start, false
			}
		}
	}
	core, _ := t.cores.First()
	cbs := map[int]uint64{}
	for i, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Cores().Has(core) {
			c.CBs, cbs[i] = append(c.CBs, i), cb.Size
		}
	}
	slices.SortStableFunc(c.CBs, func(a, b int) int { return cmp.Compare(cbs[b], cbs[a]) })
	c.Above = t.above(min(c.Limit, own[0].Start))
	c.Holes = holes(own, others, c.Limit, spec)
	return c, true
}

// above returns the buffers of a tile that end above an address, the largest first; of
// equals by address, then kind.
func (t *tile) above(addr uint64) (out []Resident) {
	stays := func(y *layer, r l1.Range) bool { return y.buffer != nil && r.End > addr && !r.IsEmpty() }
	n := 0
	for i := range t.layers {
		for _, r := range t.layers[i].ranges {
			if stays(&t.layers[i], r) {
				n++
			}
		}
	}
	out = slices.Grow(out, n)
	for _, y := range t.layers {
		for _, r := range y.ranges {
			if stays(&y, r) {
				out = append(out, Resident{Kind: y.buffer.Kind, Range: r, CB: -1, Buffer: y.buffer.Plain()})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Resident) int {
		return cmp.Or(cmp.Compare(b.Range.Len(), a.Range.Len()), a.Range.Compare(b.Range), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// holes returns the free bytes between the base and the end of usable L1 that a
// program whose way ends at limit cannot use.
func holes(own, others []l1.Range, limit uint64, spec l1.Spec) (out []Hole) {
	end := own[len(own)-1].End
	for _, gap := range gaps(l1.Merge(slices.Concat(own, others)), spec) {
		why := "above what is in the way: circular buffers grow from the base up and cannot pass it"
		switch {
		case gap.End <= own[0].Start:
			why = "below the program's buffers: their address is that of all their cores"
		case gap.End <= end && gap.Start < limit:
			why = "between the program's buffers: placement goes on above the last one and does not go back"
		}
		out = append(out, Hole{gap, why})
	}
	return out
}

// gaps returns the free ranges between the base of circular buffers and the end of
// usable L1; taken is merged.
func gaps(taken []l1.Range, spec l1.Spec) (out []l1.Range) {
	free := spec.Usable()
	for _, r := range taken {
		if r.Start > free.Start && !free.IsEmpty() {
			out = append(out, l1.Range{Start: free.Start, End: min(r.Start, free.End)})
		}
		free.Start = max(free.Start, r.End)
	}
	if !free.IsEmpty() {
		out = append(out, free)
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

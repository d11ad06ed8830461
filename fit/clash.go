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
	if !at.blocks(rangesOf(p)) {
		return nil
	}
	for _, t := range at.tiles(partsOf(p)) {
		if c := t.clash(at); c.Bytes > 0 {
			out = append(out, c)
		}
	}
	return out
}

// clash counts the bytes of a program on a tile that are beyond L1 or that others hold.
func (t *tile) clash(at *site) Clash {
	c := Clash{Device: at.Device, Devices: at.Devices, Cores: t.cores, End: t.own[len(t.own)-1].End, Limit: math.MaxUint64}
	var beyond []l1.Range
	if size := at.Spec.L1Size; size > 0 {
		beyond = append(beyond, l1.Range{Start: size, End: l1.MaxAddr})
		if c.End > size {
			c.Limit, c.Grows = size, true
		}
	}
	c.Bytes = shared(t.own, t.taken(beyond...)...)
	for _, h := range t.held { // not merged: what lies right below one is not in the way
		if h.Range.Start < c.Limit && slices.ContainsFunc(t.own, h.Range.Overlaps) {
			c.Limit, c.Grows = h.Range.Start, false
		}
	}
	return c
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

// tile returns the residents of the cores of a clash, and the site. A clash of another verdict may
// have nothing.
func (v *Verdict) tile(c Clash) (t tile, at *site) {
	if v.Program == nil || len(v.judged) == 0 {
		return t, &site{}
	}
	at = v.judged.at(c.Device)
	all, part := at.beside(partsOf(v.Program)), l1.Tile{Cores: c.Cores}
	for i, h := range all {
		if h.Cores.Overlaps(c.Cores) {
			part.In = append(part.In, i)
		}
	}
	return tileOf(part, all), at
}

// Own returns the program's buffers on the cores of one of its clashes, the largest first.
func (v Verdict) Own(c Clash) (out []Resident) {
	if v.Program == nil {
		return nil
	}
	for i, cb := range v.Program.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.On.Overlaps(c.Cores) {
			out = append(out, Resident{Kind: Kind(cb.Kind), Range: cb.Range, Program: v.Program, CB: i})
		}
	}
	slices.SortStableFunc(out, func(a, b Resident) int { return cmp.Compare(b.Range.Len(), a.Range.Len()) })
	return out
}

// Above returns everything else on the cores of one of the clashes that ends above its Limit or the
// lowest buffer of the program there, the largest first; of equals by address, then kind. Each call
// scans all buffers of the device.
func (v Verdict) Above(c Clash) (out []Resident) {
	t, _ := v.tile(c)
	for _, h := range t.held {
		if !h.Range.IsEmpty() && (h.Range.End > c.Limit || len(t.own) > 0 && h.Range.End > t.own[0].Start) {
			out = append(out, h.resident())
		}
	}
	slices.SortStableFunc(out, func(a, b Resident) int {
		return cmp.Or(cmp.Compare(b.Range.Len(), a.Range.Len()), a.Range.Compare(b.Range), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

func (h piece) resident() Resident {
	return Resident{Kind: h.buffer.Kind, Range: h.Range, CB: -1, Buffer: *h.buffer}
}

// Holes returns the free bytes between the base and the end of usable L1, on the cores of one of the
// clashes, that the program cannot use. Each call scans all buffers of the device.
func (v Verdict) Holes(c Clash) (out []Hole) {
	t, at := v.tile(c)
	if len(t.own) == 0 {
		return nil
	}
	for _, gap := range t.gaps(at.Spec) {
		why := "above what is in the way: circular buffers grow from the base up and cannot pass it"
		switch {
		case gap.End <= t.own[0].Start:
			why = "below the program's buffers: their address is that of all their cores"
		case gap.End <= c.End && gap.Start < c.Limit:
			why = "between the program's buffers: placement goes on above the last one and does not go back"
		}
		out = append(out, Hole{gap, why})
	}
	return out
}

// inTheWay returns the buffer that starts at the limit of a clash; the end of L1 is none.
func (v *Verdict) inTheWay(c Clash) (b Buffer, ok bool) {
	for _, r := range v.Above(c) {
		if r.Range.Start == c.Limit && !c.Grows {
			return r.Buffer, true
		}
	}
	return b, false
}

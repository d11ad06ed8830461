package program

import (
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// After makes the program begin with the CBs of p, as a longer form of p does, and returns b, which must have no CBs
// yet. Where it can, Build places the others alone: p has the same Spec and cut, there are no bases, indices and CBs
// without bytes or cores, all CBs are circular buffers, and those of p name all core range sets. Cost then: O(1) for
// each CB of p, and O(core range sets and groups of p) for each of the others.
func (b *Builder) After(p *Program) *Builder {
	b.after = p
	return b
}

// whole returns a Builder with all CBs of its own.
func (b *Builder) whole() *Builder {
	all, n := *b, b.after.Len()
	all.after, all.cbs, all.wrong = nil, make([]CB, n, n+len(b.cbs)), map[int]error{}
	for i := range n {
		all.cbs[i] = b.after.cb(i)
	}
	all.cbs = append(all.cbs, b.cbs...)
	for i, err := range b.wrong {
		all.wrong[n+i] = err
	}
	return &all
}

// longer returns the program from its shorter form, or nil.
func (b *Builder) longer(spec l1.Spec) *Program {
	o := b.after
	was, n := o.kinds[CircularBuffer], o.Len()
	odd := func(cb stored) bool { return cb.size == 0 || cb.kind != CircularBuffer } // the end of an entry may lie above its marks
	if *o.spec != spec || o.written != b.written || len(o.bases)+len(b.bases) > 0 || o.indices != nil || was == nil ||
		slices.ContainsFunc(o.cbs, odd) || len(b.check(spec)) > 0 {
		return nil
	}
	more, now := make([]stored, len(b.cbs)), *was
	for i := range b.cbs {
		cb := &b.cbs[i]
		set := slices.IndexFunc(o.sets, cb.Cores.Equal)
		if set < 0 || cb.Kind != CircularBuffer || cb.Size == 0 || cb.Cores.Len() == 0 || len(cb.Indices) > 0 {
			return nil
		}
		more[i] = cb.stored()
		more[i].set = int32(set)
	}
	p := &Program{id: b.id, name: b.name, written: b.written, spec: o.spec, sets: o.sets, on: o.on, cores: o.cores, cbs: o.cbs}
	if !o.longer.CompareAndSwap(false, true) {
		p.cbs = slices.Clip(p.cbs)
	}
	p.cbs = append(p.cbs, more...)
	shapes := make([]shape, len(p.sets))
	for k, set := range p.sets {
		shapes[k] = p.newShape(set)
	}
	l, k, marked := p.open(shapes, []Kind{CircularBuffer}), 0, []int32{-1}
	for _, e := range was.entries { // in the order of the ledger
		for l.rects[k] != e.Cores {
			k++
		}
		l.ends[k], l.marks[k].in = e.End, marked
	}
	for i := n; i < len(p.cbs); i++ {
		cb := &p.cbs[i]
		on := &shapes[cb.set].site
		if cb.global && !cb.fixed {
			continue
		}
		if p.put(i, l, on, i) != nil {
			return nil
		}
		if !cb.global && !(now.occupied.add(on.cores, cb.at(), true) && now.reserved.add(l.on(i), cb.at(), false)) {
			return nil
		}
	}
	if l.apart && now.occupied.bytes == now.occupied.sizes {
		now.reserved = now.occupied.uncounted()
	}
	now.entries = l.marked()
	p.kinds[CircularBuffer] = &now
	return p
}

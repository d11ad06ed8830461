package program

import "slices"

// With returns the program of the CBs of o and, behind them, others, which it places alone: o stays as it is. ok is
// false where only Build can place them or refuse them: o has bases, indices, or a CB that takes no bytes, a CB is no
// circular buffer, or one of the others has core ranges that o does not have. Cost: O(core range sets and groups of o)
// for each of the others. A run that grows over 4,250 operations takes 3 times the CPU if each form is placed from its
// first CB on.
func (o *Program) With(id ID, name string, others ...CB) (p *Program, ok bool) {
	b := &Builder{id: id, name: name, cbs: others}
	was, n := o.kinds[CircularBuffer], o.Len()
	odd := func(cb stored) bool { return cb.size == 0 || cb.kind != CircularBuffer } // without a byte it raises an end without a mark
	if len(o.bases) > 0 || o.indices != nil || was == nil || !o.even && slices.ContainsFunc(o.cbs, odd) || len(b.check(*o.spec)) > 0 {
		return nil, false
	}
	more, now := make([]stored, len(others)), *was
	for i := range others {
		cb := &others[i]
		set := slices.IndexFunc(o.sets, cb.Cores.Equal)
		if set < 0 || cb.Kind != CircularBuffer || cb.Size == 0 || cb.Cores.Len() == 0 || len(cb.Indices) > 0 {
			return nil, false
		}
		more[i] = cb.stored()
		more[i].set = int32(set)
	}
	p = &Program{id: id, name: name, written: o.written, spec: o.spec, sets: o.sets, on: o.on, cores: o.cores, cbs: o.cbs, even: true}
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
			return nil, false
		}
		if !cb.global && !(now.occupied.add(on.cores, cb.at(), true) && now.reserved.add(l.on(i), cb.at(), false)) {
			return nil, false
		}
	}
	if l.apart && now.occupied.bytes == now.occupied.sizes {
		now.reserved = now.occupied.uncounted()
	}
	now.entries = l.marked()
	p.kinds[CircularBuffer] = &now
	return p, true
}

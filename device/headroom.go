package device

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Headroom says how much room circular buffers have on some cores.
type Headroom struct {
	Device  ID  // the first of them
	Devices int // with the same buffers
	Cores   l1.CoreSet

	End  uint64   // where the region of the circular buffers ends
	Free uint64   // bytes from End to what lives above, or to the end of usable L1 (below L1_SMALL); 0 if something lies lower
	Gap  l1.Range // the largest run of free bytes above the base, the lowest of equals
}

// Headroom returns the room that p has on its cores of the devices of s, beside what
// lives in L1 now; cores with the same figures are together, by device, then first
// core. If p is nil it is about what is registered, all programs at once. Devices
// whose L1 size is not known have room up to 2^63-1.
//
// Errors, the first that applies: ErrForeignSet; ErrNoDevice for a removed device;
// *SpecError for a program built for another Spec.
func (f *Fleet) Headroom(p *program.Program, s Set) ([]Headroom, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if p != nil {
		places, err := f.places(p, s)
		var out []Headroom
		for i := range places {
			out = append(out, places[i].headroom(appendProgram(nil, p))...)
		}
		return out, err
	}
	if err := f.check(s); err != nil || s.s == nil {
		return nil, err
	}
	type together struct {
		state *state
		place
	}
	var groups []together
next:
	for slot := range s.s.slots.all() {
		c := f.slots[slot]
		for i := range groups {
			if o := &groups[i]; o.state == c.group.state && o.spec == c.spec && o.heap == c.heap() {
				o.devices++
				o.first = min(o.first, c.id)
				continue next
			}
		}
		groups = append(groups, together{c.group.state, place{c.spec, c.heap(), c.id, 1}})
	}
	slices.SortFunc(groups, func(a, b together) int { return cmp.Compare(a.first, b.first) })
	var out []Headroom
	for i := range groups {
		g := &groups[i]
		slot, _ := f.find(g.first)
		var mine []layer
		for _, c := range f.view(g.state, slot).occupied.classes {
			mine = append(mine, layer{kind: CB, cores: c.cores, ranges: slices.Collect(c.covered.Regions())})
		}
		out = append(out, g.headroom(mine)...)
	}
	return out, nil
}

// headroom returns the room of what a program's layers hold.
func (at *place) headroom(mine []layer) (out []Headroom) {
	for _, t := range tiles(appendHeap(mine, at.heap)) {
		own, others := t.divide()
		if len(own) == 0 {
			continue
		}
		h := Headroom{Device: at.first, Devices: at.devices, Cores: t.cores, End: own[len(own)-1].End}
		above := at.spec.Usable().End
		for _, r := range others {
			if r.End > own[0].Start {
				above = min(above, r.Start)
			}
		}
		if above > h.End {
			h.Free = above - h.End
		}
		for _, gap := range gaps(l1.Merge(slices.Concat(own, others)), at.spec) {
			if gap.Len() > h.Gap.Len() {
				h.Gap = gap
			}
		}
		same := slices.IndexFunc(out, func(o Headroom) bool { return o.End == h.End && o.Free == h.Free && o.Gap == h.Gap })
		if same >= 0 {
			out[same].Cores = out[same].Cores.Union(h.Cores)
			continue
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b Headroom) int { return first(a.Cores).Compare(first(b.Cores)) })
	return out
}

// MayGrow returns by how many bytes the size of a CB of p may grow so that the
// program, laid out anew, still fits on the devices of s: growing by that much fits,
// growing by one step more does not. (Placement is not monotone: where it passes over
// a range that is "already marked higher" some growth in between may not fit.) A step is one byte or, where page sizes are
// known, the smallest number of bytes that keeps the size a multiple of all of them.
// ok is false if p does not fit as it is, or the CB is global and takes nothing.
//
// Errors, the first that applies: ErrNoProgram; *program.CBError if there is no such
// CB; those of Check. Cost: some forty layouts of the program.
func (f *Fleet) MayGrow(p *program.Program, cb int, s Set) (bytes uint64, ok bool, err error) {
	if p == nil {
		return 0, false, ErrNoProgram
	}
	size, global, alias := uint64(0), true, 0
	for i, placed := range p.CBs() {
		if i == cb {
			size, global, alias = placed.Size, placed.Global, placed.Alias
		}
	}
	step := uint64(1)
	for i, placed := range p.CBs() {
		if i != cb && (alias == 0 || placed.Alias != alias) { // which change with it
			continue
		}
		for _, index := range placed.Indices {
			if index.PageSize > 0 {
				step = lcm(step, index.PageSize)
			}
		}
	}
	if _, err := p.Resize(cb, size); err != nil {
		return 0, false, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	places, err := f.places(p, s)
	if err != nil || global {
		return 0, false, err
	}
	fits := func(steps uint64) bool {
		next, err := p.Resize(cb, size+steps*step)
		return err == nil && judge(next, places).Fits()
	}
	if !fits(0) {
		return 0, false, nil
	}
	low, high := uint64(0), (l1.MaxAddr-size)/step+1 // beyond every address
	// The end of L1, not of what is usable: L1_SMALL may have no buffers.
	if most := p.Spec().L1Size; most > size {
		if n := (most-size)/step + 1; !fits(n) { // without devices it does
			high = n
		}
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low * step, true, nil
}

// lcm returns the least common multiple, or 2^63-1 if it is larger.
func lcm(a, b uint64) uint64 {
	g, r := a, b
	for r != 0 {
		g, r = r, g%r
	}
	if a/g > l1.MaxAddr/b {
		return l1.MaxAddr
	}
	return a / g * b
}

package model

import (
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Headroom is the room on one core.
type Headroom struct {
	Device  uint64 // the first of those with the same buffers
	Devices int
	Core    l1.Core
	End     uint64   // of the region
	Free    uint64   // bytes from it or the base to what lives above, or to the end of usable L1
	Gap     l1.Range // longest run of free bytes above the base in whole steps of buffers, the lowest of equals
}

// Headroom returns the room on every core where a program has bytes; by device, then core. A nil
// program stands for all registered ones.
func (f *Fleet) Headroom(p *program.Program, ids []uint64) ([]Headroom, error) {
	if p == nil {
		return f.registeredHeadroom(ids)
	}
	devices, err := f.find(ids)
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		if !d.spec.Places(p.Spec()) {
			return nil, ErrSpec
		}
	}
	var out []Headroom
	pic := Paint(p)
	for _, at := range alikes(devices, func(*device, *device) bool { return true }) {
		for _, c := range sortedCores(pic.named) {
			if own := pic.all(c); !own.empty() {
				out = append(out, room(at, c, own))
			}
		}
	}
	return out, nil
}

// registeredHeadroom returns the room over all registered programs on every core of the grid, or on
// every core in use if there is no grid; by device, then core.
func (f *Fleet) registeredHeadroom(ids []uint64) ([]Headroom, error) {
	devices, err := f.find(ids)
	if err != nil {
		return nil, err
	}
	var out []Headroom
	same := func(a, b *device) bool { return slices.Equal(f.ProgramsOn(a.id), f.ProgramsOn(b.id)) }
	for _, at := range alikes(devices, same) {
		own := f.occupied(at.device)
		cores := map[l1.Core]bool{}
		maps.Copy(cores, covered(at.spec.Grid()))
		for _, a := range at.live {
			for c := range a.starts() {
				cores[c] = true
			}
		}
		for c, s := range own {
			if s.count() > 0 {
				cores[c] = true
			}
		}
		for _, c := range sortedCores(cores) {
			out = append(out, room(at, c, own[c]))
		}
	}
	return out, nil
}

func room(at *alike, core l1.Core, own byteSet) Headroom {
	h := Headroom{Device: at.id, Devices: at.n, Core: core, End: own.end()}
	from := own.start()
	if own.empty() {
		from, h.End = at.spec.CBBase, at.spec.CBBase
	}
	above := at.spec.Usable().End
	var all byteSet
	var unsized []uint64 // where buffers begin whose ends are not known
	all.unite(own)
	for _, a := range at.live {
		for _, r := range a.residents(core) {
			all.paint(r.Range)
			if r.Range.End > from {
				above = min(above, r.Range.Start)
			}
		}
		if start, ok := a.starts()[core]; ok && a.Unsized {
			unsized = append(unsized, start)
			if start >= from {
				above = min(above, start)
			}
		}
	}
	if low := max(h.End, at.spec.CBBase); above > low {
		h.Free = above - low
	}
	for _, gap := range free(at.spec, all) {
		for _, start := range unsized {
			if gap.Has(start) {
				gap.End = start
			}
		}
		for step := max(at.spec.L1Align, at.spec.CBAlign, 1); gap.Start < gap.End; gap.Start++ {
			if gap.Start%step == 0 { // as a buffer begins
				gap.End -= gap.End % step
				break
			}
		}
		if gap.End > gap.Start && gap.End-gap.Start > h.Gap.End-h.Gap.Start {
			h.Gap = gap
		}
	}
	return h
}

// MayGrow returns by how many bytes a CB of p may grow before it fits no more, or ends
// above usable L1, byte by byte. ok is false if it does not fit as it is, or takes nothing. Where there is no end
// of L1, or no device, it does not return.
func (f *Fleet) MayGrow(p *program.Program, cb int, ids []uint64) (bytes uint64, ok bool, err error) {
	v, err := f.Check(p, ids)
	if err != nil {
		return 0, false, err
	}
	size := uint64(0)
	for i, placed := range p.CBs() {
		if i == cb {
			if placed.Global {
				return 0, false, nil
			}
			size = placed.Size
		}
	}
	if !v.Fits() {
		return 0, false, nil
	}
	for bytes = 0; bytes < most; bytes++ {
		next, err := p.Resize(cb, size+bytes+1)
		if err != nil {
			break
		}
		if v, _ := f.Check(next, ids); !v.Fits() || f.AboveUsable(p, next, ids) {
			break
		}
	}
	return bytes, true, nil
}

// AboveUsable reports whether a local CB ends above the usable L1 of some devices, and higher than
// the same CB of the earlier program.
func (f *Fleet) AboveUsable(was, is *program.Program, ids []uint64) bool {
	usable := is.Spec().Usable().End
	for i, id := range ids {
		spec, _ := f.Spec(id) // it is there
		if end := spec.Usable().End; i == 0 || end < usable {
			usable = end
		}
	}
	ends := map[int]uint64{}
	for i, cb := range was.CBs() {
		ends[i] = cb.Range.End
	}
	for i, cb := range is.CBs() {
		if !cb.Global && cb.Range.End > usable && cb.Range.End > ends[i] {
			return true
		}
	}
	return false
}

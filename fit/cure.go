package fit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Cures that an advice may name. Each is carried out on a copy, and judged again.

// maxShrunk is how many buffers of a program are tried, those with the most to give first.
// Each costs two layouts, and the one that is found some forty more.
const maxShrunk = 32

// maxFreed is how often buffers are freed, in thought, that the program meets next.
const maxFreed = 4

// placesOf returns the places of sites.
func placesOf(all []site) []Place {
	out := make([]Place, len(all))
	for i := range all {
		out[i] = *all[i].Place
	}
	return out
}

// inside advises to name cores of the grid only.
func (v *Verdict) inside(all []site) string {
	r := v.Refusals[0]
	text := fmt.Sprintf("name cores inside the %dx%d grid only", r.Cols, r.Rows)
	home := at(all, r.Device)
	cores := home.Spec.Grid().Cores().Union(home.claimed)
	b := program.NewBuilder(v.Program.ID()).Like(v.Program)
	for _, cb := range v.Program.CBs() {
		next := cb.CB
		if set := next.Cores.Cores(); !cores.Contains(set) {
			next.Cores = set.Intersect(cores).Ranges()
		}
		b.CB(next)
	}
	if next, err := b.Build(v.Program.Spec()); err != nil || !NewOutline(placesOf(all)...).Fits(next) {
		return text + ", which is not enough"
	}
	return text
}

// most returns the bytes by which the worst region is too large.
func (v *Verdict) most() uint64 {
	over := v.refusedBy()
	for _, c := range v.Clashes {
		over = max(over, c.Over())
	}
	return over
}

// refusedBy returns the bytes by which the worst region that tt-metal refuses is too large.
func (v *Verdict) refusedBy() (over uint64) {
	for _, r := range v.Refusals {
		over = max(over, r.Over())
	}
	return over
}

// lower advises to lower L1_SMALL. It returns "" if that is not enough.
func (v *Verdict) lower(all []site, s subject) string {
	spec := at(all, s.device).Spec
	over, by := v.most(), max(spec.L1Align, 1)
	over += (by - over%by) % by // L1 buffers move by so many bytes, or more
	if !s.moves || spec.L1Size == 0 || over > spec.L1Small {
		return ""
	}
	to := spec.L1Small - over
	to -= to % max(spec.CBAlign, 1) // tt-metal rounds it up
	places, word := placesOf(all), "at most "
	for i := range places {
		at := &places[i]
		if at.Spec.L1Small != spec.L1Small {
			continue
		}
		if !at.raise(to) {
			return ""
		}
		if slices.ContainsFunc(at.Buffers, func(b Buffer) bool { return b.Kind == KindL1Small && b.Stands() }) {
			word = "" // less may not be enough for them
		}
	}
	if !NewOutline(places...).Fits(v.Program) {
		return ""
	}
	return fmt.Sprintf("lower L1_SMALL from %s to %s%s, which moves every L1 buffer up", grouped(spec.L1Small), word, grouped(to))
}

// raise lowers L1_SMALL of a place, and moves its L1 buffers up by as much. It reports false if
// they meet something there, or if L1_SMALL buffers are left without room.
func (at *Place) raise(small uint64) bool {
	was := at.Spec.Usable().End
	up := at.Spec.L1Small - small
	up -= up % max(at.Spec.L1Align, 1)
	at.Spec.L1Small = small
	end := at.Spec.Usable().End
	at.Buffers = slices.Clone(at.Buffers)
	for i := range at.Buffers {
		b := &at.Buffers[i]
		if b.Kind == KindL1Small {
			for p := range b.All() {
				if b.Stands() && p.Range.Start < end {
					return false
				}
			}
		}
		if !b.tensor() {
			continue
		}
		next := b.Plain()
		for p := range next.All() {
			if p.Range.End > was {
				return false
			}
		}
		if next.single() {
			next.Range = shifted(next.Range, up)
		}
		for j := range next.Parts {
			next.Parts[j].Range = shifted(next.Parts[j].Range, up)
		}
		at.Buffers[i] = next
	}
	return !at.collides()
}

func shifted(r l1.Range, up uint64) l1.Range { return l1.Range{Start: r.Start + up, End: r.End + up} }

// collides reports whether an L1 buffer of the place shares bytes with something else.
func (at *Place) collides() bool {
	for _, t := range tiles(at.beside(nil)) {
		var move, stay []l1.Range
		for _, y := range t.layers {
			if y.buffer.tensor() {
				move = append(move, y.ranges...)
			} else {
				stay = append(stay, y.ranges...)
			}
		}
		move, stay = l1.Merge(move), l1.Merge(stay)
		if total(l1.Merge(slices.Concat(move, stay))) < total(move)+total(stay) {
			return true
		}
	}
	return false
}

func total(ranges []l1.Range) (n uint64) {
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

// free advises to free buffers that are in the way. It returns "" if that is not enough.
func (v *Verdict) free(all []site, s subject) string {
	var gone []called
	rest := *v
	for range maxFreed {
		if s.grows {
			return ""
		}
		met := rest.inTheWay(all, l1.Range{Start: s.limit, End: s.limit + s.over})
		if len(met) == 0 {
			return ""
		}
		gone = append(gone, met...)
		places := placesOf(all)
		for i := range places {
			places[i].Buffers = slices.DeleteFunc(slices.Clone(places[i].Buffers), func(b Buffer) bool {
				return slices.Contains(met, b.called())
			})
		}
		rest, all = judge(v.Program, places)
		if rest.Fits() {
			return "free or move " + namesOf(gone)
		}
		ok := false
		if s, ok = rest.subject(); !ok {
			return ""
		}
	}
	return ""
}

// shrink advises to take bytes off one buffer of the program. If no buffer is enough it says
// how far the largest one helps, and cured is false.
func (v *Verdict) shrink(all []site, s subject) (text string, cured bool) {
	p, known := Replaced(v.Program)
	still := ""
	if !known {
		p, still = v.Program, ", while all others stay in their places"
	}
	places := placesOf(all)
	outline := NewOutline(places...)
	tried := v.shrinkable(s.cbs)
	for _, cb := range tried {
		if mostOff(p, cb)+max(p.Spec().CBAlign, 1) <= v.refusedBy() {
			continue // no region ends lower by more
		}
		if by := outline.mayLose(p, cb, s.over); by > 0 {
			return fmt.Sprintf("take %s bytes off CB %d, which has %s%s", grouped(by), cb, grouped(sizeOf(p, cb)), still), true
		}
	}
	text = fmt.Sprintf("%s bytes are too many, and no single buffer of the program was found to be enough", grouped(s.over))
	if len(tried) == 0 {
		return text, false
	}
	cb := tried[0]
	by := mostOff(p, cb)
	less, err := p.Resize(cb, sizeOf(p, cb)-by)
	if err != nil || by == 0 {
		return text, false
	}
	rest, _ := judge(less, places)
	if s, ok := rest.subject(); ok {
		text += fmt.Sprintf(": with %s bytes off CB %d, which has %s%s, %s are too many", grouped(by), cb, grouped(sizeOf(p, cb)), still, grouped(s.over))
	}
	return text, false
}

// shrinkable returns the buffers to try: those given, then all other local ones, the largest
// first.
func (v *Verdict) shrinkable(given []int) []int {
	sizes := map[int]uint64{}
	var others []int
	for i, cb := range v.Program.CBs() {
		if !cb.Global && cb.Size > 0 && !slices.Contains(given, i) {
			others, sizes[i] = append(others, i), cb.Size
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	out := slices.Concat(given, others)
	return out[:min(maxShrunk, len(out))]
}

// mayLose returns how many bytes less of a buffer are enough for the program to fit on all
// places. It leaves whole pages, and at least one; 0 if that is not enough. Where placement
// passes over a range that is "already marked higher", less may be enough.
func (o Outline) mayLose(p *program.Program, cb int, over uint64) uint64 {
	size, step := sizeOf(p, cb), stepOf(p, cb)
	fits := func(steps uint64) bool {
		next, err := p.Resize(cb, size-steps*step)
		return err == nil && o.Fits(next)
	}
	most := mostOff(p, cb) / step
	low, high := uint64(0), over/step
	if over%step > 0 {
		high++
	}
	if high == 0 || high > most || !fits(high) {
		if high = most; high == 0 || !fits(high) {
			return 0
		}
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high * step
}

// mostOff returns how many bytes a buffer can lose so that it keeps whole pages, and some.
func mostOff(p *program.Program, cb int) uint64 {
	step := stepOf(p, cb)
	return (max(sizeOf(p, cb), 1) - 1) / step * step
}

func sizeOf(p *program.Program, cb int) uint64 {
	for i, placed := range p.CBs() {
		if i == cb {
			return placed.Size
		}
	}
	return 0
}

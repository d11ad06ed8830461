package fit

import (
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

// with returns the sites after a change of each place, whose buffers are its own. ok is false if one
// cannot be changed so.
func (all sites) with(change func(*Place) bool) (out sites, ok bool) {
	for i := range all {
		at := all[i].Place
		at.Buffers = slices.Clone(at.Buffers)
		if !change(&at) {
			return nil, false
		}
		out = append(out, siteOf(at))
	}
	return out, true
}

// inside advises to name cores of the grid only.
func (v *Verdict) inside(all sites) string {
	r := v.Refusals[0]
	text := fmt.Sprintf("name cores inside the %dx%d grid only", r.Cols, r.Rows)
	home := all.at(r.Device)
	cores := home.Spec.Grid().Cores().Union(home.claimed)
	b := program.NewBuilder(v.Program.ID()).Like(v.Program)
	for _, cb := range v.Program.CBs() {
		if set := cb.Cores.Cores(); !cores.Contains(set) {
			cb.Cores = set.Intersect(cores).Ranges()
		}
		b.CB(cb.CB)
	}
	if next, err := b.Build(v.Program.Spec()); err != nil || !all.fit(next) {
		return text + ", which is not enough"
	}
	return text
}

// lower advises to lower L1_SMALL. It returns "" if that is not enough.
func (v *Verdict) lower(all sites) string {
	s, _ := v.subject()
	spec, over := all.at(s.device).Spec, uint64(0)
	for _, r := range v.Refusals {
		over = max(over, r.Over())
	}
	for _, c := range v.Clashes {
		over = max(over, c.Over())
	}
	by := max(spec.L1Align, 1)
	over += (by - over%by) % by // L1 buffers move by so many bytes, or more
	if !s.moves || spec.L1Size == 0 || over > spec.L1Small {
		return ""
	}
	to := spec.L1Small - over
	to -= to % max(spec.CBAlign, 1) // tt-metal rounds it up
	word := "at most "
	next, ok := all.with(func(at *Place) bool {
		if at.Spec.L1Small != spec.L1Small {
			return true
		}
		if slices.ContainsFunc(at.Buffers, func(b Buffer) bool { return b.Kind == KindL1Small && b.Stands() }) {
			word = "" // less may not be enough for them
		}
		return at.raise(to)
	})
	if !ok || !next.fit(v.Program) {
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
	for i := range at.Buffers {
		b := &at.Buffers[i]
		next := *b
		next.Cores, next.Range, next.Parts = l1.CoreSet{}, l1.Range{}, nil
		for p := range b.standing {
			if b.Kind == KindL1Small && p.Range.Start < end || b.Kind.tensor() && p.Range.End > was {
				return false
			}
			p.Range = l1.Range{Start: p.Range.Start + up, End: p.Range.End + up}
			next.Parts = append(next.Parts, p)
		}
		if b.Kind.tensor() {
			*b = next
		}
	}
	return !siteOf(*at).collides()
}

// collides reports whether an L1 buffer shares bytes with something else.
func (at site) collides() bool {
	for _, g := range at.groups {
		var move, stay []l1.Range
		for _, h := range g.held {
			if h.buffer.Kind.tensor() {
				move = append(move, h.Range)
			} else {
				stay = append(stay, h.Range)
			}
		}
		if shared(l1.Merge(move), l1.Merge(stay)...) > 0 {
			return true
		}
	}
	return false
}

// release advises to free buffers that are in the way. It returns "" if that is not enough.
func (v *Verdict) release(all sites) string {
	var gone []called
	rest := *v
	for range maxFreed {
		s, ok := rest.subject()
		if !ok || s.grows {
			return ""
		}
		met := rest.inTheWay(all, l1.Range{Start: s.limit, End: s.limit + s.over})
		if len(met) == 0 {
			return ""
		}
		gone = append(gone, met...)
		all, _ = all.with(func(at *Place) bool {
			at.Buffers = slices.DeleteFunc(at.Buffers, func(b Buffer) bool { return slices.Contains(met, b.called()) })
			return true
		})
		if rest = all.judge(v.Program); rest.Fits() {
			return "free or move " + namesOf(gone)
		}
	}
	return ""
}

// shrink advises to take bytes off one buffer of the program. If no buffer is enough it says
// how far the largest one helps, and cured is false.
func (v *Verdict) shrink(all sites) (text string, cured bool) {
	p, known := Replaced(v.Program)
	still := ""
	if !known {
		p, still = v.Program, ", while all others stay in their places"
	}
	s, _ := v.subject()
	others := largest(p, func(i int, cb program.Placed) bool { return cb.Size > 0 && !slices.Contains(s.cbs, i) })
	cbs := slices.Concat(s.cbs, others)
	off := func(by uint64, cb int) string {
		return fmt.Sprintf("%s bytes off CB %d, which has %s%s", grouped(by), cb, grouped(p.CB(cb).Size), still)
	}
	for _, cb := range cbs[:min(maxShrunk, len(cbs))] {
		if by := all.mayLose(p, cb, s.over); by > 0 {
			return "take " + off(by, cb), true
		}
	}
	text = fmt.Sprintf("%s bytes are too many, and no single buffer of the program was found to be enough", grouped(s.over))
	if len(cbs) == 0 {
		return text, false
	}
	by := mostOff(p, cbs[0])
	less, err := p.Resize(cbs[0], p.CB(cbs[0]).Size-by)
	if err != nil || by == 0 {
		return text, false
	}
	rest := all.judge(less)
	if s, ok := rest.subject(); ok {
		text += fmt.Sprintf(": with %s, %s are too many", off(by, cbs[0]), grouped(s.over))
	}
	return text, false
}

// mayLose returns how many bytes less of a buffer are enough for the program to fit on all
// sites. It leaves whole pages, and at least one; 0 if that is not enough. Where placement
// passes over a range that is "already marked higher", less may be enough.
func (all sites) mayLose(p *program.Program, cb int, over uint64) uint64 {
	size, step := p.CB(cb).Size, stepOf(p, cb)
	fails := func(steps uint64) bool {
		next, err := p.Resize(cb, size-steps*step)
		return err != nil || !all.fit(next)
	}
	most := mostOff(p, cb) / step
	high := over / step
	if over%step > 0 {
		high++
	}
	if high == 0 || high > most || fails(high) {
		if high = most; high == 0 || fails(high) {
			return 0
		}
	}
	return (last(0, high, fails) + 1) * step
}

// mostOff returns how many bytes a buffer can lose so that it keeps whole pages, and some.
func mostOff(p *program.Program, cb int) uint64 {
	step := stepOf(p, cb)
	return (max(p.CB(cb).Size, 1) - 1) / step * step
}

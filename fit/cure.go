package fit

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Cures that an advice may name. Each is carried out on a copy, and judged again.

// maxShrunk is how many buffers of a program are tried, first the ones with the most bytes to give.
// Each costs two layouts, and the one that is found some forty more.
const maxShrunk = 32

// maxFreed bounds how many buffers an advice frees on trial.
const maxFreed = 4

// with returns copies of the sites, after a change of each place.
func (all sites) with(change func(*Place)) sites {
	places := make([]Place, len(all))
	for i := range all {
		places[i] = all[i].Place
		places[i].Buffers = slices.Clone(places[i].Buffers)
		change(&places[i])
	}
	return sitesOf(places)
}

// inside advises to name cores of the grid only.
func (v *Verdict) inside() string {
	r := v.Refusals[0]
	text := fmt.Sprintf("name cores inside the %dx%d grid only", r.Cols, r.Rows)
	home := v.judged.at(r.Device)
	cores := home.Spec.Grid().Cores().Union(home.claimed)
	b := program.NewBuilder(v.Program.ID()).Like(v.Program)
	for _, cb := range v.Program.CBs() {
		if set := cb.On; !cores.Contains(set) {
			cb.Cores = set.Intersect(cores).Ranges()
		}
		b.CB(cb.CB)
	}
	if next, err := b.Build(v.Program.Spec()); err != nil || !v.judged.fit(next) {
		return text + ", which is not enough"
	}
	return text
}

// lower advises to lower L1_SMALL. It returns "" if that is not enough.
func (v *Verdict) lower(device DeviceID) string {
	spec, over := v.judged.at(device).Spec, uint64(0)
	for _, r := range v.Refusals {
		over = max(over, r.Over())
	}
	for _, c := range v.Clashes {
		over = max(over, c.Over())
	}
	by := Alignment(spec)
	over += (by - over%by) % by // L1 buffers move by so many bytes, or more
	if spec.L1Size == 0 || over > spec.L1Small {
		return ""
	}
	to := spec.L1Small - over
	to -= to % max(spec.CBAlign, 1) // tt-metal rounds it up
	word, ok := "at most ", true
	next := v.judged.with(func(at *Place) {
		if at.Spec.L1Small != spec.L1Small {
			return
		}
		if slices.ContainsFunc(at.Buffers, func(b Buffer) bool { return b.Kind == KindL1Small && b.Stands() }) {
			word = "" // less may not be enough for them
		}
		ok = ok && at.raise(to)
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
	up -= up % Alignment(at.Spec)
	at.Spec.L1Small = small
	end, stay, moved := at.Spec.Usable().End, Place{}, []Part(nil)
	for i := range at.Buffers {
		b := &at.Buffers[i]
		var parts []Part
		for p := range b.standing {
			if b.Kind == KindL1Small && p.Range.Start < end || b.Kind.tensor() && p.Range.End > was {
				return false
			}
			parts = append(parts, Part{p.Cores, l1.Range{Start: p.Range.Start + up, End: p.Range.End + up}})
		}
		if b.Kind.tensor() {
			b.Cores, b.Range, b.Parts, moved = l1.CoreSet{}, l1.Range{}, parts, append(moved, parts...)
		} else {
			stay.Buffers = append(stay.Buffers, *b)
		}
	}
	rest := siteOf(stay)
	return !rest.blocks(moved)
}

// operand returns the first of the buffers in which a global CB of the program lies, on any device: an operand of its
// own, like its output.
func (v *Verdict) operand(met []Buffer) (own *Buffer) {
	for i := range v.judged {
		for _, h := range v.judged[i].parts {
			for _, cb := range v.Program.CBs() {
				if !cb.Global || !cb.Fixed || !h.Range.Has(cb.Address) || !h.Cores.Overlaps(cb.On) {
					continue
				}
				if at := slices.IndexFunc(met, h.buffer.is); at >= 0 {
					return &met[at]
				}
			}
		}
	}
	return nil
}

// release advises to free buffers that are in the way. It returns "" if that is not enough. Of an operand of the
// program, which cannot be freed, it names what makes it smaller or moves it.
func (v *Verdict) release() string {
	rest, gone := *v, []Buffer(nil)
	for range maxFreed {
		c, ok := rest.subject()
		met := rest.met(c)
		if !ok || c.Grows || len(met) == 0 {
			return ""
		}
		if own := rest.operand(met); own != nil {
			free := uint64(0)
			for _, h := range v.Holes(c) {
				free = max(free, h.Range.Len())
			}
			return fmt.Sprintf("%s is its own input or output: smaller blocks, output to DRAM, or ttnn.reallocate (%s bytes are free elsewhere)", v.called(*own), grouped(free))
		}
		gone = append(gone, met...)
		next := rest.judged.with(func(at *Place) {
			at.Buffers = slices.DeleteFunc(at.Buffers, func(b Buffer) bool { return slices.ContainsFunc(met, b.is) })
		})
		if rest = next.judge(v.Program); rest.Fits() {
			return "free or move " + v.namesOf(gone)
		}
	}
	return ""
}

// shrink advises to take bytes off one buffer of the program. If no buffer is enough the text gives
// the help of the largest one, and cured is false.
func (v *Verdict) shrink(c Clash) (text string, cured bool) {
	p, known := Replaced(v.Program)
	still := ""
	if !known {
		p, still = v.Program, ", while all others stay in their places"
	}
	var cbs []int // the CBs concerned come first
	for _, own := range append(v.Own(c), v.Own(Clash{Cores: p.Cores()})...) {
		if !slices.Contains(cbs, own.CB) {
			cbs = append(cbs, own.CB)
		}
	}
	off := func(by uint64, cb int) string {
		return fmt.Sprintf("%s bytes off CB %d, which has %s%s", grouped(by), cb, grouped(p.CB(cb).Size), still)
	}
	for _, cb := range cbs[:min(maxShrunk, len(cbs))] {
		if by := v.judged.mayLose(p, cb, c.Over()); by > 0 {
			return "take " + off(by, cb), true
		}
	}
	text = fmt.Sprintf("%s bytes are too many, and no single buffer of the program was found to be enough", grouped(c.Over()))
	if len(cbs) == 0 {
		return text, false
	}
	by := mostOff(p, cbs[0])
	less, err := p.Resize(cbs[0], p.CB(cbs[0]).Size-by)
	if err != nil || by == 0 {
		return text, false
	}
	rest := v.judged.judge(less)
	if c, ok := rest.subject(); ok {
		text += fmt.Sprintf(": with %s, %s are too many", off(by, cbs[0]), grouped(c.Over()))
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
	for _, high := range []uint64{over/step + min(over%step, 1), most} {
		if high > 0 && high <= most && !fails(high) {
			return (last(0, high, fails) + 1) * step
		}
	}
	return 0
}

// mostOff returns how many bytes a buffer can lose so that it keeps whole pages, and some.
func mostOff(p *program.Program, cb int) uint64 {
	step := stepOf(p, cb)
	return (max(p.CB(cb).Size, 1) - 1) / step * step
}

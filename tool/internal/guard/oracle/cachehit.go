package oracle

import (
	"fmt"
	"slices"
)

// remembered holds the programs that an operation ran on a device, behind frees back to back.
type remembered struct {
	device   string
	begun    int64
	frees    int
	programs []program
}

// program is one run with its addresses.
type program struct {
	buffers   []*buffer
	first     int64
	unsettled bool // it may be several
	stated    []*buffer
}

func (a *remembered) equal(b *remembered) bool {
	return slices.EqualFunc(a.programs, b.programs, func(x, y program) bool {
		return x.unsettled == y.unsettled && slices.EqualFunc(x.stated, y.stated, (*buffer).equal)
	})
}

// maxCandidates is how many different programs of one operation are judged at a hit.
const maxCandidates = 64

// note remembers a run: another one behind the same free, the same one that went on, or something new.
func (p *player) note(c *chip, run program) {
	if p.covers(c.key, c) {
		return
	}
	key := ordinal(c.key, c.nth)
	p.lastNth[c.key] = c.nth
	list := p.history[key]
	if i := slices.IndexFunc(list, func(r *remembered) bool { return r.device == c.name && r.begun == c.begun && c.begun >= 0 }); i >= 0 {
		r := list[i]
		if k := slices.IndexFunc(r.programs, func(o program) bool { return o.first == run.first }); k >= 0 {
			r.programs[k] = run
			return
		}
		if p.split.begins[spot{run.first, c.name}] {
			r.programs = append(r.programs, run)
			return
		}
	} else if i := slices.IndexFunc(list, func(r *remembered) bool {
		return r.device == c.name && len(r.programs) == 1 && r.programs[0].first == run.first
	}); i >= 0 {
		list[i].programs[0] = run
		return
	}
	p.history[key] = append(list, &remembered{c.name, c.begun, max(1, p.split.programs[c.begun]), []program{run}})
}

// ordinal is the key of the n-th run of a call of an operation.
func ordinal(key string, n int) string { return fmt.Sprint(key, "\x00", n) }

// candidates are the different things that the n-th run of a call was on a device, the last one last. What still goes on is none.
func (p *player) candidates(c *chip, n int) (out []*remembered) {
	for _, r := range p.history[ordinal(p.key(), n)] {
		if r.device != c.name || r.begun == c.begun && c.begun >= 0 && p.goesOn(c, r) {
			continue
		}
		out = slices.DeleteFunc(out, func(o *remembered) bool { return o.equal(r) })
		out = append(out, r)
	}
	return out
}

// goesOn says whether the program that a device runs now is one of these, and may grow.
func (p *player) goesOn(c *chip, r *remembered) bool {
	if len(c.run) == c.sent {
		return false
	}
	first := c.run[0].counter
	return p.split.begins[spot{first, c.name}] || slices.ContainsFunc(r.programs, func(run program) bool { return run.first == first })
}

// closeFree ends what frees back to back announced. Fewer nodes than frees: the rest is not shown.
func (p *player) closeFree() {
	f := p.open
	p.open = nil
	p.hide("not-shown", f != nil && f.inOp && !f.settled && !p.plan && f.shown < f.frees)
}

// hit decides whether the innermost function ran programs from the cache.
func (p *player) hit() {
	top := &p.stack[len(p.stack)-1]
	if top.hidden || p.calls {
		return
	}
	f := p.ownFree()
	says := top.says != nil && *top.says
	if f == nil && (!says || top.placed) || f != nil && !says && (top.says != nil || !f.inOp) || p.aborted[top.start] {
		return
	}
	start, frees, nth := top.start, 1, max(1, top.nth)
	if f != nil {
		f.settled = true
		if frees = f.frees; !says {
			start = f.counter
		}
	}
	top.placed = true
	used := p.rerunAll(f, nth, start)
	if last := p.lastNth[p.key()]; used == 0 && f == nil && last != nth {
		used = p.rerunAll(f, last, start)
	}
	for used > 0 && used < frees { // the first call had more frees apart
		n := p.rerunAll(f, nth+1, start+int64(used))
		if n == 0 {
			p.hide("not-shown", true)
			break
		}
		used, nth = used+n, nth+1
		top.nth = nth
	}
	switch {
	case used > 0:
		p.out.HitsInferred++
	case says:
		p.out.HitsUnknown++
		p.hide("cache-hit", true)
	default:
		f.settled = false
	}
}

// rerunAll runs again what the n-th run of a call was, where a free reaches, and returns behind how many frees that was.
func (p *player) rerunAll(f *openFree, n int, start int64) (frees int) {
	for _, c := range p.chips {
		all := p.candidates(c, n)
		filtered := f != nil && f.id != none && (p.ids.isChip(f.id) || len(p.ids.chipsOf[f.id]) > 0)
		if len(all) == 0 || p.covers(p.key(), c) || p.opts.NoInfer || filtered && !p.reaches(f.id, c.name) {
			continue
		}
		p.rerun(c, all, start)
		frees = max(frees, all[len(all)-1].frees)
	}
	return frees
}

// rerun takes the last candidate as run and judges all of them.
func (p *player) rerun(c *chip, all []*remembered, start int64) {
	last := all[len(all)-1]
	fitting, unsure := 0, false
	for _, r := range all {
		doubtful := func(run program) bool { return p.judge(c, run).Doubt != "" }
		fails := func(run program) bool { return !p.judge(c, run).Fits && !doubtful(run) }
		if len(all) > 1 && slices.ContainsFunc(r.programs, doubtful) && !slices.ContainsFunc(r.programs, fails) {
			unsure = true // it may do either
		}
		if !slices.ContainsFunc(r.programs, func(run program) bool { return !p.judge(c, run).Fits }) {
			fitting++
		} else if r != last && slices.ContainsFunc(r.programs, func(run program) bool { return run.unsettled }) {
			unsure = true // as more programs it may fit; of the last one, launch says so
		}
	}
	for _, r := range all { // any of them may have run
		c.runs = append(c.runs, r.programs...)
	}
	differ := fitting > 0 && fitting < len(all) || unsure || len(all) > maxCandidates
	if len(all) > 1 {
		p.out.Ambiguous++
	}
	p.hide("ambiguous", differ)
	for _, run := range last.programs {
		p.out.Inferred++
		p.launch(c, run, start, verdictKind{inferred: true, candidates: len(all), untold: differ})
	}
}

// enqueue takes the run of a device as complete.
func (p *player) enqueue(c *chip) {
	if len(c.run) == c.sent {
		return
	}
	c.sent = len(c.run)
	p.sawProgram(c, c.run)
	run := program{placedCopy(c.run, c.spec.Layout), c.run[0].counter, p.split.unsettled[spot{c.run[0].counter, c.name}], slices.Clone(c.run)}
	aborted := p.wasAborted(c.run[0].counter)
	if !aborted {
		p.note(c, run)
	}
	p.launch(c, run, run.buffers[len(run.buffers)-1].counter, verdictKind{aborted: aborted, candidates: 1})
	p.runOnOthers(c, run, aborted)
}

// runOnOthers runs a program that a mesh shows on some chips. The chips that had it before run it too and show nothing.
func (p *player) runOnOthers(c *chip, run program, aborted bool) {
	mesh, k := p.announced[c.begun], len(c.since)-1
	for _, d := range p.chips {
		once := fmt.Sprint(c.begun, " ", d.name, " ", k)
		if !p.shownBehind[spot{c.begun, c.name}] || d.begun != c.begun || !p.ids.has(mesh, c.name) || !p.ids.has(mesh, d.name) || p.shownBehind[spot{c.begun, d.name}] ||
			p.opts.NoInfer || d.blind || p.covers(c.key, d) || p.ranOn[once] {
			continue
		}
		for _, r := range p.history[ordinal(c.key, c.nth)] {
			if i := slices.IndexFunc(r.programs, run.sameLocals); r.device == d.name && i >= 0 {
				p.ranOn[once] = true
				p.out.Inferred++
				p.launch(d, r.programs[i], c.begun, verdictKind{inferred: true, aborted: aborted, candidates: 1, op: c.op})
				break
			}
		}
		if !p.ranOn[once] && slices.ContainsFunc(d.runs, run.sameLocals) { // by an operation that looks like another one
			p.ranOn[once] = true
			p.hide("not-shown", !p.plan)
		}
	}
}

// sameLocals says whether two programs have equal local buffers. Nodes of a program that is new to a chip name no others.
func (r program) sameLocals(o program) bool {
	locals := func(run []*buffer) (out []*buffer) {
		for _, b := range run {
			if b.local {
				out = append(out, b)
			}
		}
		return out
	}
	return slices.EqualFunc(locals(r.stated), locals(o.stated), (*buffer).equal)
}

// executed returns the program of the next execution on a chip, or nil if it is unknown.
func (p *player) executed(c *chip) []*buffer {
	if len(c.since) > 0 {
		c.execs++
		return c.since[min(c.execs, len(c.since))-1]
	}
	if c.begun >= 0 {
		return nil
	}
	return c.last
}

package oracle

import "slices"

// remembered holds the programs that an operation ran on a device, behind one free.
type remembered struct {
	device   string
	begun    int64
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
	list := p.history[c.key]
	if i := slices.IndexFunc(list, func(r *remembered) bool { return r.device == c.name && r.begun == c.begun && c.begun >= 0 }); i >= 0 {
		r := list[i]
		if k := slices.IndexFunc(r.programs, func(o program) bool { return o.first == run.first }); k >= 0 {
			r.programs[k] = run
			return
		}
		if p.split.begins[run.first] {
			r.programs = append(r.programs, run)
			return
		}
	} else if i := slices.IndexFunc(list, func(r *remembered) bool {
		return r.device == c.name && len(r.programs) == 1 && r.programs[0].first == run.first
	}); i >= 0 {
		list[i].programs[0] = run
		return
	}
	p.history[c.key] = append(list, &remembered{c.name, c.begun, []program{run}})
}

// candidates are the different things that the operation ran on a device, the last one last. What still goes on is none.
func (p *player) candidates(c *chip) (out []*remembered) {
	for _, r := range p.history[p.key()] {
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
	return p.split.begins[first] || slices.ContainsFunc(r.programs, func(run program) bool { return run.first == first })
}

func (p *player) closeFree() {
	f := p.open
	p.open = nil
	if f == nil || !f.inOp || f.settled || p.plan {
		return
	}
	p.hide("not-shown", f.says == nil || !*f.says || p.aborted[f.frame])
}

// hit decides whether the innermost function ran a program from the cache.
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
	start := top.start
	if f != nil {
		f.settled = true
		if !says {
			start = f.counter
		}
	}
	top.placed = true
	done := false
	for _, c := range p.chips {
		all := p.candidates(c)
		filtered := f != nil && f.id != none && (isChip(p.members, f.id) || len(p.members[f.id]) > 0)
		if len(all) == 0 || p.covers(p.key(), c) || p.opts.NoInfer || filtered && !p.reaches(f.id, c.name) {
			continue
		}
		p.rerun(c, all, start)
		done = true
	}
	switch {
	case done:
		p.out.HitsInferred++
	case says:
		p.out.HitsUnknown++
		p.hide("cache-hit", true)
	default:
		f.settled = false
	}
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
	run := program{placedCopy(c.run, p.spec.Layout), c.run[0].counter, p.split.unsettled[c.run[0].counter], slices.Clone(c.run)}
	aborted := p.wasAborted(c.run[0].counter)
	if !aborted {
		p.note(c, run)
	}
	p.launch(c, run, run.buffers[len(run.buffers)-1].counter, verdictKind{aborted: aborted, candidates: 1})
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

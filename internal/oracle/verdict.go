package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict says whether one program fits on one device beside what lives there when it is enqueued.
type Verdict struct {
	Device     string
	Op         string // the functions that ran it
	At         int64  // its first node, or where it was inferred
	Inferred   bool
	Candidates int
	Fits       bool
	Untold     bool // nobody can tell, whatever Fits says

	Refusals []Refusal         // tt-metal's, in its order
	Clash    map[string]uint64 // by core, as "x-y": bytes that are beyond L1 or held by a buffer
	Named    []uint64          // addresses of buffers that hold some of them, or that lie lowest where tt-metal refuses; sorted
}

// Refusal is one of tt-metal's checks.
type Refusal struct {
	Kind       string // grid, grow or clash
	Cores      string // one range
	End, Limit uint64 // 0 if it is about the grid
}

// verdictKind is how a program came to be enqueued.
type verdictKind struct {
	inferred, aborted, untold bool
	candidates                int
}

// launch checks a program against what lives and takes it as what its cores hold.
func (p *player) launch(c *chip, run program, at int64, kind verdictKind) {
	p.out.Runs++
	c.ran = true
	v := p.judge(c, run)
	v.Inferred, v.Candidates, v.At = kind.inferred, kind.candidates, run.first
	v.Op, _, _ = strings.Cut(c.key, "\x00")
	if kind.inferred {
		v.At, v.Op = at, p.path()
	}
	v.Untold = kind.untold || !v.Fits && run.unsettled
	p.hide("unsettled", !v.Fits && run.unsettled)
	if !v.Fits && !v.Untold {
		p.out.Failed++
	}
	if len(v.Clash) > 0 {
		p.out.Clashed++
	}
	p.out.Verdicts = append(p.out.Verdicts, v)
	if outside(c, run.buffers) != nil {
		return
	}
	if n := len(c.since); n > 0 && c.since[n-1][0].counter == run.buffers[0].counter && !kind.inferred {
		c.since[n-1] = run.buffers // it went on
	} else {
		c.since = append(c.since, run.buffers)
	}
	if !kind.aborted {
		p.dispatch(c, run.buffers)
		p.look(c, at)
	}
}

// dispatch leaves a program in L1.
func (p *player) dispatch(c *chip, run []*buffer) {
	for _, b := range run { // what a program names it writes
		for _, x := range b.cores {
			c.left[cell{x, b.kind}] = resident{}
		}
	}
	for _, b := range run {
		if !b.local || b.size == 0 {
			continue
		}
		for _, x := range b.cores {
			r := c.left[cell{x, b.kind}]
			c.left[cell{x, b.kind}] = resident{append(slices.Clone(r.spans), span{b.addr, b.addr + b.size})}
		}
	}
	c.last = run
}

// outside is the refusal of a program that names cores outside the grid.
func outside(c *chip, run []*buffer) *Refusal {
	for _, b := range run {
		if r, out := b.outside(c.grid); out {
			return &Refusal{Kind: "grid", Cores: r.String()}
		}
	}
	return nil
}

func (r rect) String() string {
	return fmt.Sprintf("[%d-%d - %d-%d]", r.from.x, r.from.y, r.to.x, r.to.y)
}

// judge compares a program with what lives now.
func (p *player) judge(c *chip, run program) Verdict {
	v := Verdict{Device: c.name, Clash: map[string]uint64{}}
	named := map[uint64]bool{}
	if r := outside(c, run.buffers); r != nil {
		v.Refusals = append(v.Refusals, *r)
	}
	v.Refusals = append(v.Refusals, p.refusals(c, run.buffers, named)...)
	p.clashes(c, run.buffers, v.Clash, named)
	v.Fits = len(v.Refusals) == 0 && len(v.Clash) == 0
	for addr := range named {
		v.Named = append(v.Named, addr)
	}
	slices.Sort(v.Named)
	return v
}

// refusals makes tt-metal's checks of the regions: those of circular buffers, then those of the rest.
func (p *player) refusals(c *chip, run []*buffer, named map[uint64]bool) (out []Refusal) {
	var circulars, others []*buffer
	for _, b := range run {
		if b.kind == circular {
			circulars = append(circulars, b)
		} else {
			others = append(others, b)
		}
	}
	for _, group := range [][]*buffer{circulars, others} {
		entries := newEntries(group)
		for _, b := range group { // as when they were placed
			if b.local && b.size > 0 {
				markAll(entries, b)
			}
		}
		for _, e := range entries {
			if len(e.regions) == 0 {
				continue
			}
			if e.end() > p.spec.size {
				out = append(out, Refusal{"grow", e.rect.String(), e.end(), p.spec.size})
				continue // tt-metal stops here
			}
			if lowest := p.lowest(c, e.rect); lowest < e.end() {
				out = append(out, Refusal{"clash", e.rect.String(), e.end(), lowest})
				named[lowest] = true
			}
		}
	}
	return out
}

// lowest is the lowest address of an L1 tensor of the device; in HYBRID mode, on the cores of a range.
func (p *player) lowest(c *chip, r rect) uint64 {
	lowest := ^uint64(0)
	for _, a := range p.live {
		if !a.tests(p.opts.Rules) || !p.reaches(a.owner, c.name) || c.hybrid && !slices.ContainsFunc(a.cores(c), r.contains) {
			continue
		}
		lowest = min(lowest, a.start)
	}
	return lowest
}

// clashes counts, on each core, the bytes of a program that are beyond L1 or held by a buffer.
func (p *player) clashes(c *chip, run []*buffer, clash map[string]uint64, named map[uint64]bool) {
	own, taken := map[core]*byteSet{}, map[core]*byteSet{}
	for _, b := range run {
		if !b.local || b.size == 0 {
			continue
		}
		for _, x := range b.cores {
			if own[x] == nil {
				own[x], taken[x] = &byteSet{}, &byteSet{}
			}
			_ = own[x].add(b.addr, b.addr+b.size)
			_ = taken[x].add(p.spec.size, b.addr+b.size)
		}
	}
	for _, a := range p.live {
		if !a.placed || a.end == a.start || !p.reaches(a.owner, c.name) {
			continue
		}
		for _, x := range a.cores(c) {
			if own[x] == nil {
				continue
			}
			_ = taken[x].add(a.start, a.end)
			var alone byteSet
			_ = alone.add(a.start, a.end)
			if common(*own[x], alone) > 0 {
				named[a.start] = true
			}
		}
	}
	for x, s := range own {
		if n := common(*s, *taken[x]); n > 0 {
			clash[fmt.Sprintf("%d-%d", x.x, x.y)] = n
		}
	}
}

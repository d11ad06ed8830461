package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verdict reports whether one program fits on one device beside the contents at the time of its
// enqueue.
type Verdict struct {
	Device     string
	Op         string // the functions that ran it
	At         int64  // its first node, or where it was inferred
	Inferred   bool
	Candidates int
	Fits       bool
	Untold     bool   // unknown, whatever Fits is
	Doubt      string // the code that says why it neither fits nor fails; then Fits is false

	Refusals []Refusal         // tt-metal's, in its order
	Clash    map[string]uint64 // by core, as "x-y": bytes that are beyond L1 or held by a buffer
	Named    []Obstacle        // the buffers that hold some of them, or that lie lowest where tt-metal refuses; by address
}

// Obstacle is a buffer that is in the way.
type Obstacle struct {
	Addr  uint64
	Owner string // the id under which the capture has it
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
	p.barRun(c, run)
	v := p.judge(c, run)
	v.Inferred, v.Candidates, v.At = kind.inferred, kind.candidates, run.first
	v.Op, _, _ = strings.Cut(c.key, "\x00")
	if kind.inferred {
		v.At, v.Op = at, p.path()
	}
	v.Untold = kind.untold || !v.Fits && run.unsettled || v.Doubt != ""
	p.hide("unsettled", !v.Fits && run.unsettled && v.Doubt == "")
	p.hide(v.Doubt, v.Doubt != "" && !kind.untold)
	if !v.Fits && !v.Untold {
		p.out.Failed++
	}
	if len(v.Clash) > 0 {
		p.out.Clashed++
	}
	if c.spec.small > 0 && slices.ContainsFunc(run.buffers, func(b *buffer) bool { return b.local && b.end() > c.spec.size-c.spec.small }) {
		p.out.Reached++
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

// judge compares a program with what lives now: its circular buffers, and where they fit the rest.
func (p *player) judge(c *chip, run program) Verdict {
	v := Verdict{Device: c.name, Clash: map[string]uint64{}, Fits: true}
	if p.uncertain(c, run) {
		v.Fits, v.Doubt = false, "persistent-l1"
		return v
	}
	circulars, others := run.kinds()
	for _, group := range [][]*buffer{circulars, others} {
		named := map[Obstacle]bool{}
		if r := outside(c, group); r != nil {
			v.Refusals = append(v.Refusals, *r)
		}
		refused, doubt := p.refusals(c, group, named)
		v.Refusals = append(v.Refusals, refused...)
		p.clashes(c, group, v.Clash, named)
		if p.fromBelow(c, v, group) {
			v.Refusals, doubt = nil, "persistent-l1"
		}
		if doubt != "" {
			v.Doubt = doubt
		}
		if v.Fits = len(v.Refusals) == 0 && len(v.Clash) == 0; !v.Fits {
			v.Doubt = ""
			v.Named = slices.SortedFunc(maps.Keys(named), func(a, b Obstacle) int {
				return cmp.Or(cmp.Compare(a.Addr, b.Addr), strings.Compare(a.Owner, b.Owner))
			})
			return v
		}
	}
	v.Fits = v.Doubt == ""
	return v
}

// refusals makes tt-metal's checks of the regions. A doubt is the code of the first one that passes perhaps.
func (p *player) refusals(c *chip, group []*buffer, named map[Obstacle]bool) (out []Refusal, doubt string) {
	for _, e := range regions(group) {
		if e.End > p.spec.size {
			out = append(out, Refusal{"grow", e.Cores.String(), e.End, p.spec.size})
			continue // tt-metal stops here
		}
		lowest, perhaps := p.lowest(c, e, group[0].kind != circular)
		if lowest != nil && lowest.start < e.End {
			out = append(out, Refusal{"clash", e.Cores.String(), e.End, lowest.start})
			named[Obstacle{lowest.start, lowest.owner}] = true
		} else if doubt == "" {
			doubt = perhaps
		}
	}
	return out, doubt
}

// kinds divides the buffers of a program as tt-metal's checks do: circular ones, and the others.
func (r program) kinds() (circulars, others []*buffer) {
	for _, b := range r.buffers {
		if b.kind == circular {
			circulars = append(circulars, b)
		} else {
			others = append(others, b)
		}
	}
	return circulars, others
}

// lowest returns the lowest L1 tensor that is compared with a region, or nil, and the doubt if
// another one may be compared. One in lockstep counts on all cores of its device, in HYBRID mode
// too. One that was allocated per core counts on its cores; dataflow buffers have no HYBRID mode,
// and meet it on any. One in range lockstep counts on its cores, and perhaps on others.
func (p *player) lowest(c *chip, e entry, anywhere bool) (lowest *alloc, perhaps string) {
	inside := func(x core) bool { return e.Cores.Has(x.l1()) }
	for _, a := range p.live {
		if a.kind != "L1" || !p.reaches(a.owner, c.name) {
			continue
		}
		for _, x := range a.veiled(c) {
			if perhaps == "" && (anywhere || inside(x)) {
				perhaps = "per-core-hidden"
			}
		}
		here := slices.ContainsFunc(a.cores(c), inside)
		switch {
		case !a.tests():
			continue
		case a.mode == "per core" && !here && !(anywhere && len(a.cores(c)) > 0):
			continue
		case a.mode == "range" && !here:
			if a.start < e.End {
				perhaps = "range-lockstep"
			}
			continue
		}
		if lowest == nil || a.start < lowest.start {
			lowest = a
		}
	}
	return lowest, perhaps
}

// clashes counts, on each core, the bytes of a program that are beyond L1 or held by a buffer.
func (p *player) clashes(c *chip, run []*buffer, clash map[string]uint64, named map[Obstacle]bool) {
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
				named[Obstacle{a.start, a.owner}] = true
			}
		}
	}
	for x, s := range own {
		if n := common(*s, *taken[x]); n > 0 {
			clash[fmt.Sprintf("%d-%d", x.x, x.y)] = n
		}
	}
}

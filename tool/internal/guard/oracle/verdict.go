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
	op                        string // the functions; empty: those that run
}

// launch checks a program against what lives and takes it as what its cores hold.
func (p *player) launch(c *chip, run program, at int64, kind verdictKind) {
	p.out.Runs++
	c.ran, c.runs = true, append(c.runs, run)
	v := p.judge(c, run)
	v.Inferred, v.Candidates, v.At = kind.inferred, kind.candidates, run.first
	if v.Op = c.op; kind.inferred {
		v.At, v.Op = at, cmp.Or(kind.op, p.path())
	}
	v.Untold = kind.untold || !v.Fits && run.unsettled || v.Doubt != ""
	p.hide("unsettled", !v.Fits && run.unsettled && v.Doubt == "")
	p.hide(v.Doubt, v.Doubt != "" && !kind.untold)
	if !v.Fits && !v.Untold {
		p.out.Failed++
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
			c.left[cell{x, b.kind}] = nil
		}
	}
	for _, b := range run {
		if !b.local || b.size == 0 {
			continue
		}
		for _, x := range b.cores {
			at := cell{x, b.kind}
			c.left[at] = append(c.left[at], b.bytes())
		}
	}
	c.last = run
}

// outside is the refusal of a program that names cores outside the grid.
func outside(c *chip, run []*buffer) *Refusal {
	for _, b := range run {
		for _, r := range b.ranges {
			if g := c.grid; g != nil && (r.to.x >= int(g.cols) || r.to.y >= int(g.rows)) {
				return &Refusal{Kind: "grid", Cores: r.String()}
			}
		}
	}
	return nil
}

func (r rect) String() string {
	return fmt.Sprintf("[%d-%d - %d-%d]", r.from.x, r.from.y, r.to.x, r.to.y)
}

// judge has the model compare a program with what lives now: its circular buffers, and where they fit the rest.
func (p *player) judge(c *chip, run program) Verdict {
	v := Verdict{Device: c.name, Clash: map[string]uint64{}, Fits: true}
	if p.uncertain(c, run) {
		v.Fits, v.Doubt = false, "persistent-l1"
		return v
	}
	here := slices.DeleteFunc(slices.Clone(p.live), func(a *alloc) bool { return !a.placed || !p.lies(a, c) })
	fleet := c.holding(here)
	circulars, others := run.kinds()
	for _, group := range [][]*buffer{circulars, others} {
		named := map[Obstacle]bool{}
		if r := outside(c, group); r != nil {
			v.Refusals = append(v.Refusals, *r)
		}
		got, err := fleet.Check(c.built(0, group), device())
		if err != nil {
			panic(err) // the device is there, and the program is built for it
		}
		for _, r := range got.Refusals {
			v.Refusals = append(v.Refusals, Refusal{r.Kind, r.Cores.String(), r.End, r.Limit})
			lowest := slices.IndexFunc(here, func(a *alloc) bool { return a.tests() && a.start == r.Limit })
			if r.Kind == "clash" {
				named[Obstacle{r.Limit, idText(here[lowest].owner)}] = true
			}
		}
		for _, clash := range got.Clashes {
			v.Clash[clash.Core.String()] = clash.Bytes
			for _, r := range clash.InWay {
				named[Obstacle{r.Range.Start, idText(here[r.Buffer].owner)}] = true
			}
		}
		if len(got.Doubts) > 0 {
			v.Doubt = got.Doubts[0].Kind
		}
		if p.fromBelow(c, v, group) {
			v.Refusals, v.Doubt = nil, "persistent-l1"
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

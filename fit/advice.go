package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Why the two judges differ, and what to do: one line each, from the numbers.

// Difference says in one line what the two judges disagree on and why; "" if they agree. Each call
// works it out, from the places of the Check.
func (v Verdict) Difference() string {
	switch {
	case len(v.judged) == 0 || (len(v.Refusals) > 0) == (len(v.Clashes) > 0):
		return ""
	case len(v.Refusals) > 0:
		return v.stricter(sitesOf(v.judged))
	}
	return "tt-metal does not see it: " + v.Clashes[0].unseen(sitesOf(v.judged))
}

// Advice says in one line what to do; "" if the program fits. Each cure in it was tried: with it
// alone the program fits. Otherwise the line says that none was found.
//
// Each call works it out, from the places of the Check. Cost: some hundred layouts of the program,
// and a few looks at all buffers.
func (v Verdict) Advice() string {
	if len(v.Doubts) > 0 {
		return v.Doubts[0].cure()
	}
	if len(v.judged) == 0 {
		return ""
	}
	all := sitesOf(v.judged)
	if len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedGrid {
		return v.inside(all)
	}
	var cures []string
	if text := v.lower(all); text != "" {
		cures = append(cures, text)
	} else if text := v.release(all); text != "" {
		cures = append(cures, text)
	}
	text, cured := v.shrink(all)
	if cured || len(cures) == 0 {
		cures = append(cures, text)
	}
	return strings.Join(cures, ", or ")
}

// unseen says why tt-metal does not refuse what clashes.
func (c *Clash) unseen(all sites) string {
	switch b, found := c.inTheWay(); {
	case found && !b.Kind.tensor():
		return "it compares with the lowest L1 buffer, not with " + b.String()
	case all.at(c.Device).claimed.Overlaps(c.Cores):
		return "on service cores it compares with service buffers only"
	}
	return "its bookkeeping ends below the buffers given"
}

// stricter says why tt-metal refuses what does not clash.
func (v *Verdict) stricter(all sites) string {
	r := v.Refusals[0]
	switch r.Kind {
	case RefusedGrid:
		return ""
	case RefusedGrow:
		return "no byte is beyond L1: tt-metal charges every core of a range with all that was placed on ranges which it meets"
	case RefusedService:
		return "no byte clashes: tt-metal compares with the lowest service buffer of all devices"
	}
	var cores l1.CoreSet
	sized := false
	for _, h := range all.at(r.Device).parts {
		if h.buffer.Kind.tensor() && h.Range.Start == r.Limit {
			cores, sized = cores.Union(h.Cores), sized || !h.buffer.Unsized
		}
	}
	if cores.IsEmpty() {
		return fmt.Sprintf("no byte clashes: the buffer at %s lies on another device, and in HYBRID mode tt-metal compares with the buffers of all devices", grouped(r.Limit))
	}
	if !sized {
		return fmt.Sprintf("no byte is known to clash: nobody says how many bytes of a core the buffer at %s has, and tt-metal compares with its address alone", grouped(r.Limit))
	}
	text := fmt.Sprintf("no byte clashes: the buffer at %s lies on %s", grouped(r.Limit), coresText(cores))
	if !cores.Overlaps(r.Cores.Cores()) {
		text += ", and tt-metal compares with the lowest buffer of any core"
	} else {
		text += ", and tt-metal compares with the end of all that it charges to a range, holes included"
	}
	if v.runsPerCore(all, r.Limit) {
		text += "; in HYBRID mode it would run if that buffer were allocated per core"
	}
	return text
}

// runsPerCore reports whether tt-metal would accept the program in HYBRID mode if the L1
// buffers in lockstep at an address were allocated per core, at the same address.
func (v *Verdict) runsPerCore(all sites, addr uint64) bool {
	others, _ := all.with(func(at *Place) bool {
		for i := range at.Buffers {
			b := &at.Buffers[i]
			for p := range b.standing {
				if b.Kind.tensor() && b.mode() == Lockstep && p.Range.Start == addr {
					b.Mode = PerCore
				}
			}
		}
		at.Hybrid = true
		return true
	})
	next := others.judge(v.Program)
	return len(next.Refusals) == 0 && len(next.Doubts) == 0
}

// at returns the site of a device that is the first of its place.
func (all sites) at(device DeviceID) *site {
	return &all[max(0, slices.IndexFunc(all, func(at site) bool { return at.Device == device }))]
}

// A subject is what an advice is about: the first refusal or, without one, the first
// clash.
type subject struct {
	device DeviceID
	over   uint64 // bytes too many
	limit  uint64
	grows  bool  // the limit is the end of L1
	moves  bool  // what is in the way moves with the size of L1_SMALL
	cbs    []int // the program's buffers that it is about, the largest first
}

// subject returns what to give advice about. ok is false if there is nothing.
func (v *Verdict) subject() (s subject, ok bool) {
	switch {
	case len(v.Refusals) > 0:
		r := v.Refusals[0]
		cbs := largest(v.Program, func(_ int, cb program.Placed) bool {
			circular := cb.Kind == program.CircularBuffer
			return cb.Size > 0 && circular == (r.What == program.CircularBuffer) && cb.Cores.Cores().Overlaps(r.Cores.Cores())
		})
		return subject{r.Device, r.Over(), r.Limit, r.Kind == RefusedGrow, r.Kind == RefusedClash, cbs}, true
	case len(v.Clashes) > 0:
		c := &v.Clashes[0]
		b, found := c.inTheWay()
		return subject{c.Device, c.Over(), c.Limit, c.Grows, found && b.Kind.tensor(), c.CBs}, true
	}
	return s, false
}

// inTheWay returns the buffers that start in a range, the lowest first: all at its start, which the
// program met, and others that it would meet next. Of the others tt-metal counts tensors on any
// core, and bytes count on the cores of the clash.
func (v *Verdict) inTheWay(all sites, r l1.Range) (out []called) {
	var met []*held
	for i := range all {
		for k := range all[i].parts {
			h := &all[i].parts[k]
			next := r.Has(h.Range.Start) &&
				(len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedClash && h.buffer.Kind.tensor() ||
					len(v.Clashes) > 0 && h.Cores.Overlaps(v.Clashes[0].Cores))
			if next || h.Range.Start == r.Start {
				met = append(met, h)
			}
		}
	}
	slices.SortStableFunc(met, func(a, b *held) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	known := map[called]bool{}
	for _, h := range met {
		if as := h.buffer.called(); !known[as] {
			known[as] = true
			out = append(out, as)
		}
	}
	return out
}

// namesOf returns the first two names, and how many more there are.
func namesOf(all []called) string {
	var texts []string
	for _, as := range all[:min(2, len(all))] {
		texts = append(texts, as.String())
	}
	return strings.Join(texts, " and ") + more(len(all)-len(texts))
}

// grouped returns n for people.
func grouped(n uint64) string { return l1.Bytes(n).Exact() }

func (c *Clash) text(p *program.Program) string {
	what := "that is beyond L1, which ends"
	if b, ok := c.inTheWay(); ok {
		what = b.String() + " is in the way, which starts"
	}
	subject := "no program"
	if p != nil {
		subject = fmt.Sprintf("program %d", p.ID())
		if p.Name() != "" {
			subject += fmt.Sprintf(" (%.60q)", p.Name())
		}
	}
	return fmt.Sprintf("%s ends at %d on %s: %s at %d; %d B too many", subject, c.End, coresText(c.Cores), what, c.Limit, c.Over())
}

// coresText returns the first rectangle of the cores and the number of others.
func coresText(cores l1.CoreSet) string {
	ranges := cores.Ranges()
	for r := range ranges.All() {
		return r.String() + more(ranges.Len()-1)
	}
	return "no cores"
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (+%d more)", n)
}

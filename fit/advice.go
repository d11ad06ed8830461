package fit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// The difference of the two judges, and the advice: one line each, from the numbers.

// Named returns the verdict with a caller's names of buffers in its Difference and Advice.
func (v Verdict) Named(name func(Buffer) string) Verdict {
	v.name = name
	return v
}

// called returns the name of a buffer.
func (v *Verdict) called(b Buffer) string {
	if v.name == nil {
		return b.String()
	}
	return v.name(b)
}

// Difference describes in one line the disagreement of the two judges and its reason; "" if they
// agree. Each call works it out, from the places of the Check.
func (v Verdict) Difference() string {
	switch {
	case len(v.judged) == 0 || (len(v.Refusals) > 0) == (len(v.Clashes) > 0):
		return ""
	case len(v.Refusals) > 0:
		return v.stricter(v.Refusals[0])
	}
	return "tt-metal does not see it: " + v.unseen(v.Clashes[0])
}

// Advice returns a remedy in one line; "" if the program fits. Each cure in it was tried: with it
// alone the program fits. Otherwise the line says that none was found. It frees no operand of the program: it
// names a way to move that operand.
//
// Each call works it out, from the places of the Check. Cost: some hundred layouts of the program,
// and a few passes over all buffers.
func (v Verdict) Advice() string {
	c, ok := v.subject()
	switch {
	case len(v.Doubts) > 0:
		return v.cure(v.Doubts[0])
	case !ok || len(v.judged) == 0:
		return ""
	case len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedGrid:
		return v.inside()
	}
	cure := v.lower(c.Device)
	if cure == "" {
		cure = v.release()
	}
	text, cured := v.shrink(c)
	switch {
	case cure == "":
		return text
	case cured:
		return cure + ", or " + text
	}
	return cure
}

// unseen returns the reason why tt-metal does not refuse a program that clashes.
func (v *Verdict) unseen(c Clash) string {
	switch b, found := v.inTheWay(c); {
	case found && !b.Kind.tensor():
		return "it compares with the lowest L1 buffer, not with " + v.called(b)
	case v.judged.at(c.Device).claimed.Overlaps(c.Cores):
		return "on service cores it compares with service buffers only"
	}
	return "its bookkeeping ends below the buffers given"
}

// stricter returns the reason why tt-metal refuses a program that does not clash.
func (v *Verdict) stricter(r *Refusal) string {
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
	for _, h := range v.judged.at(r.Device).parts {
		if h.buffer.Kind.tensor() && h.Range.Start == r.Limit {
			cores, sized = cores.Union(h.Cores), sized || !h.buffer.Unsized
		}
	}
	if cores.IsEmpty() {
		return fmt.Sprintf("no byte clashes: the buffer at %s lies on another device, and in HYBRID mode tt-metal compares with the buffers of all devices", grouped(r.Limit))
	}
	if !sized {
		return fmt.Sprintf("no byte is known to clash: the buffer at %s has an unknown number of bytes on a core, and tt-metal compares its address alone", grouped(r.Limit))
	}
	text := fmt.Sprintf("no byte clashes: the buffer at %s lies on %s", grouped(r.Limit), cores.Brief())
	if !cores.Overlaps(r.Cores.Cores()) {
		text += ", and tt-metal compares with the lowest buffer of any core"
	} else {
		text += ", and tt-metal compares with the end of all that it charges to a range, holes included"
	}
	if v.runsPerCore(r.Limit) {
		text += "; in HYBRID mode it would run if that buffer were allocated per core"
	}
	return text
}

// runsPerCore reports whether the program would fit in HYBRID mode if the L1 buffers in lockstep at
// an address were allocated per core, at the same address.
func (v *Verdict) runsPerCore(addr uint64) bool {
	return v.judged.with(func(at *Place) {
		at.Hybrid = true
		for i := range at.Buffers {
			b := &at.Buffers[i]
			for p := range b.standing {
				if b.Kind.tensor() && b.mode() == Lockstep && p.Range.Start == addr {
					b.Mode = PerCore
				}
			}
		}
	}).fit(v.Program)
}

// at returns the site of a device that is the first of its place.
func (all sites) at(device DeviceID) *site {
	return &all[max(0, slices.IndexFunc(all, func(at site) bool { return at.Device == device }))]
}

// subject returns the clash that an advice concerns: the first refusal as a clash or, without one,
// the first clash. ok is false if there is nothing.
func (v *Verdict) subject() (c Clash, ok bool) {
	switch {
	case len(v.Refusals) > 0:
		r := v.Refusals[0]
		return Clash{Device: r.Device, Cores: r.Cores.Cores(), End: r.End, Limit: r.Limit, Grows: r.Kind == RefusedGrow}, true
	case len(v.Clashes) > 0:
		return v.Clashes[0], true
	}
	return c, false
}

// met returns the buffers that a program meets from the limit to its end, the lowest
// first: all at the limit, and others that it would meet next. Of the others tt-metal counts
// tensors on any core, and bytes count on the cores of the clash.
func (v *Verdict) met(c Clash) (buffers []Buffer) {
	var met []*holding
	for i := range v.judged {
		for _, h := range v.judged[i].parts {
			next := h.Range.Start > c.Limit && h.Range.Start < c.End &&
				(len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedClash && h.buffer.Kind.tensor() ||
					len(v.Clashes) > 0 && h.Cores.Overlaps(v.Clashes[0].Cores))
			if next || h.Range.Start == c.Limit {
				met = append(met, h)
			}
		}
	}
	slices.SortStableFunc(met, byStart)
	for _, h := range met {
		if !slices.ContainsFunc(buffers, h.buffer.is) {
			buffers = append(buffers, *h.buffer)
		}
	}
	return buffers
}

// is reports whether two buffers have one name.
func (b Buffer) is(other Buffer) bool {
	return b.Kind == other.Kind && b.ID == other.ID && b.String() == other.String()
}

// namesOf returns the first two names, and how many more there are.
func (v *Verdict) namesOf(all []Buffer) string {
	n := min(2, len(all))
	var names []string
	for _, b := range all[:n] {
		names = append(names, v.called(b))
	}
	return strings.Join(names, " and ") + more(len(all)-n)
}

// grouped returns n for people.
func grouped(n uint64) string { return l1.Bytes(n).Exact() }

func (v *Verdict) clashText(c Clash) string {
	what := "that is beyond L1, which ends"
	if b, ok := v.inTheWay(c); ok {
		what = b.String() + " is in the way, which starts"
	}
	subject := "no program"
	if p := v.Program; p != nil {
		subject = fmt.Sprintf("program %d", p.ID())
		if p.Name() != "" {
			subject += fmt.Sprintf(" (%.60q)", p.Name())
		}
	}
	return fmt.Sprintf("%s ends at %d on %s: %s at %d; %d B too many", subject, c.End, c.Cores.Brief(), what, c.Limit, c.Over())
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (+%d more)", n)
}

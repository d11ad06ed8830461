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
	case len(v.judged) == 0:
		return ""
	case len(v.Refusals) > 0 && len(v.Clashes) == 0:
		return v.stricter(sitesOf(v.judged))
	case len(v.Refusals) == 0 && len(v.Clashes) > 0:
		return "tt-metal does not see it: " + v.Clashes[0].unseen(sitesOf(v.judged))
	}
	return ""
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
	s, ok := v.subject()
	if !ok {
		return ""
	}
	var cures []string
	if text := v.lower(all, s); text != "" {
		cures = append(cures, text)
	} else if text := v.free(all, s); text != "" {
		cures = append(cures, text)
	}
	text, cured := v.shrink(all, s)
	if cured || len(cures) == 0 {
		cures = append(cures, text)
	}
	return strings.Join(cures, ", or ")
}

// unseen says why tt-metal does not refuse what clashes.
func (c *Clash) unseen(all []site) string {
	b, found := c.inTheWay()
	if !found || b.Kind == KindL1 || b.Kind == KindGlobalCB {
		if at(all, c.Device).claimed.Overlaps(c.Cores) {
			return "on service cores it compares with service buffers only"
		}
		return "its bookkeeping ends below the buffers given"
	}
	return "it compares with the lowest L1 buffer, not with " + b.String()
}

// stricter says why tt-metal refuses what does not clash.
func (v *Verdict) stricter(all []site) string {
	r := v.Refusals[0]
	switch r.Kind {
	case RefusedGrid:
		return ""
	case RefusedGrow:
		return "no byte is beyond L1: tt-metal charges every core of a range with all that was placed on ranges which it meets"
	}
	if r.Kind == RefusedService {
		return "no byte clashes: tt-metal compares with the lowest service buffer of all devices"
	}
	home := at(all, r.Device)
	cores := home.tensorsAt(r.Limit)
	if cores.IsEmpty() {
		return fmt.Sprintf("no byte clashes: the buffer at %s lies on another device, and in HYBRID mode tt-metal compares with the buffers of all devices", grouped(r.Limit))
	}
	if home.unsizedAt(r.Limit) {
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
func (v *Verdict) runsPerCore(all []site, addr uint64) bool {
	others := make([]site, len(all))
	changed := false
	for i := range all {
		place := *all[i].Place
		place.Buffers = slices.Clone(place.Buffers)
		for j := range place.Buffers {
			b := &place.Buffers[j]
			if b.tensor() && b.mode() == Lockstep && slices.ContainsFunc(slices.Collect(b.All()), func(p Part) bool { return p.Range.Start == addr }) {
				b.Mode, changed = PerCore, true
			}
		}
		others[i] = siteOf(&place)
	}
	if !changed {
		return false
	}
	low := lows{sites: others}
	return !slices.ContainsFunc(others, func(at site) bool {
		refusals, doubts := at.refusals(v.Program, &low, true)
		return len(refusals) > 0 || len(doubts) > 0
	})
}

// at returns the site of a device that is the first of its place.
func at(all []site, device DeviceID) *site {
	for i := range all {
		if all[i].Device == device {
			return &all[i]
		}
	}
	return &all[0]
}

// tensorsAt returns the cores on which an L1 buffer starts at an address.
func (at *site) tensorsAt(addr uint64) (out l1.CoreSet) {
	for _, y := range at.layers {
		if y.buffer.tensor() && y.ranges[0].Start == addr {
			out = out.Union(y.cores)
		}
	}
	return out
}

// unsizedAt reports whether all L1 buffers that start at an address are unsized.
func (at *site) unsizedAt(addr uint64) (all bool) {
	for _, y := range at.layers {
		if y.buffer.tensor() && y.ranges[0].Start == addr {
			if all = y.buffer.Unsized; !all {
				return false
			}
		}
	}
	return all
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
		s = subject{r.Device, r.Over(), r.Limit, r.Kind == RefusedGrow, r.Kind == RefusedClash, nil}
		s.cbs = charged(v.Program, r)
	case len(v.Clashes) > 0:
		c := &v.Clashes[0]
		b, found := c.inTheWay()
		s = subject{c.Device, c.Over(), c.Limit, c.Grows, found && (b.Kind == KindL1 || b.Kind == KindGlobalCB), c.CBs}
	default:
		return s, false
	}
	return s, true
}

// charged returns the local buffers of a program that its bookkeeping charges to the core
// range of a refusal, the largest first.
func charged(p *program.Program, r *Refusal) (out []int) {
	sizes := map[int]uint64{}
	for i, cb := range p.CBs() {
		circular := cb.Kind == program.CircularBuffer
		if !cb.Global && cb.Size > 0 && circular == (r.What == program.CircularBuffer) && cb.Cores.Cores().Overlaps(r.Cores.Cores()) {
			out, sizes[i] = append(out, i), cb.Size
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	return out
}

// inTheWay returns the buffers that start in a range, the lowest first: all at its start,
// which is what the program met, and those that it would meet next. Of the latter tt-metal
// counts tensors on any core, and bytes count on the cores of the clash.
func (v *Verdict) inTheWay(all []site, r l1.Range) (out []called) {
	type found struct {
		as    called
		start uint64 // the lowest
		order int    // of the buffer that starts there
	}
	layers := 0
	for i := range all {
		layers += len(all[i].layers)
	}
	var met []found
	in, order := make(map[called]int, layers), 0
	for i := range all {
		for _, y := range all[i].layers {
			start := y.ranges[0].Start
			if start < r.Start || start > r.Start && start >= r.End {
				continue
			}
			if start == r.Start || len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedClash && y.buffer.tensor() ||
				len(v.Clashes) > 0 && y.cores.Overlaps(v.Clashes[0].Cores) {
				f := found{y.buffer.called(), start, order}
				order++
				if at, known := in[f.as]; !known {
					in[f.as] = len(met)
					met = append(met, f)
				} else if start < met[at].start {
					met[at] = f
				}
			}
		}
	}
	slices.SortFunc(met, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order))
	})
	for _, f := range met {
		out = append(out, f.as)
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

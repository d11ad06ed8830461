package device

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Why the two judges differ, and what to do: one line each, from the numbers.

// explain fills in what the two judges disagree on, and the advice.
func (v *Verdict) explain(places []place) {
	switch {
	case len(v.Refusals) > 0 && len(v.Clashes) == 0:
		v.Difference = v.stricter(places)
	case len(v.Refusals) == 0 && len(v.Clashes) > 0:
		v.Difference = "tt-metal does not see it: " + v.Clashes[0].unseen(places)
	}
	v.Advice = v.advise(places)
}

// unseen says why tt-metal does not refuse what clashes.
func (c *Clash) unseen(places []place) string {
	b, found := c.inTheWay()
	if !found || b.Kind == L1 || b.Kind == GlobalCB {
		for _, at := range places {
			if at.first == c.Device && at.heap.serviceCores().Overlaps(c.Cores) {
				return "on service cores it compares with service buffers only"
			}
		}
		return "its bookkeeping ends below the buffers given"
	}
	return "it compares with the lowest L1 buffer, not with " + b.text()
}

// stricter says why tt-metal refuses what does not clash.
func (v *Verdict) stricter(places []place) string {
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
	cores := coresAt(places, r.Device, r.Limit)
	text := fmt.Sprintf("no byte clashes: the buffer at %s lies on %s", grouped(r.Limit), coresText(cores))
	if !cores.Overlaps(r.Cores.Cores()) {
		text += ", and tt-metal compares with the lowest buffer of any core"
	} else {
		text += ", and tt-metal compares with the end of all that it charges to a range, holes included"
	}
	if len(v.Hybrid) == 0 {
		text += "; in HYBRID mode it would run"
	}
	return text
}

// coresAt returns the cores on which an L1 buffer starts at an address.
func coresAt(places []place, device ID, addr uint64) (out l1.CoreSet) {
	for _, at := range places {
		if at.first != device {
			continue
		}
		for _, a := range at.heap.sorted() {
			for _, p := range a.Parts {
				if a.holdsTensor() && p.Range.Start == addr && !p.Range.IsEmpty() {
					out = out.Union(p.Cores)
				}
			}
		}
	}
	return out
}

// advise says in one line what to do, by the numbers.
func (v *Verdict) advise(places []place) string {
	var over uint64
	var clash *Clash
	if len(v.Clashes) > 0 {
		clash = &v.Clashes[0]
		over = clash.Over()
	}
	limit, grows, moves := uint64(0), false, false // moves: with the size of L1_SMALL
	switch {
	case len(v.Refusals) > 0:
		r := v.Refusals[0]
		if r.Kind == RefusedGrid {
			return fmt.Sprintf("name cores inside the %dx%d grid only", r.Cols, r.Rows)
		}
		over, limit, grows, moves = r.Over(), r.Limit, r.Kind == RefusedGrow, r.Kind == RefusedClash
	case clash != nil:
		b, found := clash.inTheWay()
		limit, grows, moves = clash.Limit, clash.Grows, found && (b.Kind == L1 || b.Kind == GlobalCB)
	default:
		return ""
	}
	largest, size := -1, uint64(0)
	for i, cb := range v.Program.CBs() {
		if !cb.Global && cb.Size > size {
			largest, size = i, cb.Size
		}
	}
	shrink := fmt.Sprintf("take %s bytes off the buffers of the program", grouped(over))
	if largest >= 0 {
		shrink += fmt.Sprintf(" (the largest, CB %d, has %s)", largest, grouped(size))
	}
	if grows {
		return shrink + ", or spread them over more cores"
	}
	if spec := places[0].spec; moves && over <= spec.L1Small {
		most := spec.L1Small - over
		most -= most % max(spec.CBAlign, 1) // tt-metal rounds it up
		return fmt.Sprintf("lower L1_SMALL from %s to at most %s, which moves every L1 buffer up, or %s", grouped(spec.L1Small), grouped(most), shrink)
	}
	if names := v.inTheWay(places, l1.Range{Start: limit, End: limit + over}); names != "" {
		return fmt.Sprintf("free or move %s, or %s", names, shrink)
	}
	return shrink
}

// inTheWay names the buffers that start in a range, the lowest first: those at its start,
// which is what the program met, and those that it would meet next. Of the latter tt-metal
// counts tensors on any core, and bytes count on the cores of the clash.
func (v *Verdict) inTheWay(places []place, r l1.Range) string {
	type found struct {
		start uint64
		name  string
	}
	var all []found
	for _, at := range places {
		for _, a := range at.heap.sorted() {
			if a.placed == nil {
				continue
			}
			for _, p := range a.Parts {
				start := p.Range.Start
				if p.Range.IsEmpty() || p.Cores.IsEmpty() || start < r.Start || start > r.Start && start >= r.End {
					continue
				}
				if start == r.Start || len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedClash && a.holdsTensor() ||
					len(v.Clashes) > 0 && p.Cores.Overlaps(v.Clashes[0].Cores) {
					all = append(all, found{start, a.text()})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.start, b.start) })
	var names []string
	known := map[string]bool{}
	for _, f := range all {
		if !known[f.name] {
			known[f.name] = true
			names = append(names, f.name)
		}
	}
	if len(names) > 2 {
		return strings.Join(names[:2], " and ") + more(len(names)-2)
	}
	return strings.Join(names, " and ")
}

// grouped returns n with a comma between each three digits, for people.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// text names a buffer in a few words.
func (b *Buffer) text() string {
	name := fmt.Sprintf("%v %d", b.Kind, b.ID)
	if b.Name != "" {
		name += fmt.Sprintf(" (%.60q)", b.Name)
	}
	return name
}

func (c *Clash) text(id program.ID) string {
	what := "that is beyond L1, which ends"
	if b, ok := c.inTheWay(); ok {
		what = b.text() + " is in the way, which starts"
	}
	return fmt.Sprintf("program %d ends at %d on %s: %s at %d; %d B too many", id, c.End, coresText(c.Cores), what, c.Limit, c.Over())
}

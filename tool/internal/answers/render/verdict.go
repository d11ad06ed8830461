package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// maxResidents is the number of residents in a table of text.
const maxResidents = 20

// complaint is the sentence that says why a program does not fit: the message of tt-metal if it has one, so that
// people and scripts recognise it.
func complaint(v fit.Verdict) string { return shown.Visible(v.String()) }

// writeVerdict says, below that sentence, where and by how much a program does not
// fit, who is in the way, and what to do.
func writeVerdict(page *page, of *answer.Result, f *answer.FailedCheck) {
	v := of.Verdict(f)
	clashes := slices.Clone(v.Clashes)
	slices.SortStableFunc(clashes, func(a, b fit.Clash) int { return cmp.Compare(b.Over(), a.Over()) })
	var notes []note
	if len(clashes) == 0 && len(v.Refusals) > 0 && v.Refusals[0].Kind != fit.RefusedGrid {
		r := v.Refusals[0]
		notes = append(notes, note{"over", fmt.Sprintf("%s bytes on %s of %s, by tt-metal's reckoning: the region ends at %s, the limit is %s",
			grouped(r.Over()), r.Cores, devicesName(of, answer.CaptureID(r.Device), r.Devices), grouped(r.End), grouped(r.Limit))})
	}
	for i, c := range clashes {
		if i == maxClashes {
			notes = append(notes, note{"also", fmt.Sprintf("%s more groups of cores: --format json shows all", grouped(len(clashes)-i))})
			break
		}
		if i > 0 { // the table says the first
			notes = append(notes, note{"also", overText(&c, of)})
		}
	}
	if differs := v.Difference(); differs != "" {
		notes = append(notes, note{"differs", shown.Visible(differs)})
	}
	if advice := v.Advice(); advice != "" {
		notes = append(notes, note{"advice", shown.Visible(advice)})
	}
	page.note(notes...)
	var worst *fit.Clash
	if len(clashes) > 0 {
		worst = &clashes[0]
	}
	rows := f.Residents(culprits(v, worst))
	if len(rows) > 0 {
		title, limit := "what takes L1, by address", uint64(0)
		if worst != nil {
			title = overText(worst, of)
			if !worst.Grows {
				limit = worst.Limit
			}
		}
		writeResidents(page, title, of, rows, limit)
	}
	if worst != nil {
		var holes []note
		for _, h := range v.Holes(*worst) {
			holes = append(holes, note{"unusable", fmt.Sprintf("%s bytes at %s: %s", grouped(h.Range.Len()), rangeText(h.Range), h.Why)})
		}
		page.apart(append(holes, staleAt(of, rows, f.Run.At)...))
	}
}

// maxClashes is how many groups of cores a verdict names in text.
const maxClashes = 4

// overText says where and by how many bytes a program is too large.
func overText(c *fit.Clash, r *answer.Result) string {
	text := fmt.Sprintf("%s bytes too many on %s of %s", grouped(c.Over()), coresText(c.Cores), devicesName(r, answer.CaptureID(c.Device), c.Devices))
	if c.Grows {
		text += ": L1 ends at " + grouped(c.Limit)
	}
	return text
}

// culprits returns the residents of a clash by address: the buffers of the program, and everything in its way.
// Without a clash it returns the subject of the first refusal.
func culprits(v fit.Verdict, c *fit.Clash) []fit.Resident {
	var out []fit.Resident
	switch {
	case c != nil:
		out = append(v.Own(*c), v.Above(*c)...)
	case len(v.Refusals) > 0:
		out = v.Own(fit.Clash{Cores: v.Refusals[0].Cores.Cores()})
	}
	slices.SortStableFunc(out, func(a, b fit.Resident) int { return a.Range.Compare(b.Range) })
	return out
}

// writeResidents writes a table of the residents of a core. An arrow points at the one that begins at a limit, if
// that is not 0.
func writeResidents(page *page, title string, r *answer.Result, rows []answer.L1Resident, limit uint64) {
	head := []string{"bytes", "start", "end", "<what", "<whose"}
	if limit > 0 {
		head = slices.Insert(head, 0, "<")
	}
	t := headed(head...)
	t.most = 50
	shown := rows[:min(len(rows), maxResidents)]
	for _, x := range shown {
		cells := []any{x.Bytes, x.Start, x.End, what(x.Kind, x.CB)}
		if limit > 0 {
			cells = slices.Insert(cells, 0, any(map[bool]string{true: "->"}[x.Start == limit]))
		}
		t.named(func(n int) string { return ownerText(r, x, n) }, cells...)
	}
	if rest := rows[len(shown):]; len(rest) > 0 {
		var sum uint64
		for _, x := range rest {
			sum += x.Bytes
		}
		t.more = append(t.more, fmt.Sprintf("%s more with %s bytes: --format json shows all", grouped(len(rest)), grouped(sum)))
	}
	page.table(title, t)
}

// coresText names cores: "core 0-0", "110 cores [0-0 - 10-9]".
func coresText(cores l1.CoreSet) string {
	if cores.Len() == 1 {
		for c := range cores.All() {
			return "core " + c.String()
		}
	}
	return shown.Plural(cores.Len(), "core") + " " + coreRanges(cores)
}

func rangeText(r l1.Range) string { return grouped(r.Start) + ".." + grouped(r.End) }

package clash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// explain explains a message, with what a capture says about it.
func (f Found) explain(i int, given l1.Spec) Explanation {
	e := Explain(f.Messages[i], given)
	if i < len(f.Matches) {
		e.Add(f.Matches[i])
	}
	return e
}

// Add adds the match of the message in a capture. Questions that the match answers are removed
// from the unknown ones.
func (e *Explanation) Add(match Match) {
	if match.Space != nil {
		e.Notes = slices.DeleteFunc(e.Notes, func(n Note) bool { return n.Label == "unknown" })
		e.addSpace(match.Space)
	}
	e.addChange(match.Margin)
	if match.Level == "" {
		return
	}
	if match.Level != MatchNone {
		e.Notes = slices.DeleteFunc(e.Notes, func(n Note) bool { return n.Label == "unknown" })
	}
	e.tell(match.facts(e.Message), "match")
}

// facts returns what the words about a match may name.
func (m Match) facts(msg Message) teller {
	best := m.Best
	others := slices.DeleteFunc(slices.Clone(m.Ops), func(op string) bool { return op == best.Op })
	var tensor uint64
	if len(m.Tensors) > 0 {
		tensor = m.Tensors[0].Address
	}
	return teller{
		message: msg,
		numbers: map[string]uint64{"ends": m.End, "runs": uint64(m.Runs), "run-base": best.Base, "tensor-at": tensor},
		texts: map[string]string{
			"run": best.text(), "source": best.source(), "other": clip(strings.Join(others[:min(len(others), 1)], "")),
			"buffers": m.buffers(msg), "lowest": m.tensors(msg),
		},
		holds: map[string]bool{
			string(msg.Kind): true, "named": msg.Cores.Len() > 0, "limit-known": !msg.lacks("limit"),
			"none": m.Level == MatchNone, "exact": m.Level == MatchExact, "other-lowest": m.Level == MatchLowest,
			"found": m.End != 0, "any-tensor": len(m.Tensors) > 0,
			"placed": best.Synthesised && m.Level != MatchSize, "several": m.Runs > 1, "missed": m.Runs > 1 && m.miss > 0,
			"other": len(others) > 0, "many": len(others) > 1,
		},
	}
}

// source names the kind of file that a run was read from.
func (r ProgramRun) source() string {
	if r.Log {
		return "log"
	}
	return "capture"
}

// place names a node of the capture of a run, or an event of its log.
func (r ProgramRun) place(event uint64, t string) string {
	word := "node"
	if r.Log {
		word = "event"
	}
	if t != "" {
		return fmt.Sprintf("%s %d (t %s)", word, event, t)
	}
	return fmt.Sprintf("%s %d", word, event)
}

// text names a run.
func (r ProgramRun) text() string {
	op := clip(r.Op)
	if op == "" {
		op = "a program"
	}
	text := op + ", " + r.place(r.Event, r.T)
	if r.Capture != "" {
		text += " of " + clip(path.Base(r.Capture))
	}
	if r.Device != "" {
		text += ", " + r.Device
	}
	switch {
	case r.OneOf > 0:
		text += fmt.Sprintf(" (from the program cache: one of %d that may have run)", r.OneOf)
	case r.Inferred:
		text += " (from the program cache)"
	}
	return text
}

// on returns the buffers of a run on the cores of a message that take any bytes, the
// highest end best.
func (r ProgramRun) on(msg Message) []CB {
	cores := msg.Cores.Cores()
	var out []CB
	for _, cb := range r.CBs {
		if !cb.Range.IsEmpty() && (cores.IsEmpty() || cb.Cores.Cores().Overlaps(cores)) {
			out = append(out, cb)
		}
	}
	slices.SortStableFunc(out, func(a, b CB) int { return cmp.Compare(b.Range.End, a.Range.End) })
	return out
}

// buffers lists the buffers of the program.
func (m Match) buffers(msg Message) string {
	const most = 4
	all := m.Best.on(msg)
	var parts []string
	for i, cb := range all {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more below", len(all)-most))
			break
		}
		text := fmt.Sprintf("%s %d at %s: %s", msg.short(), cb.Number, exact(cb.Range.Start), amount(cb.Range.Len()))
		if i == 0 {
			text += ", reaches up"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// tensors names what lay lowest.
func (m Match) tensors(msg Message) string {
	if len(m.Tensors) == 0 || msg.Kind != Clash {
		return ""
	}
	t := m.Tensors[0]
	text := fmt.Sprintf("L1 buffer at %s: ", exact(t.Address))
	if t.PerCore != 0 {
		text += amount(t.PerCore) + " a core, "
	}
	if t.Layout != "" {
		text += clip(t.Layout) + ", "
	}
	text += "allocated at " + m.Best.place(t.Event, string(t.T))
	if t.Op != "" {
		text += " by " + clip(t.Op)
	}
	if t.Synthesised {
		text += "; its address is not in the " + m.Best.source()
	}
	if n := len(m.Tensors) - 1; n > 0 {
		text += fmt.Sprintf("; %s more at this address", shown.Plural(uint64(n), "buffer"))
	}
	return text
}

// clip shortens the names of functions that run: the innermost ones say most.
func clip(s string) string { return shown.TailText(s, 80) }

// row returns m as JSON.
func (m Match) row(msg Message) *MatchRow {
	if m.Level == "" {
		return nil
	}
	r := &MatchRow{Level: m.Level, Runs: m.Runs, Ops: m.Ops}
	if m.End == 0 {
		return r
	}
	best := m.Best
	r.Capture, r.Event, r.T, r.Op, r.Device = best.Capture, &best.Event, json.Number(best.T), best.Op, best.Device
	r.Log, r.OneOf, r.Inferred, r.Synthesised = best.Log, best.OneOf, best.Inferred, best.Synthesised
	r.Base, r.End = &best.Base, &m.End
	for _, cb := range best.on(msg) {
		r.CBs = append(r.CBs, CBRow{cb.Number, cb.Cores.String(), cb.Range.Start, cb.Range.End, cb.Range.Len()})
	}
	r.Tensors = m.Tensors
	return r
}

package clash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// Add adds what a capture says about the message. Questions that it answers are removed from the
// unknown ones.
func (r *MessageRow) Add(match Match) {
	r.Space, r.Margin = match.Space, match.Margin
	if match.Advice != "" { // of the run, in place of what holds for any
		r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool { return n.Label == "try" })
		r.Notes = slices.Insert(r.Notes, 0, Note{"try", "cbl1 check advises: " + match.Advice})
	}
	found := match.Level != "" && match.Level != MatchNone
	if found || r.Space != nil {
		r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool { return n.Label == "unknown" })
	}
	if r.Space != nil {
		r.addSpace(r.Space)
	}
	if !r.Damaged {
		r.tell(r.changes(match.Margin), "change")
	}
	if match.Level != "" {
		match.Buffers = match.ProgramRun.on(r.Message)
		r.Match = &match
		r.tell(match.facts(r.Message), "match")
	}
}

// facts returns what the words about a match may name.
func (m Match) facts(msg Message) filler {
	best := cmp.Or(m.ProgramRun, &ProgramRun{})
	others := slices.DeleteFunc(slices.Clone(m.Ops), func(op string) bool { return op == best.Op })
	var tensor uint64
	if len(m.Tensors) > 0 {
		tensor = m.Tensors[0].Address
	}
	return filler{
		message: msg,
		numbers: map[string]uint64{"ends": m.End, "runs": uint64(m.Runs), "run-base": best.Base, "tensor-at": tensor},
		texts: map[string]string{
			"run": best.text(), "source": best.source(), "other": clip(strings.Join(others[:min(len(others), 1)], "")),
			"buffers": m.buffers(msg), "lowest": m.tensors(best),
		},
		holds: map[string]bool{
			string(msg.Kind): true, "named": msg.Cores.Len() > 0,
			"none": m.Level == MatchNone, "exact": m.Level == MatchExact, "other-lowest": m.Level == MatchLowest,
			"found": m.ProgramRun != nil, "any-tensor": len(m.Tensors) > 0,
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

// Place names a node of the capture of a run, or an event of its log.
func (r ProgramRun) Place(event uint64, t json.Number) string {
	text := fmt.Sprintf("node %d", event)
	if r.Log {
		text = fmt.Sprintf("event %d", event)
	}
	if t != "" {
		text += fmt.Sprintf(" (t %s)", t)
	}
	return text
}

// text names a run.
func (r ProgramRun) text() string {
	text := cmp.Or(clip(r.Op), "a program") + ", " + r.Place(r.Event, r.T)
	if r.Capture != "" {
		text += " of " + clipFile(r.Capture)
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
// highest end first.
func (r *ProgramRun) on(msg Message) (out []CBRow) {
	if r == nil {
		return nil
	}
	cores := msg.Cores.Cores()
	for _, cb := range r.CBs {
		if !cb.Range.IsEmpty() && (cores.IsEmpty() || cb.Cores.Cores().Overlaps(cores)) {
			out = append(out, CBRow{cb.Number, cb.Cores.String(), cb.Range.Start, cb.Range.End, cb.Range.Len()})
		}
	}
	slices.SortStableFunc(out, func(a, b CBRow) int { return cmp.Compare(b.End, a.End) })
	return out
}

// buffers lists the buffers of the program.
func (m Match) buffers(msg Message) string {
	var parts []string
	for i, cb := range m.Buffers {
		text := fmt.Sprintf("%s %d at %s: %s", msg.short(), cb.Number, exact(cb.Start), amount(cb.Size))
		if i == 0 {
			text += ", reaches up"
		}
		parts = append(parts, text)
	}
	return firstOf(parts, 4, "more below")
}

// firstOf lists the first parts of a list, and says how many more there are.
func firstOf(parts []string, most int, more string) string {
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprint(n, " ", more))
	}
	return strings.Join(parts, "; ")
}

// tensors names the L1 buffer that lay lowest.
func (m Match) tensors(best *ProgramRun) string {
	if len(m.Tensors) == 0 {
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
	text += "allocated at " + best.Place(t.Event, t.T)
	if t.Op != "" {
		text += " by " + clip(t.Op)
	}
	if t.Synthesised {
		text += "; its address is not in the " + best.source()
	}
	if n := len(m.Tensors) - 1; n > 0 {
		text += fmt.Sprintf("; %s more at this address", shown.Plural(n, "buffer"))
	}
	return text
}

// clip shortens the names of functions that run.
func clip(s string) string { return shown.Op(s, 100) }

// clipFile shortens the name of a file.
func clipFile(s string) string { return shown.TailText(path.Base(s), 80) }

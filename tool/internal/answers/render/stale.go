package render

import (
	"fmt"

	"github.com/cbl1/cbl1/tool/replay/answer"
)

// staleNotes say which tensors lay at the peak after their last use.
func staleNotes(r *answer.Result) (notes []note) {
	for _, s := range r.Stale {
		then := ""
		switch {
		case s.Lower.V > 0:
			then = fmt.Sprintf("the peak would be %s lower", grouped(s.Lower.V))
		case s.Lower.OK:
			then = "the peak would be the same"
		}
		notes = append(notes, staleNote(r, s, then))
	}
	return notes
}

// staleNote says when a tensor was used last and freed, and what had been if it was freed then.
func staleNote(r *answer.Result, s answer.Stale, then string) note {
	text := fmt.Sprintf("L1 buffer of %s bytes at %s: ", grouped(s.Bytes), grouped(s.Start))
	if !s.Freed.OK {
		source := "capture"
		if r.Log {
			source = "log"
		}
		return note{"stale", text + fmt.Sprintf("not used again in this %s after %s", source, r.Where(s.LastUse, ""))}
	}
	if text += fmt.Sprintf("last used at %s, freed at %d", r.Where(s.LastUse, ""), s.Freed.V); then != "" {
		text += fmt.Sprintf("; freed at %d, %s", s.LastUse, then)
	}
	return note{"stale", text}
}

// staleAt returns notes about residents that were not used any more at a node.
func staleAt(r *answer.Result, rows []answer.L1Resident, at uint64) (notes []note) {
	for _, x := range rows {
		if s, ok := x.Stale(at); ok {
			notes = append(notes, staleNote(r, s, "it would not be there, if nothing else moves"))
		}
	}
	return notes
}

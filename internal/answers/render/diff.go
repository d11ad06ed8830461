package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/answers/compare"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// Diff returns a comparison. The first line answers; what explains the rest comes first, and
// what changes most bytes of a core before what changes fewer. Its CSV has a row for each thing that
// differs.
func Diff(d *compare.Diff) Document {
	out := Document{json: func(w io.Writer) error { return writeJSON(w, d) }, head: csvDiff{}, rows: rowsOf(diffCSV(d))}
	out.page.line("%s", diffAnswer(d))
	out.page.note(diffNotes(d)...)
	for _, s := range diffSections(d) {
		out.page.table(s.title, s.table, s.more)
	}
	return out
}

// A section is a table of a comparison.
type section struct {
	title string
	table table // its first row is the head
	more  string
}

// diffAnswer says whether two sides differ, or that nobody can tell.
func diffAnswer(d *compare.Diff) string {
	text := "the same: nothing that is compared differs"
	if !d.Equal {
		text = "differs: " + strings.Join(append(answerFacts(d), diffFacts(d)...), "; ")
	}
	if g := d.Growth; g != nil && g.Passed {
		by := ""
		if g.Program != "" {
			by = ": " + opName(g.Program, 60)
		}
		return fmt.Sprintf("grown too much: %s bytes more on the fullest core, %s allowed%s", grouped(g.Bytes), allowedText(g), by)
	}
	var hidden []string
	for _, side := range []struct {
		name string
		compare.Side
	}{{"OLD", d.Sides.Old}, {"NEW", d.Sides.New}} {
		if side.Answer == replay.CannotTell {
			hidden = append(hidden, fmt.Sprintf("%s hides something (%s)", side.name, codesText(side.Untold)))
		}
	}
	if len(hidden) > 0 {
		if !d.Equal {
			text = strings.Join(diffFacts(d), "; ")
		}
		return fmt.Sprintf("cannot tell: %s; of what is shown: %s", strings.Join(hidden, ", "), text)
	}
	return text
}

func codesText(codes []replay.Code) string {
	words := make([]string, 0, len(codes))
	for _, code := range codes {
		words = append(words, shown.Start(string(code), 40))
	}
	return strings.Join(words, ", ")
}

func allowedText(g *compare.Growth) string {
	if text := strings.TrimSpace(g.Text); strings.HasSuffix(text, "%") {
		return fmt.Sprintf("%s (%s)", grouped(g.Allowed), shown.Visible(text))
	}
	return grouped(g.Allowed)
}

// answerFacts say where the verdicts differ, and what they are about.
func answerFacts(d *compare.Diff) (facts []string) {
	old, new := d.Sides.Old, d.Sides.New
	switch {
	case old.Answer != new.Answer:
		facts = append(facts, fmt.Sprintf("%q instead of %q", answerWords(new.Answer), answerWords(old.Answer)))
	case old.Failed != new.Failed:
		facts = append(facts, fmt.Sprintf("%s that do not fit instead of %s", shown.Plural(new.Failed, "run"), grouped(old.Failed)))
	}
	if !slices.Equal(old.Untold, new.Untold) || !slices.Equal(old.Accepted, new.Accepted) {
		facts = append(facts, "something else is hidden")
	}
	return facts
}

// diffFacts are what matters most of a comparison, in a few words.
func diffFacts(d *compare.Diff) (facts []string) {
	for _, c := range d.Captures {
		for _, row := range chipRows(c) {
			fact := row[0] + " " + row[3] // by how much
			if row[3] == "" {
				fact = fmt.Sprintf("%s %s instead of %s", row[0], row[2], row[1])
			}
			if !slices.Contains(facts, fact) {
				facts = append(facts, fact)
			}
		}
	}
	old, new := peakBytes(d.Sides.Old), peakBytes(d.Sides.New)
	switch {
	case new > old:
		facts = append(facts, fmt.Sprintf("the fullest core holds %s bytes more", grouped(new-old)))
	case new < old:
		facts = append(facts, fmt.Sprintf("the fullest core holds %s bytes less", grouped(old-new)))
	default:
		facts = append(facts, "the fullest core holds as much")
	}
	counts := map[compare.State]int{}
	for _, one := range d.Devices {
		if one.State == compare.New || one.State == compare.Gone {
			facts = append(facts, deviceWhere(d, one)+" "+string(one.State))
			continue
		}
		for state, n := range one.Counts {
			counts[state] += n // on devices that are one row it is one
		}
	}
	if text := stateCounts(counts, false); text != "" {
		facts = append(facts, "programs: "+text)
	}
	return facts
}

// stateCounts says how many there are of each state: "2 grown, 1 new".
func stateCounts(counts map[compare.State]int, same bool) string {
	var parts []string
	for _, state := range []compare.State{compare.Grown, compare.Shrunk, compare.New, compare.Gone, compare.Moved, compare.Same} {
		if n := counts[state]; n > 0 && (same || state != compare.Same) {
			parts = append(parts, fmt.Sprintf("%s %s", grouped(n), state))
		}
	}
	return strings.Join(parts, ", ")
}

func peakBytes(s compare.Side) uint64 {
	if s.Peak == nil {
		return 0
	}
	return s.Peak.Bytes
}

// diffNotes say what was compared, and by what.
func diffNotes(d *compare.Diff) (notes []note) {
	if len(d.Captures) == 1 {
		notes = append(notes, note{"old", fileText(d.Captures[0].Old)}, note{"new", fileText(d.Captures[0].New)})
	} else {
		notes = append(notes, note{"old", shown.Plural(d.Sides.Old.Files, "capture")}, note{"new", shown.Plural(d.Sides.New.Files, "capture")})
		for i, c := range d.Captures {
			if c.Old == nil || c.New == nil {
				notes = append(notes, note{"alone", fmt.Sprintf("%s: old %s, new %s", captureLabel(i, c.Rank), fileText(c.Old), fileText(c.New))})
			}
		}
	}
	switch d.Basis.Programs {
	case compare.ByBuffers:
	case compare.BySums:
		notes = append(notes, note{"compared", "programs by their sums: a saved report does not list their buffers"})
	case compare.ByFigures:
		notes = append(notes, note{"compared", "by device alone: a saved report has no programs (cbl1 report --format json --programs writes them)"})
	}
	if d.Basis.Rough {
		notes = append(notes, note{"compared", "programs differ too much to be matched in the best way: fewer may differ than is said"})
	}
	if d.Basis.LeftMore {
		notes = append(notes, note{"compared", fmt.Sprintf("of buffers that live at the end, the first %s", grouped(replay.MaxListed))})
	}
	for _, side := range []struct {
		name string
		compare.Side
	}{{"old", d.Sides.Old}, {"new", d.Sides.New}} {
		if len(side.Accepted) > 0 {
			notes = append(notes, note{"accepted", side.name + ": " + codesText(side.Accepted)})
		}
	}
	if g := d.Growth; g != nil {
		notes = append(notes, note{"growth", growthText(g)})
	}
	return append(notes, momentNotes(d)...)
}

// momentNotes name whose the peak and the tightest headroom of the new side are, where they
// are not those of the old side.
func momentNotes(d *compare.Diff) (notes []note) {
	old, new := d.Sides.Old, d.Sides.New
	if p := new.Peak; p != nil && (old.Peak == nil || old.Peak.Bytes != p.Bytes || old.Peak.Op != p.Op) {
		notes = append(notes, note{"fullest", "new: core " + shown.Start(p.Core, 20) + momentText(p.Device, p.Op, p.Counter)})
	}
	if t := new.Tightest; t != nil && (old.Tightest == nil || old.Tightest.Free != t.Free || old.Tightest.Op != t.Op) {
		notes = append(notes, note{"tightest", "new: " + strings.TrimPrefix(momentText(t.Device, t.Op, t.Counter), ", ")})
	}
	return notes
}

func momentText(device *uint64, op string, at uint64) string {
	text := ""
	if device != nil {
		text = fmt.Sprintf(", device %d", *device)
	}
	if op != "" {
		text += ", " + opName(strings.ReplaceAll(op, "tt::tt_metal::", ""), 60)
	}
	return text + fmt.Sprintf(", at %d", at)
}

func growthText(g *compare.Growth) string {
	text := fmt.Sprintf("%s bytes, %s allowed", signed(g.Bytes), allowedText(g))
	if p := g.Grower; p != nil {
		text += fmt.Sprintf("; on that core %s %s by %s", partName(*p), p.State, grouped(uint64(p.Change())))
		if p.Op != "" {
			text += ", of " + opName(p.Op, 60)
		}
	}
	return text
}

func fileText(f *compare.File) string {
	if f == nil {
		return "none"
	}
	text := shown.End(f.Name, 60)
	switch {
	case f.Saved:
		text += ", a saved report"
	case f.Log:
		text += ": " + shown.Plural(f.Nodes, "event")
	default:
		text += ": " + shown.Plural(f.Nodes, "node")
	}
	return text
}

// captureLabel names one capture of several: by its rank or, where it has none, by its place.
func captureLabel(i int, rank *uint64) string {
	if rank == nil {
		return fmt.Sprintf("capture %d", i+1)
	}
	return fmt.Sprintf("rank %d", *rank)
}

// signed returns a change with its sign: "+4,096", "-4,096", "0".
func signed(n int64) string {
	switch {
	case n > 0:
		return "+" + grouped(n)
	case n < 0:
		return "-" + grouped(uint64(-n))
	}
	return "0"
}

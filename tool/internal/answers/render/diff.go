package render

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// Diff returns a comparison. The first line answers; then comes what explains the rest, and each device, where
// what changes most bytes of a core comes before what changes fewer. Its CSV has a row for each thing that
// differs. Its details are the two inputs.
func Diff(d *diff.Document) Output {
	out := Output{json: func(w io.Writer) error { return writeJSON(w, d) }, csv: func() flatTable { return diffCSV(d) }}
	out.page.line("%s", diffAnswer(d))
	out.page.note(diffNotes(d)...)
	writeDiff(&out.page, d)
	out.page.detail(func() []note { return inputNotes(d) })
	return out
}

// diffAnswer is the verdict, the two sides, and what differs most.
func diffAnswer(d *diff.Document) string {
	word, facts := "differs", append(answerFacts(d), diffFacts(d)...)
	if d.Equal {
		word, facts = "the same", []string{fmt.Sprintf("%s bytes on the fullest core, %s", grouped(peakBytes(d.Sides.New)), answerWords(d.Sides.New.Answer))}
	}
	if hidden := hiddenFacts(d); d.TensorsOnly() {
		facts = append(facts, "both list tensors alone (tensors-only)")
	} else if len(hidden) > 0 {
		if d.Equal {
			facts = []string{"the rest is the same"}
		}
		word, facts = "cannot tell", append(hidden, facts...)
	}
	if g := d.Growth; g != nil && g.Exceeded {
		by := ""
		if g.Program != "" {
			by = ": " + opName(g.Program, 60)
		}
		word, facts = "grown too much", []string{fmt.Sprintf("%s bytes more on the fullest core, %s allowed%s", grouped(g.Bytes), allowedText(g), by)}
	}
	old, new := func(c diff.Capture) *diff.File { return c.Old }, func(c diff.Capture) *diff.File { return c.New }
	behind := 0
	for sideName(d, old, behind) == sideName(d, new, behind) && sideName(d, old, behind) != sideName(d, old, behind+1) {
		behind++
	}
	if sideName(d, old, behind) == sideName(d, new, behind) {
		behind = 0 // one file
	}
	return fmt.Sprintf("%s  %s -> %s  %s", word, sideName(d, old, behind), sideName(d, new, behind), strings.Join(facts, "; "))
}

// sideName names the input of a side without some names at the end of its path, or counts the inputs of their folder.
func sideName(d *diff.Document, of func(diff.Capture) *diff.File, behind int) string {
	const columns = 30
	name := func(f *diff.File) string {
		rest := f.Name
		for range behind {
			rest = path.Dir(rest)
		}
		if rest != f.Name {
			return shown.End(rest, columns) + "/..."
		}
		return shown.End(f.Name, columns)
	}
	var files []*diff.File
	for _, c := range d.Captures {
		if f := of(c); f != nil {
			files = append(files, f)
		}
	}
	switch {
	case len(files) == 1 && files[0].Saved:
		return "saved report of " + name(files[0])
	case len(files) == 1:
		return name(files[0])
	}
	text := shown.Plural(len(files), "capture")
	if dir := folderOf(files); dir != "" && dir != "." && dir != "/" {
		text += " of " + shown.End(dir, columns)
	}
	return text
}

// folderOf returns the deepest folder that has all files.
func folderOf(files []*diff.File) (dir string) {
	for i, f := range files {
		if i == 0 {
			dir = path.Dir(f.Name)
		}
		for dir != "." && dir != "/" && !strings.HasPrefix(f.Name, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return dir
}

// hiddenFacts name the sides that hide something.
func hiddenFacts(d *diff.Document) (facts []string) {
	for name, side := range sidesOf(d) {
		if side.Answer == answer.CannotTell {
			facts = append(facts, fmt.Sprintf("%s hides something (%s)", strings.ToUpper(name), codesText(side.Untold)))
		}
	}
	return facts
}

// sidesOf returns both sides with their names.
func sidesOf(d *diff.Document) func(func(string, diff.Side) bool) {
	return func(yield func(string, diff.Side) bool) {
		_ = yield("old", d.Sides.Old) && yield("new", d.Sides.New)
	}
}

func codesText(codes []answer.Code) string {
	words := make([]string, 0, len(codes))
	for _, code := range codes {
		words = append(words, shown.Start(string(code), 40))
	}
	return strings.Join(words, ", ")
}

func allowedText(g *diff.Growth) string {
	if text := strings.TrimSpace(g.Text); strings.HasSuffix(text, "%") {
		return fmt.Sprintf("%s (%s)", grouped(g.Allowed), shown.Visible(text))
	}
	return grouped(g.Allowed)
}

// answerFacts compare the verdicts of both sides.
func answerFacts(d *diff.Document) (facts []string) {
	old, new := d.Sides.Old, d.Sides.New
	switch {
	case old.Answer == answer.CannotTell || new.Answer == answer.CannotTell:
		return nil // hiddenFacts name the sides
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

// diffFacts are the largest differences, in a few words.
func diffFacts(d *diff.Document) (facts []string) {
	fact := "the fullest core holds as much"
	if by := changed(peakBytes(d.Sides.Old), peakBytes(d.Sides.New)); by != 0 {
		fact = fmt.Sprintf("%v bytes on the fullest core", by)
	}
	facts = append(facts, fact)
	for _, c := range d.Captures {
		for _, row := range chipRows(c) {
			fact := fmt.Sprintf("%s %v", row[0], row[3]) // by how much
			if row[3] == "" {
				fact = fmt.Sprintf("%s %s instead of %s", row[0], row[2], row[1])
			}
			if !slices.Contains(facts, fact) {
				facts = append(facts, fact)
			}
		}
	}
	counts := map[diff.State]int{}
	for _, one := range d.Devices {
		if one.State == diff.New || one.State == diff.Gone {
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
func stateCounts(counts map[diff.State]int, same bool) string {
	var parts []string
	for _, state := range []diff.State{diff.Grown, diff.Shrunk, diff.New, diff.Gone, diff.Moved, diff.Same} {
		if n := counts[state]; n > 0 && (same || state != diff.Same) {
			parts = append(parts, fmt.Sprintf("%s %s", grouped(n), state))
		}
	}
	return strings.Join(parts, ", ")
}

func peakBytes(s diff.Side) uint64 { return known(s.Peak, heldOf).V }

// diffNotes name the basis of the comparison, and the owners of the new peak and of the new tightest headroom.
func diffNotes(d *diff.Document) (notes []note) {
	for i, c := range d.Captures {
		if c.Old == nil || c.New == nil {
			notes = append(notes, note{"alone", fmt.Sprintf("%s: old %s, new %s", captureLabel(i, c.Rank), fileText(c.Old), fileText(c.New))})
		}
	}
	switch d.Basis.Programs {
	case diff.ByBuffers:
	case diff.BySums:
		notes = append(notes, note{"compared", "programs by their sums: a saved report does not list their buffers"})
	case diff.ByFigures:
		notes = append(notes, note{"compared", "by device alone: a saved report has no programs (cbl1 report --format json --programs writes them)"})
	}
	if d.Basis.Rough {
		notes = append(notes, note{"compared", "programs differ too much to be matched in the best way: fewer may differ than is said"})
	}
	if d.Basis.LeftMore {
		notes = append(notes, note{"compared", fmt.Sprintf("of buffers that live at the end, the first %s, and of a peak what both sides list", grouped(answer.MaxListed))})
	}
	for name, side := range sidesOf(d) {
		if len(side.Accepted) > 0 {
			notes = append(notes, note{"accepted", name + ": " + codesText(side.Accepted)})
		}
	}
	if g := d.Growth; g != nil {
		notes = append(notes, note{"growth", growthText(g)})
	}
	old, new := d.Sides.Old, d.Sides.New
	if p := new.Peak; p != nil && (old.Peak == nil || old.Peak.Bytes != p.Bytes || old.Peak.Op != p.Op) {
		notes = append(notes, note{"fullest", fmt.Sprintf("new: core %v, %s", p.Core, momentText(d, p.Device, p.Op, p.Counter))})
	}
	if t := new.Tightest; t != nil && (old.Tightest == nil || old.Tightest.Free != t.Free || old.Tightest.Op != t.Op) {
		notes = append(notes, note{"tightest", "new: " + momentText(d, t.Device, t.Op, t.Counter)})
	}
	return notes
}

func momentText(d *diff.Document, device event.Opt[uint64], op answer.Name, at uint64) string {
	var parts []string
	if device.OK {
		parts = append(parts, deviceName(nil, device))
	}
	if op != "" {
		parts = append(parts, shortName(op, 60))
	}
	word := "node"
	if slices.ContainsFunc(d.Captures, func(c diff.Capture) bool { return c.New != nil && c.New.Log }) {
		word = "event"
	}
	return strings.Join(append(parts, fmt.Sprintf("at %s %d", word, at)), ", ")
}

func growthText(g *diff.Growth) string {
	text := fmt.Sprintf("%v bytes, %s allowed", change(g.Bytes), allowedText(g))
	if p := g.Grower; p != nil {
		text += fmt.Sprintf("; on that core %s %s by %s", what(p.Kind, p.CB), p.State, grouped(uint64(p.Change())))
		if p.Op != "" {
			text += ", of " + opName(p.Op, 60)
		}
	}
	return text
}

// inputNotes name the inputs of both sides.
func inputNotes(d *diff.Document) (notes []note) {
	for _, c := range d.Captures {
		notes = append(notes, note{"old", fileText(c.Old)}, note{"new", fileText(c.New)})
	}
	return notes
}

func fileText(f *diff.File) string {
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
func captureLabel(i int, rank event.Opt[uint64]) string {
	if !rank.OK {
		return fmt.Sprintf("capture %d", i+1)
	}
	return fmt.Sprintf("rank %d", rank.V)
}

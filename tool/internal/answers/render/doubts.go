package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// doubts are the assumptions of all answers, each with the flag that settles it: "chip not named: blackhole (--arch)".
func doubts(r *answer.Result) (out []string) {
	switch {
	case r.Nodes == 0:
	case r.Spec.Arch == "":
		out = append(out, "chip not named: no percentages (--arch)")
	case r.Spec.L1Size == 0 && r.Spec.Arch == l1.Quasar && r.Spec.CBBase == 0:
		out = append(out, "base of a quasar not known: no percentages (--base)")
	case r.Spec.L1Size == 0:
		what := fmt.Sprintf("base %s does not lie in that of a %s (--base)", grouped(r.Spec.CBBase), r.Spec.Arch)
		out = append(out, "size of L1 not known: "+what)
	case r.Spec.ArchFrom == event.FromAssumed:
		out = append(out, assumed(r))
	}
	if r.Spec.Arch == l1.Quasar && r.Spec.CBAlign == l1.ArchSpec(l1.Quasar).CBAlign {
		out = append(out, fmt.Sprintf("alignment of %d assumed (--set align=)", r.Spec.CBAlign))
	}
	out = append(out, below(r)...)
	if r.Placed {
		out = append(out, placed(r))
	}
	if n := r.Hits.Inferred; n > 0 {
		out = append(out, shown.Plural(n, "operation")+" from the program cache: as last time (--no-infer)")
	}
	return out
}

// small is the doubt how large L1_SMALL is, which decides whether buffers fit.
func small(r *answer.Result) []string {
	if f := r.Spec.SmallFrom; r.Spec.L1Size == 0 || f != event.FromAssumed && f != event.FromArch {
		return nil
	}
	return []string{smallText(r.Spec) + " (--l1-small)"}
}

// placed says how addresses were synthesised.
func placed(r *answer.Result) string {
	what := "CBs"
	switch r.Addresses {
	case answer.AddressesMixed:
		what = "some CBs"
	case answer.AddressesRecorded, answer.AddressesNone:
		what = "dataflow buffers and scratchpads"
	}
	from := ""
	if r.Spec.BaseFrom == event.FromArch || r.Spec.BaseFrom == event.FromAssumed {
		from = " (--base)"
	}
	return what + " placed from " + grouped(r.Spec.CBBase) + from
}

// assumed is the chip that is assumed, and where recorded addresses speak for it.
func assumed(r *answer.Result) string {
	if r.Spec.Arch == l1.Wormhole {
		return "chip not named, CBs start as on a wormhole (--arch)"
	}
	return fmt.Sprintf("chip not named: %s (--arch)", r.Spec.Arch)
}

// lowestCB returns the lowest address of a circular buffer.
func lowestCB(r *answer.Result) uint64 {
	lowest := uint64(math.MaxUint64)
	for _, d := range r.Devices {
		for _, g := range d.CoreGroups {
			if len(g.Regions) > 0 {
				lowest = min(lowest, g.Regions[0].Start)
			}
		}
	}
	return lowest
}

// below is the assumed base, if circular buffers start below it.
func below(r *answer.Result) []string {
	from, lowest := r.Spec.BaseFrom, lowestCB(r)
	if from != event.FromArch && from != event.FromAssumed || lowest >= r.Spec.CBBase {
		return nil
	}
	base, start := grouped(r.Spec.CBBase), grouped(lowest)
	return []string{"base assumed: " + base + ", but CBs start at " + start + ", so percentages are off (--base)"}
}

// textNotes are texts, a line each.
func textNotes(label string, all []string) (notes []note) {
	for _, text := range all {
		notes = append(notes, note{label, text})
	}
	return notes
}

// Doubts collects the assumptions of several answers, so that each is named once. The zero Doubts is empty.
type Doubts struct {
	all   []string
	files [][]string // of each assumption
	taken []string   // files of all answers
}

// Take returns the Output without its assumptions, which are kept.
func (all *Doubts) Take(d Output) Output {
	all.taken = append(all.taken, d.file)
	for _, one := range d.page.doubts {
		i := slices.Index(all.all, one)
		if i < 0 {
			i, all.all, all.files = len(all.all), append(all.all, one), append(all.files, nil)
		}
		all.files[i] = append(all.files[i], d.file)
	}
	d.page.doubts = nil
	return d
}

// Text writes a line for each assumption with the names of files, or all of them in one line if there was one file.
func (all *Doubts) Text(w io.Writer, documents, columns int) error {
	var b bytes.Buffer
	if documents == 1 {
		(&page{doubts: all.all}).text(&b, draw.Style{Columns: columns})
	}
	for i, text := range all.all {
		if documents > 1 {
			wrap(&b, "? ", 2, shown.Visible(text)+", in "+all.where(all.files[i]), columns)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// where names the first of some files, without the folder of all files: "a.json", "9 files: a.json, b.json, ...".
func (all *Doubts) where(files []string) string {
	const most = 3
	low, high, folder := slices.Min(all.taken), slices.Max(all.taken), 0
	for i := 0; i < min(len(low), len(high)) && low[i] == high[i]; i++ {
		if low[i] == filepath.Separator {
			folder = i + 1
		}
	}
	var names []string
	for _, file := range files[:min(len(files), most)] {
		names = append(names, shown.End(file[folder:], 40))
	}
	switch n := len(files); {
	case n == 1:
		return names[0]
	case n == len(all.taken):
		return fmt.Sprintf("all %s files", grouped(n))
	case n > most:
		names[most-1] = shown.Ellipsis
	}
	return shown.Plural(len(files), "file") + ": " + strings.Join(names, ", ")
}

// chipText says with which L1 was reckoned.
func chipText(r *answer.Result, s answer.Spec) string {
	text := cmp.Or(string(s.Arch), "not named")
	if s.ArchFrom == event.FromAssumed {
		text += " (assumed)"
	}
	text += ", circular buffers from " + grouped(s.CBBase)
	if r.Placed {
		text += ", aligned to " + grouped(s.CBAlign)
	}
	if s.L1Size == 0 {
		return text + ", size of L1 not known"
	}
	text += fmt.Sprintf(", L1 to %s, %s", grouped(s.L1Size), smallText(s))
	switch s.SmallFrom {
	case event.FromOption:
		text += " (--l1-small)"
	case event.FromFile:
		text += " (" + r.Source() + ")"
	case event.FromAssumed, event.FromArch:
		text += " (assumed)"
	}
	return text
}

// smallText says how large L1_SMALL is.
func smallText(s answer.Spec) string {
	if s.L1Small == 0 {
		return "no L1_SMALL"
	}
	return fmt.Sprintf("L1_SMALL %s bytes from %s", grouped(s.L1Small), grouped(s.L1Size-min(s.L1Small, s.L1Size)))
}

// nothingRan says that no program is known to have run.
func nothingRan(r *answer.Result) string {
	return r.Reason(answer.CodeNothingRan).Text
}

// reasonNotes are reasons, a line each.
func reasonNotes(label string, reasons []answer.Reason) (notes []note) {
	for _, why := range reasons {
		notes = append(notes, note{label, why.Text})
	}
	return notes
}

// coded returns reasons whose texts end with the code that --accept takes.
func coded(reasons []answer.Reason) (out []answer.Reason) {
	for _, why := range reasons {
		why.Text += fmt.Sprintf(" [%s]", shown.Start(string(why.Code), 40))
		out = append(out, why)
	}
	return out
}

// anomalyNotes has a line for an anomaly that was seen.
func anomalyNotes(r *answer.Result, label string, code answer.Code) []note {
	if r.Count(code) == 0 {
		return nil
	}
	return reasonNotes(label, []answer.Reason{r.Reason(code)})
}

// budgetText describes a budget: "80% of usable L1 1,461,248, which are 1,168,998 bytes".
func budgetText(b answer.Budget, usable uint64) string {
	bytes, ok := b.Of(usable)
	switch {
	case !b.IsShare():
		return grouped(bytes) + " bytes"
	case !ok:
		return shown.Visible(b.String()) + " of usable L1, whose size is not known"
	}
	return fmt.Sprintf("%s bytes (%s of usable L1 %s)", grouped(bytes), shown.Visible(strings.TrimSpace(b.String())), grouped(usable))
}

package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

const (
	maxDiffRows = 16 // of one table, in text and markdown
	maxDiffCBs  = 4  // of one program
	maxDiffed   = 8  // devices
	opColumns   = 38 // of an operation in a table
)

// writeDiff writes the tables of a comparison: what differs of chips and verdicts, buffers that live at the end,
// and then device by device.
func writeDiff(page *page, d *diff.Document) {
	if t := answerTable(d); len(t.rows) > 1 {
		page.table("", t)
	}
	for i, c := range d.Captures {
		title := "L1 buffers that live at the end"
		if len(d.Captures) > 1 {
			title += ", " + captureLabel(i, c.Rank)
		}
		writeParts(page, title, c.Left)
	}
	differ := 0
	for _, one := range d.Devices {
		if one.Equal() {
			continue
		}
		if differ++; differ <= maxDiffed {
			writeDevice(page, one, deviceWhere(d, one))
		}
	}
	if n := differ - maxDiffed; n > 0 {
		page.apart([]note{{"more", shown.Plural(n, "further device") + " differ: --format json shows them"}})
	}
}

// answerTable has what explains the rest, and the answers of both sides, where they differ.
func answerTable(d *diff.Document) table {
	t := headed("<", "old", "new", "change")
	for i, c := range d.Captures {
		label := ""
		if len(d.Captures) > 1 {
			label = captureLabel(i, c.Rank) + " "
		}
		for _, row := range chipRows(c) {
			t.add(label+row[0].(string), row[1], row[2], row[3])
		}
	}
	for _, one := range d.Devices {
		if a, b := one.Grid.Old, one.Grid.New; a != nil && b != nil && (a.Cols != b.Cols || a.Rows != b.Rows || a.Cores != b.Cores) {
			t.add("grid of "+deviceWhere(d, one), gridText(a), gridText(b), "")
		}
	}
	old, new := d.Sides.Old, d.Sides.New
	if old.Answer != new.Answer {
		t.add("verdict", answerWords(old.Answer), answerWords(new.Answer), "")
	}
	if old.Failed != new.Failed {
		t.add("runs that do not fit", old.Failed, new.Failed, changed(old.Failed, new.Failed))
	}
	if peakBytes(old) != peakBytes(new) {
		t.add("bytes of fullest core", peakBytes(old), peakBytes(new), changed(peakBytes(old), peakBytes(new)))
	}
	if a, b := known(old.Tightest, freeOf), known(new.Tightest, freeOf); a != b {
		label, by := "tightest headroom", any("")
		if old.Failed+new.Failed > 0 {
			label = "headroom of what fits" // a run that does not fit has none, so a clash would look like room
		}
		if a.OK && b.OK && old.Failed == new.Failed { // else it is of other runs: no gain and no loss
			by = changed(a.V, b.V)
		}
		t.add(label, a, b, by)
	}
	return t
}

// known returns a figure of something, absent without it.
func known[T any](of *T, figure func(T) uint64) event.Opt[uint64] {
	if of == nil {
		return event.Opt[uint64]{}
	}
	return event.Some(figure(*of))
}

func heldOf(p diff.Peak) uint64        { return p.Bytes }
func freeOf(t diff.TightestRun) uint64 { return t.Free }
func bytesOf(e diff.Extent) uint64     { return e.Bytes }
func sizeOf(r diff.CBRow) uint64       { return r.Bytes }
func coreOf(p diff.ProgramRow) uint64  { return p.Core }

func answerWords(a answer.Answer) string { return strings.ReplaceAll(string(a), "_", " ") }

func gridText(g *diff.Grid) string {
	if g.Cols == 0 || g.Rows == 0 {
		return shown.Plural(g.Cores, "core")
	}
	return fmt.Sprintf("%dx%d", g.Cols, g.Rows)
}

// chipRows compare the chips of two captures.
func chipRows(c diff.Capture) (rows [][]any) {
	old, new := c.Chip.Old, c.Chip.New
	if old.Arch != new.Arch {
		rows = append(rows, []any{"chip", chipName(old), chipName(new), ""})
	}
	for _, n := range c.ChipFigures() {
		if n.Old != n.New {
			rows = append(rows, []any{figureText(n.Name), cell(n.Old), cell(n.New), change(n.Change())})
		}
	}
	return rows
}

func chipName(c diff.Chip) string {
	text := opName(c.Arch, 20)
	if c.ArchFrom == event.FromAssumed {
		text += " (assumed)"
	}
	return text
}

// deviceLabel names the devices of a row: "device 0", "devices 0..7 (8 chips, equal)".
func deviceLabel(d diff.Device) string {
	var devices names
	for _, id := range d.IDs {
		one := named{id.New, d.Kind, nil}
		if !id.New.OK {
			one.id = id.Old
		}
		devices = append(devices, one)
	}
	text := devices.where()
	switch {
	case d.Kind == answer.KindMesh && devices[0].id.OK:
		text = fmt.Sprintf("mesh %d", devices[0].id.V)
	case len(devices) > 1:
		text = "devices " + devices.label()
	}
	if id := d.IDs[0]; len(d.IDs) == 1 && id.Old.OK && id.New.OK && id.Old != id.New {
		text += fmt.Sprintf(" (old: %d)", id.Old.V)
	}
	return text
}

// deviceWhere names the devices of a row, and the capture that they are of if there are
// several.
func deviceWhere(d *diff.Document, one diff.Device) string {
	first := one.IDs[0]
	captures := map[int]bool{}
	for _, id := range one.IDs {
		captures[id.Capture] = true
	}
	switch {
	case len(captures) > 1:
		return fmt.Sprintf("%s of %s, equal", shown.Plural(len(one.IDs), "device"), shown.Plural(len(captures), "capture"))
	case len(d.Captures) > 1:
		return captureLabel(first.Capture, first.Rank) + ", " + deviceLabel(one)
	}
	return deviceLabel(one)
}

// writeDevice writes the tables of a device, or of several that differ alike.
func writeDevice(page *page, d diff.Device, label string) {
	if d.State == diff.New || d.State == diff.Gone {
		label = fmt.Sprintf("%s: %s", label, d.State)
	}
	t := headed("<", "old", "new", "change")
	for _, f := range d.Figures {
		if f.Old != f.New {
			t.add(figureText(f.Name), f.Old, f.New, change(f.Change()))
		}
	}
	if p := d.Peak; p.Old != nil && p.New != nil && p.Old.Core != p.New.Core {
		t.add("fullest core", p.Old.Core, p.New.Core, "")
	}
	if len(t.rows) == 1 {
		t.rows = [][]string{{"no figure of the device as a whole differs"}}
	}
	page.table(label, t)
	writeParts(page, "what lay on the fullest core at its peak", d.AtPeak)
	writeGroups(page, d.Groups)
	writeChanges(page, d)
	if len(d.AtPeak)+len(d.Groups)+len(d.Changes) == 0 {
		writeLaid(page, d.Laid)
	}
}

// figureText returns a figure in words.
func figureText(name string) string {
	words := map[string]string{
		"cb_base":                               "CB base",
		"cb_align":                              "CB alignment",
		"l1_size_bytes":                         "end of L1",
		"l1_small_bytes":                        "L1_SMALL",
		"registered_core_peak_bytes":            "CBs registered, fullest core",
		"core_peak_bytes":                       "CBs alive at most, fullest core",
		"registered_union_bytes":                "CBs registered, sum over cores",
		"resident_peak_bytes":                   "CBs alive at most, sum over cores",
		"registered_logical_bytes":              "CBs registered, logical",
		"highest_end":                           "highest end of a CB",
		"dataflow_registered_core_peak_bytes":   "dataflow buffers, fullest core",
		"scratchpad_registered_core_peak_bytes": "scratchpads, fullest core",
		"tracked_core_peak_bytes":               "L1 peak, fullest core",
		"tracked_peak_bytes":                    "L1 peak, sum over cores",
		"l1_peak_bytes":                         "L1 buffers at most",
		"l1_final_bytes":                        "L1 buffers at the end",
		"l1_small_peak_bytes":                   "L1_SMALL buffers at most",
		"l1_small_final_bytes":                  "L1_SMALL buffers at the end",
	}
	if text, ok := words[name]; ok {
		return text
	}
	return name
}

func writeParts(page *page, title string, parts []diff.Resident) {
	t := headed("change", "<state", "old", "new", "<what")
	for _, p := range first(&t, parts, maxDiffRows, 0) {
		t.add(change(p.Change()), p.State, known(p.Old, bytesOf), known(p.New, bytesOf), partText(p))
	}
	if len(parts) > 0 {
		page.table(title, t)
	}
}

func partText(p diff.Resident) string {
	text := what(p.Kind, p.CB)
	if p.Times > 1 {
		text = fmt.Sprintf("%s x %s", grouped(p.Times), text)
	}
	if p.Op != "" {
		text += ", " + partOwner(p.Op)
	}
	if p.State == diff.Moved {
		text += movedText(p.Old.Start, p.New.Start)
	}
	return text
}

// movedText says by how many bytes a start moved, if both are known.
func movedText(old, new event.Opt[uint64]) string {
	if !old.OK || !new.OK || old == new {
		return ""
	}
	return fmt.Sprintf(" (%v)", changed(old.V, new.V))
}

// partOwner names an operation in few columns. In a long path the user's call is kept.
func partOwner(op answer.Name) string {
	const most = 28
	if name := shortName(op, 1<<20); shown.Width(shown.Visible(name)) > most {
		op = caller(op)
	}
	return shortName(op, most)
}

func writeGroups(page *page, groups []diff.Group) {
	t := headed("change", "<state", "old", "new", "end", "cores", "<which")
	for _, g := range first(&t, groups, maxDiffRows, 0) {
		r := g.Registered
		t.add(changed(r.Old, r.New), g.State, r.Old, r.New, changed(g.End.Old, g.End.New), g.Count, g.Cores)
	}
	if len(groups) > 0 {
		page.table("CBs registered on each core, by group of cores", t)
	}
}

// writeLaid lists the groups of cores that differ at the peak. It is left out behind any other table.
func writeLaid(page *page, groups []diff.LaidGroup) {
	t := headed("change", "old", "new", "cores", "<which")
	for _, g := range first(&t, groups, maxDiffRows, 0) {
		t.add(changed(g.Tracked.Old, g.Tracked.New), g.Tracked.Old, g.Tracked.New, g.Count, g.Cores)
	}
	if len(groups) > 0 {
		page.table("bytes on each core at the peak, by group of cores", t)
	}
}

// writeChanges lists the programs of a device that differ, each with its buffers that do. Programs that moved as
// a whole are counted.
func writeChanges(page *page, d diff.Device) {
	t := headed("change", "<state", "old", "new", "<operation")
	t.most = opColumns
	var changes []diff.Program
	var offsets []int64 // by which programs moved as a whole
	whole := map[int64]int{}
	for _, p := range d.Changes {
		by, ok := movedBy(p)
		switch {
		case !ok:
			changes = append(changes, p)
			continue
		case whole[by] == 0:
			offsets = append(offsets, by)
		}
		whole[by] += p.Times
	}
	for _, p := range first(&t, changes, maxDiffRows, 0) {
		t.named(func(n int) string {
			if p.Times > 1 {
				return fmt.Sprintf("%s x %s", grouped(p.Times), shortName(p.Op, n))
			}
			return shortName(p.Op, n)
		}, change(p.Change()), p.State, known(p.Old, coreOf), known(p.New, coreOf))
		for i, cb := range p.CBs {
			if i == maxDiffCBs {
				t.add("", "", "", "", fmt.Sprintf("  %s more of its buffers", grouped(len(p.CBs)-i)))
				break
			}
			addBuffer(&t, cb)
		}
	}
	for i, by := range offsets {
		if i == maxDiffCBs {
			t.more = append(t.more, "others by other numbers of bytes")
			break
		}
		t.more = append(t.more, fmt.Sprintf("%s moved as a whole, by %v bytes", shown.Plural(whole[by], "program"), change(by)))
	}
	if len(changes) == 0 {
		t.rows = nil
	}
	if len(d.Changes) > 0 {
		page.table(fmt.Sprintf("programs: %s; bytes of their fullest core", stateCounts(d.Counts, true)), t)
	}
}

// movedBy returns by how many bytes a program moved whose buffers all moved alike, and
// nothing else.
func movedBy(p diff.Program) (by int64, ok bool) {
	if p.State != diff.Moved {
		return 0, false
	}
	for i, cb := range p.CBs {
		if cb.State != diff.Moved || !cb.Old.Start.OK || !cb.New.Start.OK || !cb.Old.Cores.Equal(cb.New.Cores) {
			return 0, false
		}
		n := int64(cb.New.Start.V) - int64(cb.Old.Start.V)
		if i > 0 && n != by {
			return 0, false
		}
		by = n
	}
	return by, len(p.CBs) > 0
}

// addBuffer adds the row of a buffer that differs.
func addBuffer(t *table, cb diff.CB) {
	old, new := cb.Old, cb.New
	text := what(cb.Kind, event.Some(cmp.Or(new, old).Number))
	if cb.Global {
		text = "global " + text
	}
	if old != nil && new != nil {
		if old.Number != new.Number {
			text += fmt.Sprintf(", was %d", old.Number)
		}
		if cb.State == diff.Moved {
			text += movedText(old.Start, new.Start)
		}
		if !old.Cores.Equal(new.Cores) {
			text += ", on other cores"
		}
	}
	t.add(change(cb.Change()), cb.State, known(old, sizeOf), known(new, sizeOf), "  "+text)
}

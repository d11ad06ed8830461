package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/answers/compare"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

const (
	maxDiffRows = 16 // of one table, in text and markdown
	maxDiffCBs  = 4  // of one program
	maxDiffed   = 8  // devices
	opColumns   = 38 // of an operation in a table
)

// diffSections are the tables of a comparison: what explains the rest, the answers, and then
// device by device.
func diffSections(d *compare.Diff) (out []section) {
	out = append(out, section{table: answerTable(d)})
	for i, c := range d.Captures {
		if len(c.Left) > 0 {
			title := "L1 buffers that live at the end"
			if len(d.Captures) > 1 {
				title += ", " + captureLabel(i, c.Rank)
			}
			out = append(out, partSection(title, c.Left))
		}
	}
	differ := 0
	for _, one := range d.Devices {
		if one.Equal() {
			continue
		}
		if differ++; differ <= maxDiffed {
			out = append(out, deviceSections(one, deviceWhere(d, one))...)
		}
	}
	if n := differ - maxDiffed; n > 0 {
		out[len(out)-1].more = strings.TrimPrefix(out[len(out)-1].more+"\n", "\n") + shown.Plural(n, "further device") + " differ: --format json shows them"
	}
	return out
}

// answerTable has what explains the rest, where it differs, and the answers of both sides.
func answerTable(d *compare.Diff) table {
	t := table{left: map[int]bool{0: true}}
	t.add("", "old", "new", "change")
	for i, c := range d.Captures {
		label := ""
		if len(d.Captures) > 1 {
			label = captureLabel(i, c.Rank) + " "
		}
		for _, row := range chipRows(c) {
			row[0] = label + row[0]
			t.add(row...)
		}
	}
	for _, one := range d.Devices {
		if a, b := one.Grid.Old, one.Grid.New; a != nil && b != nil && (a.Cols != b.Cols || a.Rows != b.Rows || a.Cores != b.Cores) {
			t.add("grid of "+deviceWhere(d, one), gridText(a), gridText(b), "")
		}
	}
	old, new := d.Sides.Old, d.Sides.New
	t.add("verdict", answerWords(old.Answer), answerWords(new.Answer), "")
	t.add("runs that do not fit", grouped(old.Failed), grouped(new.Failed), signed(new.Failed-old.Failed))
	t.add("bytes of fullest core", grouped(peakBytes(old)), grouped(peakBytes(new)), signed(int64(peakBytes(new))-int64(peakBytes(old))))
	change := ""
	if old.Tightest != nil && new.Tightest != nil {
		change = signed(int64(new.Tightest.Free) - int64(old.Tightest.Free))
	}
	label := "tightest headroom"
	if old.Failed+new.Failed > 0 {
		label = "headroom of what fits" // a run that does not fit has none, so a clash would look like room
	}
	t.add(label, headroomText(old.Tightest), headroomText(new.Tightest), change)
	return t
}

func headroomText(t *compare.Tightest) string {
	if t == nil {
		return "-"
	}
	return grouped(t.Free)
}

func answerWords(a replay.Answer) string { return strings.ReplaceAll(string(a), "_", " ") }

func gridText(g *compare.Grid) string {
	if g.Cols == 0 || g.Rows == 0 {
		return shown.Plural(g.Cores, "core")
	}
	return fmt.Sprintf("%dx%d", g.Cols, g.Rows)
}

// chipRows are what differs of the chips with which two captures were reckoned.
func chipRows(c compare.Capture) (rows [][]string) {
	old, new := c.Chip.Old, c.Chip.New
	if old.Arch != new.Arch {
		rows = append(rows, []string{"chip", chipName(old), chipName(new), ""})
	}
	for _, n := range []struct {
		name     string
		old, new uint64
	}{{"CB base", old.Base, new.Base}, {"CB alignment", old.Align, new.Align}, {"end of L1", old.L1Size, new.L1Size}, {"L1_SMALL", old.L1Small, new.L1Small}} {
		if n.old != n.new {
			rows = append(rows, []string{n.name, grouped(n.old), grouped(n.new), signed(int64(n.new) - int64(n.old))})
		}
	}
	return rows
}

func chipName(c compare.Chip) string {
	text := opName(c.Arch, 20)
	if c.ArchFrom == "assumed" {
		text += " (assumed)"
	}
	return text
}

// deviceLabel names the devices of a row: "device 0", "devices 0..7 (8 chips, equal)".
func deviceLabel(d compare.Device) string {
	var devices []*replay.Device
	for _, id := range d.IDs {
		v := id.New
		if v == nil {
			v = id.Old
		}
		one := &replay.Device{Kind: d.Kind}
		if v != nil {
			one.ID.V, one.ID.OK = *v, true
		}
		devices = append(devices, one)
	}
	f := fold{devices[0], devices}
	text := f.where()
	switch {
	case d.Kind == replay.KindMesh && f.first.ID.OK:
		text = fmt.Sprintf("mesh %d", f.first.ID.V)
	case len(devices) > 1:
		text = "devices " + f.label()
	}
	if id := d.IDs[0]; len(d.IDs) == 1 && id.Old != nil && id.New != nil && *id.Old != *id.New {
		text += fmt.Sprintf(" (old: %d)", *id.Old)
	}
	return text
}

// deviceWhere names the devices of a row, and the capture that they are of if there are
// several.
func deviceWhere(d *compare.Diff, one compare.Device) string {
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

// deviceSections are the tables of a device, or of several that differ alike.
func deviceSections(d compare.Device, label string) (out []section) {
	figures := section{title: label, table: table{left: map[int]bool{0: true}}}
	if d.State == compare.New || d.State == compare.Gone {
		figures.title = fmt.Sprintf("%s: %s", label, d.State)
	}
	figures.table.add("", "old", "new", "change")
	for _, f := range d.Figures {
		if f.Old != f.New {
			figures.table.add(figureText(f.Name), grouped(f.Old), grouped(f.New), signed(f.Change()))
		}
	}
	if p := d.Peak; p.Old != nil && p.New != nil && p.Old.Core != p.New.Core {
		figures.table.add("fullest core", opName(p.Old.Core, 20), opName(p.New.Core, 20), "")
	}
	if len(figures.table.rows) == 1 {
		figures.table.rows = [][]string{{"no figure of the device as a whole differs"}}
	}
	out = append(out, figures)
	if len(d.AtPeak) > 0 {
		out = append(out, partSection("what lay on the fullest core at its peak", d.AtPeak))
	}
	if len(d.Groups) > 0 {
		out = append(out, groupSection(d.Groups))
	}
	if len(d.Changes) > 0 {
		out = append(out, programSection(d))
	}
	if len(out) == 1 && len(d.Laid) > 0 {
		out = append(out, laidSection(d.Laid))
	}
	return out
}

// figureText says what a figure is.
func figureText(name string) string {
	words := map[string]string{
		"programs":                              "programs",
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

// limited says how many rows of a table are left out.
func limited(n int) string {
	if n <= 0 {
		return ""
	}
	return grouped(n) + " more: --format json shows all"
}

func partSection(title string, parts []compare.Part) section {
	s := section{title: title, table: table{left: map[int]bool{1: true, 4: true}}}
	s.table.add("change", "state", "old", "new", "what")
	for _, p := range parts[:min(len(parts), maxDiffRows)] {
		s.table.add(signed(p.Change()), string(p.State), bytesOf(p.Old), bytesOf(p.New), partText(p))
	}
	s.more = limited(len(parts) - maxDiffRows)
	return s
}

func bytesOf(e *compare.Extent) string {
	if e == nil {
		return "-"
	}
	return grouped(e.Bytes)
}

// partName says what a part is: "CB 3", "l1".
func partName(p compare.Part) string {
	name := kindText(p.Kind)
	if p.CB != nil {
		name += fmt.Sprintf(" %d", *p.CB)
	}
	return name
}

// kindText spells the name of a kind in JSON as people do.
func kindText(name string) string {
	switch name {
	case "cb":
		return "CB"
	case "l1":
		return "L1 buffer"
	case "l1_small":
		return "L1_SMALL buffer"
	case "dram":
		return "DRAM buffer"
	}
	return opName(strings.ReplaceAll(name, "_", " "), 20)
}

func partText(p compare.Part) string {
	text := partName(p)
	if p.Times > 1 {
		text = fmt.Sprintf("%s x %s", grouped(p.Times), text)
	}
	if p.Op != "" {
		text += ", " + partOwner(p.Op)
	}
	if p.State == compare.Moved && p.Old.Start != nil && p.New.Start != nil && *p.Old.Start != *p.New.Start {
		text += fmt.Sprintf(" (%s)", signed(int64(*p.New.Start)-int64(*p.Old.Start)))
	}
	return text
}

// partOwner names an operation in few columns: what the user called tells most.
func partOwner(op string) string {
	const most = 28
	if op = strings.ReplaceAll(op, "tt::tt_metal::", ""); shown.Width(shown.Visible(op)) > most {
		op = caller(op)
	}
	return opName(op, most)
}

func groupSection(groups []compare.Group) section {
	s := section{title: "CBs registered on each core, by group of cores", table: table{left: map[int]bool{1: true, 6: true}}}
	s.table.add("change", "state", "old", "new", "end", "cores", "which")
	for _, g := range groups[:min(len(groups), maxDiffRows)] {
		s.table.add(signed(int64(g.Registered.New)-int64(g.Registered.Old)), string(g.State), grouped(g.Registered.Old), grouped(g.Registered.New),
			signed(int64(g.End.New)-int64(g.End.Old)), grouped(g.Count), opName(strings.Trim(g.Cores, "{}"), 24))
	}
	s.more = limited(len(groups) - maxDiffRows)
	return s
}

// laidSection lists the groups of cores that differ at the peak. It is left out behind any other table.
func laidSection(groups []compare.LaidGroup) section {
	s := section{title: "bytes on each core at the peak, by group of cores", table: table{left: map[int]bool{4: true}}}
	s.table.add("change", "old", "new", "cores", "which")
	for _, g := range groups[:min(len(groups), maxDiffRows)] {
		change := signed(int64(g.Tracked.New) - int64(g.Tracked.Old))
		s.table.add(change, grouped(g.Tracked.Old), grouped(g.Tracked.New), grouped(g.Count), opName(strings.Trim(g.Cores, "{}"), 24))
	}
	s.more = limited(len(groups) - maxDiffRows)
	return s
}

// programSection is the table of the programs of a device that differ, each with its
// buffers that do.
func programSection(d compare.Device) section {
	s := section{title: fmt.Sprintf("programs: %s; bytes of their fullest core", stateCounts(d.Counts, true)), table: table{left: map[int]bool{1: true, 4: true}, most: opColumns}}
	s.table.add("change", "state", "old", "new", "operation")
	left := 0
	var offsets []int64 // by which programs moved as a whole
	whole := map[int64]int{}
	for _, p := range d.Changes {
		if by, ok := movedBy(p); ok {
			if whole[by] == 0 {
				offsets = append(offsets, by)
			}
			whole[by] += p.Times
			continue
		}
		if len(s.table.rows) > maxDiffRows {
			left++
			continue
		}
		s.table.named(func(n int) string {
			name := opName(strings.ReplaceAll(p.Op, "tt::tt_metal::", ""), n)
			if p.Times > 1 {
				name = fmt.Sprintf("%s x %s", grouped(p.Times), name)
			}
			return name
		}, signed(p.Change()), string(p.State), coreOf(p.Old), coreOf(p.New))
		for i, cb := range p.CBs {
			if i == maxDiffCBs {
				s.table.add("", "", "", "", fmt.Sprintf("  %s more of its buffers", grouped(len(p.CBs)-i)))
				break
			}
			s.table.add(cbCells(cb)...)
		}
	}
	var more []string
	if text := limited(left); text != "" {
		more = append(more, text)
	}
	for i, by := range offsets {
		if i == maxDiffCBs {
			more = append(more, "others by other numbers of bytes")
			break
		}
		more = append(more, fmt.Sprintf("%s moved as a whole, by %s bytes", shown.Plural(whole[by], "program"), signed(by)))
	}
	if s.more = strings.Join(more, "\n"); len(s.table.rows) == 1 {
		s.table.rows = nil
	}
	return s
}

// movedBy returns by how many bytes a program moved whose buffers all moved alike, and
// nothing else.
func movedBy(p compare.Program) (by int64, ok bool) {
	if p.State != compare.Moved {
		return 0, false
	}
	for i, cb := range p.CBs {
		if cb.State != compare.Moved || cb.Old.Start == nil || cb.New.Start == nil || cb.Old.Cores != cb.New.Cores {
			return 0, false
		}
		n := int64(*cb.New.Start) - int64(*cb.Old.Start)
		if i > 0 && n != by {
			return 0, false
		}
		by = n
	}
	return by, len(p.CBs) > 0
}

func coreOf(p *compare.ProgramRow) string {
	if p == nil {
		return "-"
	}
	return grouped(p.Core)
}

func cbCells(cb compare.CB) []string {
	old, new, change, number := "-", "-", int64(0), 0
	if cb.Old != nil {
		old, change, number = grouped(cb.Old.Bytes), -int64(cb.Old.Bytes), cb.Old.Number
	}
	if cb.New != nil {
		new, change, number = grouped(cb.New.Bytes), change+int64(cb.New.Bytes), cb.New.Number
	}
	text := fmt.Sprintf("  %s %d", kindText(cb.Kind), number)
	if cb.Global {
		text = "  global" + text[1:]
	}
	if cb.Old != nil && cb.New != nil && cb.Old.Number != cb.New.Number {
		text += fmt.Sprintf(", was %d", cb.Old.Number)
	}
	if cb.State == compare.Moved && cb.Old.Start != nil && cb.New.Start != nil && *cb.Old.Start != *cb.New.Start {
		text += fmt.Sprintf(" (%s)", signed(int64(*cb.New.Start)-int64(*cb.Old.Start)))
	}
	if cb.Old != nil && cb.New != nil && cb.Old.Cores != cb.New.Cores {
		text += ", on other cores"
	}
	return []string{signed(change), string(cb.State), old, new, text}
}

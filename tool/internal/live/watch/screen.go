package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A Look is the style of a line.
type Look int

// The looks.
const (
	Plain Look = iota
	Head
	Good // there is room
	Warn // from 75 %
	Bad  // from 90 %, and faults
)

// A Line is one line of a screen. Its text has no control characters.
type Line struct {
	Text   string
	Look   Look
	Beside *Line // a second part that follows Text on a wide screen; nil if there is none
}

// Lines returns the screen in so many columns and rows; 0 rows are as many as it takes, one part
// below the other.
func (m *Model) Lines(columns, rows int) []Line {
	columns = max(columns, 20)
	out := m.top(columns)
	size := area{columns: columns, rows: noEnd}
	if rows > 0 {
		size.rows = max(0, rows-len(out))
	}
	switch m.view {
	case ViewChart:
		out = append(out, m.chart(columns, min(size.rows, 24))...)
	case ViewMap:
		out = append(out, m.cores(size)...)
	case ViewHelp:
		out = append(out, m.scrolled(m.help(columns), size.rows)...)
	default:
		out = append(out, m.devices(size)...)
	}
	if rows > 0 && len(out) > rows {
		out[rows-1] = Line{Text: fmt.Sprintf("and %d more lines, on a higher screen", len(out)-rows+1)}
		out = out[:rows]
	}
	for i := range out {
		if out[i].Beside == nil {
			out[i].Text = m.fitting(out[i].Text, columns)
		}
	}
	return out
}

func (m *Model) top(columns int) []Line {
	at := time.Unix(0, m.now.Time).UTC().Format("15:04:05")
	head := fmt.Sprintf("cbl1 watch  %s  %s  %s", m.now.Source, at, shown.Plural(int64(len(m.now.Devices)), "device"))
	keys := "   1 devices 2 chart 3 map j k q ? help"
	if len(head)+len(keys) > columns {
		keys = "  1 2 3 j k q ?"
	}
	out := []Line{{Look: Head, Text: head + keys}}
	if m.failure != "" {
		out = append(out, wrapped([]Line{{Text: "no answer: " + m.failure, Look: Bad}}, columns)...)
	}
	if m.now.Behind > 0 {
		out = append(out, Line{Text: fmt.Sprintf("behind: %s bytes of the log are not read yet", exact(uint64(m.now.Behind))), Look: Bad})
	}
	return out
}

func exact(n uint64) string { return l1.Bytes(n).Exact() }

// optional returns a figure, or ? for one that is not known.
func optional(n *uint64) string {
	if n == nil {
		return "?"
	}
	return exact(*n)
}

// devices shows the list of devices, and the details below it or, on a wide screen, beside it.
func (m *Model) devices(size area) []Line {
	if size.rows < noEnd && size.columns >= wideScreen {
		at := max(leastRow, size.columns/2)
		return m.beside(m.list(size.rows), m.scrolled(m.details(size.columns-at), size.rows), at, size.columns)
	}
	details := m.details(size.columns)
	least := min(1+len(m.order), max(leastList, 1+size.rows/2))
	list := m.list(max(size.rows-len(details), least))
	if len(list)+len(details) < size.rows {
		list = append(list, Line{})
	}
	return append(list, m.scrolled(details, max(1, size.rows-len(list)))...)
}

// leastList is the height of a list with its head, the fullest device, the selected one, and the
// numbers of rows that are left out above and below.
const leastList = 5

// list shows the devices in so many rows, the fullest first. Where there are more, the fullest and
// the selected one are in the list, and it counts the rows left out above and below.
func (m *Model) list(rows int) []Line {
	out := []Line{{Text: "   device  board      of usable L1                  bytes    headroom"}}
	if len(m.order) == 0 {
		return append(out, Line{Text: "   " + m.none()})
	}
	from, to := window(m.place(), len(m.order), rows-1)
	for i, at := range m.order[:to] {
		switch {
		case i == 1 && from > 1:
			out = append(out, Line{Text: fmt.Sprintf("     ... %d above", from-1)})
		case i == 0 || i >= from:
			out = append(out, m.row(&m.now.Devices[at]))
		}
	}
	if left := len(m.order) - to; left > 0 {
		out = append(out, Line{Text: fmt.Sprintf("     ... %d below", left)})
	}
	return out
}

// window returns the rows of a list that follow its first one in so many lines. The list has n
// rows, and at is one of the shown. A line counts the rows left out above, another one the rows
// below.
func window(at, n, lines int) (from, to int) {
	lines = max(lines, leastList-1)
	switch {
	case n <= lines:
		return 1, n
	case at < lines-1: // the first row, those after it, and the line below
		return 1, lines - 1
	case at >= n-(lines-2): // the first row, the line above, and the last rows
		return n - (lines - 2), n
	}
	from = at - (lines-3)/2
	return from, from + lines - 3
}

// details shows the selected device, the processes, and faults.
func (m *Model) details(columns int) []Line {
	return append(wrapped(slices.Concat(m.odd(), m.breakdown(), m.wrong()), columns), m.processes()...)
}

// none returns the reason why there is no device.
func (m *Model) none() string {
	switch {
	case m.now.Source != FeedRegions:
		return "nothing is known of any device yet"
	case len(m.now.Refused) > 0:
		return "there are no regions that can be read"
	}
	return "there are no regions: no process publishes its sums in this folder"
}

// row is one device: its share as a bar.
func (m *Model) row(d *answer.LiveDevice) Line {
	bytes, of, what := Fullness(d)
	mark, percent, bar := "  ", "     ?", strings.Repeat(" ", barCells)
	if DeviceKeyOf(d) == m.at {
		mark = "> "
	}
	look := Plain
	if of > 0 {
		percent, bar, look = fmt.Sprintf("%5.1f%%", 100*share(d)), m.bar(share(d)), lookOf(share(d))
	}
	flags := ""
	if d.Bound {
		flags += " at most"
	}
	if d.Incomplete {
		flags, look = flags+" INCOMPLETE", Bad
	}
	if m.above[DeviceKeyOf(d)] != 0 {
		flags += " accounting"
	}
	if what == "" {
		flags += " nothing is known"
	}
	if d.Fleet != "" {
		flags = " of " + d.Fleet + flags
	}
	text := fmt.Sprintf("%s %6d  %-9.9s %s %s %11s %11s%s", mark, d.Device, d.Board, bar, percent, exact(bytes), optional(d.Headroom), flags)
	return Line{Text: text, Look: look}
}

const barCells = 16

func (m *Model) bar(share float64) string {
	full, empty := "█", "░"
	if m.ASCII {
		full, empty = "#", "."
	}
	n := int(min(share, 1)*barCells + 0.5)
	return strings.Repeat(full, n) + strings.Repeat(empty, barCells-n)
}

func lookOf(share float64) Look {
	switch {
	case share >= 0.9:
		return Bad
	case share >= 0.75:
		return Warn
	}
	return Good
}

// breakdown shows the figures of the selected device in a table: bytes now, their share, and the most bytes at a
// time. It leaves out figures that the source lacks.
func (m *Model) breakdown() []Line {
	d := m.looked()
	if d == nil {
		return nil
	}
	var peak answer.LivePeak
	var core *uint64 // the peak of the fullest core
	if d.Peak != nil {
		peak, core = *d.Peak, &d.Peak.Core
	}
	out := []Line{{Look: Head, Text: title(d) + ": " + usableText(d)}}
	add := func(name string, now, most *uint64, whole uint64) {
		share, high := "", ""
		if now == nil {
			return
		}
		if whole > 0 {
			share = fmt.Sprintf("%.1f%%", 100*float64(*now)/float64(whole))
		}
		if most != nil {
			high = exact(*most)
		}
		out = append(out, Line{Text: fmt.Sprintf("    %-24s %14s %6s %13s", name, exact(*now), share, high)})
	}
	out = append(out, Line{Text: fmt.Sprintf("  %-26s %14s %6s %13s", "bytes on all cores", "now", "share", "peak")})
	add("CBs, registered", d.Registered, peak.Registered, physical(d))
	add("CBs, resident", d.Dispatched, peak.Dispatched, physical(d))
	add("L1 buffers", &d.L1, nil, physical(d))
	add("L1_SMALL buffers", &d.L1Small, nil, 0)
	add("kernels", d.Kernels, nil, physical(d))
	all, whole := physical(d), d.Usable
	if d.L1Small > 0 {
		all, whole = 0, 0 // some of it lies in L1_SMALL
	}
	add("tracked: all but kernels", d.Tracked, peak.Tracked, all)
	add("CB sizes times cores", d.Logical, nil, physical(d))
	add("CB sizes in messages", d.Sum, nil, physical(d))
	if d.Core != nil || d.TrackedCore != nil {
		out = append(out, Line{Text: "  bytes on the fullest core"})
		add("CBs, registered", d.Core, core, d.Usable)
		add("tracked: all but kernels", d.TrackedCore, peak.TrackedCore, whole)
		if whole != d.Usable {
			add("of them below L1_SMALL", d.Below, nil, d.Usable)
		}
	}
	size := *cmp.Or(d.DRAMSize, new(uint64))
	out = append(out, Line{Text: strings.TrimSuffix("  bytes in DRAM, of "+exact(size), ", of 0")})
	add("buffers", &d.DRAM, nil, size)
	add("traces", &d.Trace, nil, size)
	if _, _, bar := Fullness(d); bar != "" {
		out = append(out, Line{Text: "  the bar: " + bar + ", of its usable L1"})
	}
	if from := m.above[DeviceKeyOf(d)]; from != 0 {
		text := fmt.Sprintf("  accounting for %v: %s, beyond its L1, counts twice", m.since(from), accounting(d))
		out = append(out, Line{Text: text, Look: Warn})
	}
	return out
}

// usableText returns the size of the usable L1 of a device, in words.
func usableText(d *answer.LiveDevice) string {
	switch {
	case physical(d) > 0:
		return fmt.Sprintf("%d cores, %s bytes of usable L1", d.Cores, exact(physical(d)))
	case d.Usable > 0:
		return fmt.Sprintf("%s bytes of usable L1 on a core, how many is not known", exact(d.Usable))
	}
	return "the size of its L1 is not known"
}

// title names a device.
func title(d *answer.LiveDevice) string {
	if d.Fleet != "" {
		return fmt.Sprintf("device %d of %s, %s", d.Device, d.Fleet, d.Board)
	}
	return strings.TrimSpace(fmt.Sprintf("device %d %s", d.Device, d.Board))
}

// processes shows a row for each process.
func (m *Model) processes() []Line {
	if len(m.now.Processes) == 0 {
		return nil
	}
	out := []Line{{Look: Head, Text: "     pid  device           CBs   L1 buffers         DRAM  process"}}
	for _, p := range m.now.Processes {
		on, look, name := "all", Plain, p.Name
		if p.Device != nil {
			on = fmt.Sprint(*p.Device)
		}
		if p.Dead {
			look, name = Warn, name+" (dead)"
		}
		text := fmt.Sprintf("%8d  %6s %13s %12s %12s  %s", p.PID, on, exact(p.CB), exact(p.L1), exact(p.DRAM), name)
		out = append(out, Line{Text: text, Look: look})
	}
	return out
}

// odd counts refusals and oddities in one line.
func (m *Model) odd() []Line {
	var words []string
	for _, o := range m.now.Odd {
		code := o.Code
		if o.Fleet != "" {
			code += " of " + o.Fleet
		}
		words = append(words, fmt.Sprintf("%s %d", code, o.Count))
	}
	if m.now.Leaked > 0 {
		words = append(words, fmt.Sprintf("leaked %d", m.now.Leaked))
	}
	if m.now.Left > 0 {
		words = append(words, fmt.Sprintf("%d devices of fleets are not shown", m.now.Left))
	}
	if len(words) == 0 {
		return nil
	}
	return []Line{{Text: "odd: " + strings.Join(words, ", "), Look: Warn}}
}

// wrong shows the last leaks and refusals.
func (m *Model) wrong() (out []Line) {
	for _, l := range m.now.Leaks {
		cbs, buffers, kernels := shown.Plural(l.CBs, "CB"), shown.Plural(l.Buffers, "buffer"), shown.Plural(l.Kernels, "kernel")
		out = append(out, Line{Text: fmt.Sprintf("leaked by process %d: %s, %s, %s", l.PID, cbs, buffers, kernels), Look: Warn})
	}
	for _, text := range m.now.Refused {
		out = append(out, Line{Text: "refused: " + text, Look: Warn})
	}
	return out
}

// chart is how full a device was in the last minutes, on its fullest core.
func (m *Model) chart(columns, room int) []Line {
	d := m.looked()
	if d == nil {
		return nil
	}
	all := m.samples[DeviceKeyOf(d)]
	const axis = 6
	wide, high := max(1, columns-axis), 4
	for _, steps := range []int{5, 10, 20} {
		if steps <= room-3 {
			high = steps
		}
	}
	each := (len(all) + wide - 1) / wide // samples in a column
	var cells []sample
	for i := 0; i < len(all); i += max(1, each) {
		var most sample
		for _, x := range all[i:min(len(all), i+each)] {
			most.cbs, most.total = max(most.cbs, x.cbs), max(most.total, x.total)
		}
		cells = append(cells, most)
	}
	full, other := "█", "░"
	if m.ASCII {
		full, other = "#", ":"
	}
	_, _, of := Fullness(d)
	of = cmp.Or(of, "registered CBs") + " of all cores"
	if d.Core != nil {
		of = "registered CBs, " + other + " what more is tracked, of the fullest core"
	}
	out := []Line{{Look: Head, Text: fmt.Sprintf("%s: %s %s", title(d), full, of)}}
	for y := high; y > 0; y-- {
		at := (float64(y) - 0.5) / float64(high)
		var line strings.Builder
		fmt.Fprintf(&line, "%4d%% ", 100*y/high)
		for _, x := range cells {
			switch {
			case x.cbs >= at:
				line.WriteString(full)
			case x.total >= at:
				line.WriteString(other)
			default:
				line.WriteByte(' ')
			}
		}
		out = append(out, Line{Text: strings.TrimRight(line.String(), " "), Look: lookOf(at)})
	}
	span := time.Duration(0)
	if len(all) > 0 {
		span = m.since(all[0].time)
	}
	return append(out, Line{Text: fmt.Sprintf("      the last %v, now at the right; now %.1f%%", span, 100*share(d))})
}

// cores shows the grid of a device and the addresses on its fullest core.
func (m *Model) cores(size area) []Line {
	d := m.now.Detail
	if d == nil || (DeviceKey{d.Fleet, d.Device}) != m.at {
		why := "it comes with the next look"
		if m.now.Source == FeedRegions {
			why = "shared memory has sums alone"
		}
		return []Line{{Text: fmt.Sprintf("device %d: nothing is known of its cores: %s", m.at.Device, why)}}
	}
	style := draw.Style{Columns: size.columns, ASCII: m.ASCII}
	grid := plain(d.grid(style))
	at := gap
	for _, line := range grid {
		at = max(at, gap+shown.Width(shown.Visible(line.Text)))
	}
	if size.rows < noEnd && size.columns-at >= leastMap {
		style.Columns = size.columns - at
		both := m.beside(grid, plain(d.column(style)), at, size.columns)
		return m.scrolled(both, size.rows)
	}
	if column := d.column(style); len(column) > 0 {
		grid = append(append(grid, Line{}), plain(column)...)
	}
	return m.scrolled(grid, size.rows)
}

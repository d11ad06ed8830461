package watch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
)

// An area is the room for a picture. noEnd rows are as many as it takes.
type area struct{ columns, rows int }

const noEnd = 1 << 20

// Columns of a screen.
const (
	wideScreen = 160 // details stand beside the list
	gap        = 2   // between two parts
	leastRow   = 82  // for a row of the list with one word behind it, and the gap
	leastMap   = 60  // for the addresses of a core beside the grid
)

// plain returns lines without a look.
func plain(texts []string) (out []Line) {
	for _, text := range texts {
		out = append(out, Line{Text: text})
	}
	return out
}

// beside puts right beside left, from column at on. Both are cut to their columns.
func (m *Model) beside(left, right []Line, at, columns int) []Line {
	out := make([]Line, max(len(left), len(right)))
	copy(out, left)
	for i := range out {
		out[i].Text = m.fitting(out[i].Text, at-gap)
		if i < len(right) && right[i].Text != "" {
			out[i].Text += strings.Repeat(" ", at-shown.Width(out[i].Text))
			out[i].Beside = &Line{Text: m.fitting(right[i].Text, columns-at), Look: right[i].Look}
		}
	}
	return out
}

// scrolled returns the part of a picture that the rows have room for.
func (m *Model) scrolled(all []Line, rows int) []Line {
	if len(all) <= rows {
		m.first = 0
		return all
	}
	m.page = max(1, rows-1)
	m.first = min(m.first, len(all)-m.page)
	last := m.first + m.page
	where := fmt.Sprintf("lines %d to %d of %d: space and b go on and back", m.first+1, last, len(all))
	return append(slices.Clone(all[m.first:last]), Line{Text: where})
}

// fitting returns a text made visible, in so many columns. A sign stands where more would follow.
func (m *Model) fitting(text string, columns int) string {
	text = strings.TrimRight(shown.Visible(text), " ")
	if shown.Width(text) <= columns {
		return text
	}
	if m.ASCII {
		return cut(text, columns-1) + "~"
	}
	return cut(text, columns-1) + "…"
}

// maxParts is how many lines one text takes at most. Texts of refusals may be long.
const maxParts = 3

// wrapped are lines in parts that fit, each ending at a word.
func wrapped(lines []Line, columns int) (out []Line) {
	for _, line := range lines {
		text := shown.Visible(line.Text)
		for part := 1; part < maxParts && shown.Width(text) > columns; part++ {
			head := cut(text, columns)
			if i := strings.LastIndexByte(head, ' '); i > columns/2 {
				head = head[:i]
			}
			out = append(out, Line{Text: head, Look: line.Look})
			text = "    " + strings.TrimLeft(text[len(head):], " ")
		}
		out = append(out, Line{Text: text, Look: line.Look})
	}
	return out
}

// cut ends a text where the screen does.
func cut(text string, columns int) string {
	width := 0
	for i, r := range text {
		if width += shown.Width(string(r)); width > columns {
			return text[:i]
		}
	}
	return text
}

// help lists the keys, and explains the words on the screen.
func (m *Model) help(columns int) []Line {
	lines := []Line{
		{Text: "Keys", Look: Head},
		{Text: "  1          all devices, and details of the selected one (>)"},
		{Text: "  2          a chart: how full the selected device was in the last minutes"},
		{Text: "  3          the cores of the selected device, and the addresses on its fullest"},
		{Text: "  j k        select the next device, or the one before (arrows)"},
		{Text: "  space b    go on and back where lines are left out (page down, page up)"},
		{Text: "  ?          this help; once more: back"},
		{Text: "  q          end (escape)"},
		{Text: "The bar is the fullest core of a device, in shares of its usable L1", Look: Head},
		{Text: "  below 75 %", Look: Good},
		{Text: "  from 75 %", Look: Warn},
		{Text: "  from 90 %, or INCOMPLETE", Look: Bad},
		{Text: "Words", Look: Head},
		{Text: "  at most      the source names no cores: each CB counts as if on every core"},
		{Text: "  INCOMPLETE   the source lost a client, or hides something"},
		{Text: "  accounting   a sum of sizes is more than the L1: it counts bytes twice"},
		{Text: "  of NAME      a device of the fleet with that name"},
		{Text: "  registered   of the programs in the cache, whether they run or not"},
		{Text: "  resident     left by the last dispatches; tracked: all in L1 but kernels"},
		{Text: "  headroom     bytes between CBs and buffers, where there are the fewest"},
		{Text: "  ?            the source does not tell"},
	}
	return wrapped(lines, columns)
}

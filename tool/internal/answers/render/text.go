package render

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Options choose what a report shows. The zero value is one screen.
type Options struct {
	Programs bool // a table of programs
	Cores    bool // a table of groups of cores
}

// Report returns the report on one capture. The first line of its text has the verdict and the number that decides:
// the most bytes that a core held, or had registered where nothing ran. Names in the capture are shown in scripts that
// run from left to right; other characters are escaped, and long names are cut. Its CSV has a
// row for each device or, as Options say, for each program or each group of cores. It has
// one kind of row: programs, if Options have both.
func Report(r *answer.Result, opt Options) Output {
	d := Output{json: func(w io.Writer) error { return writeReport(w, r) }}
	p := &d.page
	peaks := map[event.Opt[uint64]]uint64{}
	for i := range r.L1 {
		if on := &r.L1[i]; on.Peak != nil {
			peaks[on.ID] = on.Peak.Bytes
		}
	}
	folds := foldDevices(r.Devices, namedDevice, func(d *answer.Device) string { return figures(d) + fmt.Sprint(" ", peaks[d.ID]) })
	j := r.Judge(answer.Terms{})
	writeAnswer(p, r, j, folds)
	if r.Only.Op == "" { // else it is about runs: a core holds buffers of all operations
		if tabled(r) {
			writeDevices(p, folds, peaks)
		}
		if row := r.Fullest(); row != nil && row.Peak.Bytes > 0 {
			writeAtPeak(p, r, row)
		}
	}
	p.apart(remarks(r, j))
	if r.Only.Op == "" {
		p.detail(func() []note { return details(r, folds) })
	}
	if opt.Programs {
		writePrograms(p, r)
	}
	if opt.Cores {
		writeCores(p, r)
	}
	switch {
	case opt.Programs:
		d.csv = func() flatTable { return programCSV(r) }
	case opt.Cores:
		d.csv = func() flatTable {
			return listCSV(r, func(d *answer.Device) iter.Seq[answer.CoreGroup] { return slices.Values(d.CoreGroups) })
		}
	default:
		d.csv = func() flatTable { return deviceCSV(r) }
	}
	return d
}

// maxRows is how many lines of devices a report shows.
const maxRows = 6

// tabled reports whether there is a table of devices: circular buffers were registered.
func tabled(r *answer.Result) bool {
	return slices.ContainsFunc(r.Devices, func(d answer.Device) bool { return d.RegisteredCorePeak > 0 })
}

// writeDevices writes the table of devices. peaks are the most bytes of one core of each device.
func writeDevices(page *page, folds []deviceFold[answer.Device], peaks map[event.Opt[uint64]]uint64) {
	t := headed("<device", "L1 peak", "registered", "at end", "registered", "alive peak", "logical", "programs")
	t.spans = []span{{"fullest core", 1, 3}, {"all cores", 4, 6}}
	shown := folds
	if len(folds) > maxRows { // the fullest ones, in the order of the devices
		most := slices.Clone(folds)
		slices.SortStableFunc(most, func(a, b deviceFold[answer.Device]) int {
			return cmp.Or(cmp.Compare(peaks[b.first.ID], peaks[a.first.ID]), cmp.Compare(b.first.RegisteredCorePeak, a.first.RegisteredCorePeak))
		})
		shown = slices.DeleteFunc(slices.Clone(folds), func(f deviceFold[answer.Device]) bool {
			return !slices.ContainsFunc(most[:maxRows], func(one deviceFold[answer.Device]) bool { return one.first == f.first })
		})
	}
	for _, f := range shown {
		d := f.first
		peak := "-"
		if n, ok := peaks[d.ID]; ok {
			peak = grouped(n)
		}
		t.add(f.label(), peak, d.RegisteredCorePeak, d.RegisteredCoreFinal,
			max(d.Registered, d.ResidentPeak), d.ResidentPeak, max(d.RegisteredLogical, d.LogicalPeak), d.Programs)
	}
	if n := len(folds) - len(shown); n > 0 {
		t.more = append(t.more, grouped(n)+" more, none of them fuller: --format json shows all")
	}
	page.table("", t)
}

// inert returns text that Markdown shows as it stands. A page has made it visible before.
func inert(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "www.", "www\\.") // which would be a link
	for i, r := range text {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@': // no mention of a user
			b.WriteString("&#64;")
		case '\\', '`', '*', '_', '{', '}', '[', ']', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '(': // is the address of a link behind a bracket alone
			if strings.HasSuffix(text[:i], "]") {
				b.WriteByte('\\')
			}
			b.WriteByte('(')
		case ')': // ends the number of an item; a link has brackets before
			if before := strings.TrimLeft(text[:i], " "); before != "" && strings.Trim(before, "0123456789") == "" {
				b.WriteByte('\\')
			}
			b.WriteByte(')')
		case ':': // begins no name of a picture and no address: those go on behind it
			if next := text[i+1:]; next == "" || next[0] == ' ' {
				b.WriteByte(':')
			} else {
				b.WriteString("&#58;")
			}
		case '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

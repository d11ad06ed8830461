package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// Options choose what a report shows. The zero value is one screen.
type Options struct {
	Programs bool // a table of programs
	Cores    bool // a table of groups of cores
}

// Report returns the report on one capture. Names in the capture are shown in scripts that run
// from left to right; what else they contain is escaped, and long names are cut. Its CSV has a
// row for each device or, if Options ask, for each program or each group of cores. It has
// one kind of row: programs, if Options ask for both.
func Report(r *replay.Result, opt Options) Document {
	d := Document{json: func(w io.Writer) error { return writeReport(w, r) }}
	p := &d.page
	folds := foldDevices(r.Devices, figures)
	writeAnswer(p, r, folds)
	p.line("%s", fileLine(r))
	if fullestDevice(r) != nil {
		writeDevices(p, folds)
	}
	p.apart(explain(r, folds))
	if opt.Programs {
		writePrograms(p, r)
	}
	if opt.Cores {
		writeCores(p, r)
	}
	switch {
	case opt.Programs:
		d.head, d.rows = csvProgram{}, rowsOf(programRows(r))
	case opt.Cores:
		d.head, d.rows = csvGroup{}, rowsOf(groupRows(r))
	default:
		d.head, d.rows = csvDevice{}, rowsOf(deviceRows(r))
	}
	return d
}

// fileLine says what was read.
func fileLine(r *replay.Result) string {
	var b strings.Builder
	b.WriteString(shown.End(r.File, 60))
	if r.Rank.V > 0 { // 0 is that of most captures
		fmt.Fprintf(&b, " (rank %d)", r.Rank.V)
	}
	fmt.Fprintf(&b, "%s: %s", r.Only.Suffix(), length(r))
	var programs int64
	for _, d := range r.Devices {
		programs += d.Programs
	}
	if programs > 0 {
		fmt.Fprintf(&b, ", %s", shown.Plural(programs, "program"))
	}
	if n := len(r.Devices); n > 1 {
		fmt.Fprintf(&b, " on %d devices", n)
	}
	switch r.Addresses {
	case replay.AddressesRecorded:
		b.WriteString(", recorded addresses")
	case replay.AddressesSynthesised:
		b.WriteString(", synthesised addresses")
	case replay.AddressesMixed:
		b.WriteString(", recorded and synthesised addresses")
	}
	return b.String()
}

// maxRows is how many lines of devices a report shows.
const maxRows = 6

// writeDevices writes the table of devices.
func writeDevices(page *page, folds []fold) {
	t := table{
		left: map[int]bool{0: true},
		spans: []span{
			{"fullest core", 2, 3},
			{"sum over cores", 4, 5},
			{"misleading sum", 6, 7},
		},
	}
	t.add("device", "programs", "registered", "alive peak", "registered", "alive peak", "logical", "ratio")
	shown := fullestFolds(folds)
	for _, f := range shown {
		d := f.first
		bytes := []uint64{d.RegisteredCorePeak, d.CorePeak, d.Registered, d.ResidentPeak, d.RegisteredLogical}
		exact, unit := []string{f.label(), grouped(d.Programs)}, []string{"", ""}
		small := true
		for _, n := range bytes {
			exact, unit = append(exact, grouped(n)), append(unit, rounded(n))
			small = small && n < 1024
		}
		t.add(append(exact, times(d.RegisteredLogical, d.Registered))...)
		if !small { // else the units repeat the numbers
			t.add(unit...)
		}
	}
	more := ""
	if n := len(folds) - len(shown); n > 0 {
		more = fmt.Sprintf("%d more, none of them fuller: --format json shows all", n)
	}
	page.table("", t, more)
}

// fullestFolds returns the folds with the fullest cores, as many as are shown, in
// the order of the devices.
func fullestFolds(folds []fold) []fold {
	if len(folds) <= maxRows {
		return folds
	}
	order := make([]int, len(folds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return -cmp.Compare(folds[a].first.RegisteredCorePeak, folds[b].first.RegisteredCorePeak)
	})
	order = order[:maxRows]
	slices.Sort(order)
	var out []fold
	for _, i := range order {
		out = append(out, folds[i])
	}
	return out
}

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// TextOptions choose what Text shows. The zero value is one screen.
type TextOptions struct {
	Programs bool // a table of programs
	Cores    bool // a table of groups of cores
}

// Text writes the report on one capture for people. It is written in one piece. Names in
// the capture are shown in scripts that run from left to right; what else they contain is
// escaped, and long names are cut.
func Text(w io.Writer, r *replay.Result, opt TextOptions) error {
	var b bytes.Buffer
	folds := foldDevices(r.Devices, figures)
	writeAnswer(&b, r, folds)
	writeFile(&b, r)
	if fullestDevice(r) != nil {
		b.WriteByte('\n')
		writeDevices(&b, folds)
	}
	if notes := explain(r, folds); len(notes) > 0 {
		b.WriteByte('\n')
		writeNotes(&b, notes)
	}
	if opt.Programs {
		writePrograms(&b, r)
	}
	if opt.Cores {
		writeCores(&b, r)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeFile says what was read.
func writeFile(b *bytes.Buffer, r *replay.Result) {
	fmt.Fprint(b, shown.End(r.File, 60))
	if r.Rank.V > 0 { // 0 is that of most captures
		fmt.Fprintf(b, " (rank %d)", r.Rank.V)
	}
	fmt.Fprintf(b, ": %s", length(r))
	var programs int64
	for _, d := range r.Devices {
		programs += d.Programs
	}
	if programs > 0 {
		fmt.Fprintf(b, ", %s", plural(programs, "program"))
	}
	if n := len(r.Devices); n > 1 {
		fmt.Fprintf(b, " on %d devices", n)
	}
	switch r.Addresses {
	case replay.AddressesRecorded:
		fmt.Fprint(b, ", recorded addresses")
	case replay.AddressesSynthesised:
		fmt.Fprint(b, ", synthesised addresses")
	case replay.AddressesMixed:
		fmt.Fprint(b, ", recorded and synthesised addresses")
	}
	b.WriteByte('\n')
}

// maxRows is how many lines of devices a report shows.
const maxRows = 6

// writeDevices writes the table of devices.
func writeDevices(b *bytes.Buffer, folds []fold) {
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
	t.write(b)
	if n := len(folds) - len(shown); n > 0 {
		fmt.Fprintf(b, "%d more, none of them fuller: --format json shows all\n", n)
	}
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

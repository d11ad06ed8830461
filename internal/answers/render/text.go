package render

import (
	"cmp"
	"io"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
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
func Report(r *replay.Result, opt Options) Output {
	d := Output{json: func(w io.Writer) error { return writeReport(w, r) }}
	p := &d.page
	peaks := map[event.Opt[uint64]]string{}
	for i := range r.L1 {
		if on := &r.L1[i]; on.Peak != nil {
			peaks[on.ID] = grouped(on.Peak.Bytes)
		}
	}
	folds := foldDevices(r.Devices, namedDevice, func(d *replay.Device) string { return figures(d) + peaks[d.ID] })
	j := r.Judge(replay.Terms{})
	writeAnswer(p, r, j, folds)
	if r.Only.Op == "" { // else it is about runs: a core holds buffers of all operations
		if r.FullestDevice() != nil {
			writeDevices(p, folds, peaks)
		}
		if row := fullestL1(r); row != nil && row.Peak.Bytes > 0 {
			writeAtPeak(p, r, row)
		}
		p.detail(func() []note { return details(r, folds) })
	}
	p.apart(remarks(r, j))
	if opt.Programs {
		writePrograms(p, r)
	}
	if opt.Cores {
		writeCores(p, r)
	}
	switch {
	case opt.Programs:
		d.csv = func() csvTable {
			return listCSV(r, func(d *replay.Device) iter.Seq[replay.ProgramDetail] { return programsOf(r, d) })
		}
	case opt.Cores:
		d.csv = func() csvTable {
			return listCSV(r, func(d *replay.Device) iter.Seq[replay.CoreGroup] { return slices.Values(d.CoreGroups) })
		}
	default:
		d.csv = func() csvTable { return deviceCSV(r) }
	}
	return d
}

// maxRows is how many lines of devices a report shows.
const maxRows = 6

// writeDevices writes the table of devices. peaks are the most bytes of one core of each device.
func writeDevices(page *page, folds []deviceFold[replay.Device], peaks map[event.Opt[uint64]]string) {
	t := headed("<device", "registered", "alive peak", "L1 peak", "registered", "alive peak", "logical", "programs")
	t.spans = []span{{"fullest core", 1, 3}, {"all cores", 4, 6}}
	shown := fullestFolds(folds)
	for _, f := range shown {
		d := f.first
		t.add(f.label(), d.RegisteredCorePeak, d.CorePeak, cmp.Or(peaks[d.ID], "-"),
			d.Registered, d.ResidentPeak, d.RegisteredLogical, d.Programs)
	}
	if n := len(folds) - len(shown); n > 0 {
		t.more = append(t.more, grouped(n)+" more, none of them fuller: --format json shows all")
	}
	page.table("", t)
}

// fullestFolds returns the folds with the fullest cores, as many as are shown, in
// the order of the devices.
func fullestFolds(folds []deviceFold[replay.Device]) []deviceFold[replay.Device] {
	if len(folds) <= maxRows {
		return folds
	}
	fullest := slices.Clone(folds)
	slices.SortStableFunc(fullest, func(a, b deviceFold[replay.Device]) int {
		return -cmp.Compare(a.first.RegisteredCorePeak, b.first.RegisteredCorePeak)
	})
	return slices.DeleteFunc(slices.Clone(folds), func(f deviceFold[replay.Device]) bool {
		return !slices.ContainsFunc(fullest[:maxRows], func(one deviceFold[replay.Device]) bool { return one.first == f.first })
	})
}

package render

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// fileColumns begin each row: the file, the filter, and the basis of the figures, with the chip of the device.
func fileColumns(r *answer.Result, id event.Opt[uint64]) []column {
	head, b := r.Head(""), r.Basis(r.SpecOf(id))
	return []column{
		{"file", head.File}, {"rank", head.Rank}, {"nodes", head.Nodes}, {"only", head.Only},
		{"arch", b.Arch}, {"l1_small_bytes", b.L1Small}, {"usable_bytes", b.Usable}, {"cb_addresses", b.Addresses},
	}
}

// deviceColumns begin each row about a device.
func deviceColumns(r *answer.Result, d answer.Device) []column {
	return append(fileColumns(r, d.ID), column{"device", answer.DeviceKey(d.ID)}, column{"kind", d.Kind}, column{"chips", d.Chips})
}

// deviceCSV has a row for each device of a report. Under some ids nothing ran, and only buffers lie there. Of its many
// columns those come first that answer: does it fit, how full is the fullest core, of how much, and when?
func deviceCSV(r *answer.Result) flatTable {
	j, ran := r.Judge(answer.Terms{}), map[event.Opt[uint64]]*answer.Device{}
	for i := range r.Devices {
		ran[r.Devices[i].ID] = &r.Devices[i]
	}
	row := func(on answer.DeviceL1) []column {
		small, _, _ := on.Needs.SmallBank(r.SpecOf(on.ID).Spec)
		return append(fileColumns(r, on.ID), column{"answer", j.Answer}, column{"untold", answer.CodesOf(j.Untold)},
			column{"device", answer.DeviceKey(on.ID)}, column{"", ran[on.ID]}, column{"l1", on.Document(r.SpecOf(on.ID))},
			column{"l1_small_needed_bytes", small})
	}
	first := []string{
		"file", "device", "answer", "untold", "usable_bytes", "l1_usable_peak_below_l1_small_bytes", "l1_usable_peak_op",
		"l1_core_peak_tracked_bytes", "registered_core_peak_bytes", "programs",
	}
	return flatTable{empty: row(answer.DeviceL1{}), first: first, rows: func(yield func([]column) bool) {
		peaks := map[answer.Composition]*answer.L1Peak{}
		for _, on := range r.L1 {
			if on.Peak = peakFigures(peaks, on.Peak); !yield(row(on)) {
				return
			}
		}
	}}
}

// peakFigures returns a peak with its figures, and without lists. Peaks with the same name share figures.
func peakFigures(known map[answer.Composition]*answer.L1Peak, p *answer.L1Peak) *answer.L1Peak {
	if p == nil {
		return nil
	}
	name, named := p.Laid()
	like := known[name]
	if like == nil || !named {
		like = p.Composed()
		known[name] = like
	}
	return &answer.L1Peak{
		Bytes: p.Bytes, At: p.At, T: p.T, Op: p.Op, Core: p.Core, Cores: p.Cores, Spike: p.Spike,
		Below: like.Below, WithKernels: like.WithKernels, Top: like.Top, Largest: like.Largest,
	}
}

// listCSV has a row for each thing in a list of each device.
func listCSV[T any](r *answer.Result, list func(*answer.Device) iter.Seq[T]) flatTable {
	return flatTable{empty: append(deviceColumns(r, answer.Device{}), column{"", *new(T)}), rows: func(yield func([]column) bool) {
		for i := range r.Devices {
			on := slices.Clip(deviceColumns(r, r.Devices[i]))
			for x := range list(&r.Devices[i]) {
				if !yield(append(on, column{"", x})) {
					return
				}
			}
		}
	}}
}

// checkCSV has a row for each way in which a program run does not fit, and one if there is none.
func checkCSV(c check) flatTable {
	doc := c.result.Check(c.Judgement)
	row := func(f *answer.FailedCheck) []column {
		by := known(f, func(f answer.FailedCheck) uint64 { return overBy(f.Verdict) })
		return append(fileColumns(c.result, c.result.Only.Device), column{"answer", c.Answer},
			column{"untold", answer.CodesOf(c.Untold)}, column{"accepted", answer.CodesOf(c.Accepted)}, column{"aborted", doc.Aborted},
			column{"runs", doc.Runs}, column{"runs_inferred", doc.Inferred}, column{"runs_failed", doc.Failed}, column{"failures_more", doc.More},
			column{"budget", doc.Budget}, column{"budget_exceeded", len(c.Over)}, column{"op_budgets_exceeded", len(c.overOps())},
			column{"tightest", doc.Tightest}, column{"failure", f}, column{"failure_over_bytes", by})
	}
	return flatTable{empty: row(nil), rows: func(yield func([]column) bool) {
		if len(doc.Failures) == 0 {
			yield(row(nil))
		}
		for i := range doc.Failures {
			if !yield(row(&doc.Failures[i])) {
				return
			}
		}
	}}
}

// peakCSV has a row for each thing that lay on the fullest core of a device, and one for a device without any.
func peakCSV(r *answer.Result) flatTable {
	rows := func(on answer.DevicePeak) []column {
		more := known(on.Peak, func(p answer.L1Peak) uint64 { return uint64(p.More) })
		return append(fileColumns(r, on.Device), column{"", &on}, column{"peak_residents_more", more})
	}
	resident := func(x *answer.L1Resident) column { return column{"resident", x} }
	return flatTable{empty: append(rows(answer.DevicePeak{}), resident(nil)), rows: func(yield func([]column) bool) {
		for _, on := range r.Peak().Devices {
			of := slices.Clip(rows(on))
			if on.Peak == nil || len(on.Peak.Residents) == 0 {
				if !yield(append(of, resident(nil))) {
					return
				}
				continue
			}
			for i := range on.Peak.Residents {
				if !yield(append(of, resident(&on.Peak.Residents[i]))) {
					return
				}
			}
		}
	}}
}

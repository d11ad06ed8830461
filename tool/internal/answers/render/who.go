package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Who returns what holds a byte of L1. Text shows chips that hold the same once, with their ids.
func Who(r *answer.Result, q answer.WhoDocument) Output {
	d := Output{json: func(w io.Writer) error { return writeJSON(w, q) }}
	page := &d.page
	folds := foldHeld(r, q.Held)
	page.line("%s%s", head("who", r), whoAnswer(r, q, folds))
	if text := outside(r, q); text != "" && len(q.Held) == 0 {
		page.note(note{"where", text})
	}
	for _, f := range folds {
		for _, h := range *f.first {
			page.table(fmt.Sprintf("%s of %s", coresText(h.Cores), f.title(r)), heldTable(r, h))
		}
	}
	page.apart(slices.Concat(untrackedNotes(r), textNotes("?", doubts(r))))
	page.detail(func() []note { return chipNotes(r) })
	return d
}

// foldHeld folds devices that hold the same. In a capture each device of a mesh has its own nodes; text shows the nodes of
// the first device.
func foldHeld(r *answer.Result, held []answer.Holders) []deviceFold[[]answer.Holders] {
	var devices [][]answer.Holders // the rows of a device follow each other
	for i, h := range held {
		if i == 0 || held[i-1].Device != h.Device {
			devices = append(devices, nil)
		}
		last := len(devices) - 1
		devices[last] = append(devices[last], h)
	}
	name := func(rows *[]answer.Holders) named { return named{(*rows)[0].Device, (*rows)[0].Kind, (*rows)[0].Chips} }
	return foldDevices(devices, name, func(rows *[]answer.Holders) string { return heldText(r, *rows) })
}

// heldText is the text of a device without its id and its nodes.
func heldText(r *answer.Result, rows []answer.Holders) string {
	var b strings.Builder
	for _, h := range rows {
		fmt.Fprintln(&b, h.Cores, heldTable(r, answer.Holders{Resident: nowhere(h.Resident), Registered: nowhere(h.Registered)}).rows)
	}
	return b.String()
}

// nowhere returns the same without nodes.
func nowhere(rows []answer.L1Resident) []answer.L1Resident {
	out := slices.Clone(rows[:min(len(rows), maxResidents)])
	for i, x := range out {
		if x.Program != nil {
			run := *x.Program
			run.At, run.T, out[i].Program = 0, "", &run
		}
		if x.Buffer != nil {
			buffer := *x.Buffer
			buffer.At, buffer.T, out[i].Buffer = 0, "", &buffer
		}
	}
	return append(out, rows[len(out):]...)
}

// heldTable is the table of a byte on some cores: its residents, and the registered programs that use it.
func heldTable(r *answer.Result, h answer.Holders) table {
	t := headed("<", "bytes", "start", "end", "<what", "<whose")
	t.most = 42
	add := func(basis string, rows []answer.L1Resident) {
		for _, x := range first(&t, rows, maxResidents, 0) {
			t.named(func(n int) string { return ownerText(r, x, n) }, basis, x.Bytes, x.Start, x.End, what(x.Kind, x.CB))
			basis = ""
		}
	}
	add("in L1", h.Resident)
	add("registered", h.Registered)
	return t
}

// whoAnswer says in one line what holds the byte.
func whoAnswer(r *answer.Result, q answer.WhoDocument, folds []deviceFold[[]answer.Holders]) string {
	where := fmt.Sprintf("byte %s (%#x)", grouped(q.Address), q.Address)
	if q.Core.OK {
		where += fmt.Sprintf(" on core %s", q.Core.V)
	}
	if q.Device.OK {
		where += " of " + deviceName(r, q.Device)
	}
	if q.At.OK {
		where += " after " + r.Where(q.At.V, "")
	} else {
		where += " at the end"
	}
	if q.Op != "" {
		where += answer.Filter{Op: q.Op}.Suffix()
	}
	cores, different := 0, 0
	var one answer.L1Resident
	for _, f := range folds {
		for _, h := range *f.first {
			if len(h.Resident) > 0 {
				different += len(h.Resident)
				cores += h.Cores.Len() * len(f.names)
				one = called(h.Resident[0])
			}
		}
	}
	switch {
	case len(folds) == 0:
		return where + ": nothing holds it"
	case cores == 0:
		return where + ": nothing is there, but programs of the cache use it"
	case different > 1 && cores == 1:
		return fmt.Sprintf("%s: %s of %s and %d more", where, what(one.Kind, one.CB), shortOwner(r, one, 40), different-1)
	case different > 1:
		return fmt.Sprintf("%s: held on %s", where, shown.Plural(cores, "core"))
	case one.Program != nil || one.Buffer != nil:
		return fmt.Sprintf("%s: %s of %s", where, what(one.Kind, one.CB), shortOwner(r, one, 40))
	}
	return fmt.Sprintf("%s: %s", where, what(one.Kind, one.CB))
}

// called returns the same, whose operation is the function that was called.
func called(x answer.L1Resident) answer.L1Resident {
	if x.Program != nil {
		run := *x.Program
		run.Op, run.Inferred, x.Program = caller(run.Op), false, &run
	}
	if x.Buffer != nil {
		buffer := *x.Buffer
		buffer.Op, x.Buffer = caller(buffer.Op), &buffer
	}
	return x
}

// outside explains why nothing can hold the byte: an unknown device, a core outside the grid, an address outside
// L1.
func outside(r *answer.Result, q answer.WhoDocument) string {
	if q.Device.OK {
		found := false
		for _, row := range r.L1 {
			found = found || row.ID == q.Device
		}
		if !found {
			return fmt.Sprintf("the %s has nothing on a device %d", r.Source(), q.Device.V)
		}
	}
	if text := outsideGrid(r, q); text != "" {
		return text
	}
	switch s := r.SpecOf(q.Device); {
	case s.L1Size > 0 && q.Address >= s.L1Size && s.CBBase == 0 && r.Count(answer.CodeTensorsOnly) > 0:
		return fmt.Sprintf("beyond the bank, which ends at %s: --arch and --l1-small make offsets addresses of L1", grouped(s.L1Size))
	case s.L1Size > 0 && q.Address >= s.L1Size:
		return fmt.Sprintf("beyond L1, which ends at %s", grouped(s.L1Size))
	case q.Address < s.CBBase:
		return fmt.Sprintf("below %s lie kernels and the reserved area, of which captures say nothing", grouped(s.CBBase))
	}
	return ""
}

// outsideGrid says that no device that a question is about has its core, or "".
func outsideGrid(r *answer.Result, q answer.WhoDocument) string {
	var one *answer.DeviceL1
	for i := range r.L1 {
		row := &r.L1[i]
		if q.Device.OK && row.ID != q.Device {
			continue
		}
		if (l1.Spec{Cols: row.Cols, Rows: row.Rows}).Has(q.Core.V) {
			return ""
		}
		if one == nil {
			one = row
		}
	}
	if !q.Core.OK || one == nil {
		return ""
	}
	text := fmt.Sprintf("core %s lies outside the compute grid of %s, %dx%d", q.Core.V, deviceName(r, one.ID), one.Cols, one.Rows)
	if one.CoresFrom == event.FromAssumed {
		text += " (assumed)"
	}
	return text
}

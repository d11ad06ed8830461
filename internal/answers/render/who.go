package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// Who returns what holds a byte of L1. Chips of which the same is told are told once in text,
// with their ids.
func Who(r *replay.Result, q replay.WhoDocument) Document {
	d := Document{json: func(w io.Writer) error { return writeJSON(w, q) }}
	page := &d.page
	folds := foldHeld(r, q.Held)
	page.line("%s%s", head("who", r), whoAnswer(r, q, folds))
	if text := outside(r, q); text != "" && len(q.Held) == 0 {
		page.note(note{"where", text})
	}
	for _, f := range folds {
		for i, h := range f.rows[0] {
			page.table(fmt.Sprintf("%s of %s", coresText(h.Cores), f.name(r)), heldTable(r, f.row(i)), "")
		}
	}
	page.apart(slices.Concat(untoldNotes(r), unseenNotes(r), doubtNotes(doubts(r))))
	page.detail(func() []note { return chipNotes(r) })
	return d
}

// heldFold is what devices hold of which the same is told.
type heldFold struct {
	fold
	rows [][]replay.Held // of each device
}

// foldHeld puts devices together of which the same is told, in order of the first ones. In a
// capture each device of a mesh has nodes of its own, so these may differ. The rows of a
// device follow each other.
func foldHeld(r *replay.Result, held []replay.Held) []heldFold {
	var devices []replay.Device
	rows := map[event.Opt[uint64]][]replay.Held{}
	for len(held) > 0 {
		first, n := held[0], 1
		for n < len(held) && held[n].Device == first.Device {
			n++
		}
		devices = append(devices, replay.Device{ID: first.Device, Kind: first.Kind, Chips: first.Chips})
		rows[first.Device], held = held[:n], held[n:]
	}
	var out []heldFold
	for _, f := range foldDevices(devices, func(d *replay.Device) string { return heldText(r, rows[d.ID]) }) {
		folded := heldFold{fold: f}
		for _, d := range f.devices {
			folded.rows = append(folded.rows, rows[d.ID])
		}
		out = append(out, folded)
	}
	return out
}

// heldText is what is told of a device but for its id and its nodes.
func heldText(r *replay.Result, rows []replay.Held) string {
	var b strings.Builder
	for _, h := range rows {
		t := heldTable(r, []replay.Held{{Resident: nowhere(h.Resident), Registered: nowhere(h.Registered)}})
		fmt.Fprintln(&b, h.Cores, t.rows)
	}
	return b.String()
}

// nowhere returns the same without nodes.
func nowhere(rows []replay.L1Resident) []replay.L1Resident {
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

// row returns a row of all devices.
func (f heldFold) row(i int) []replay.Held {
	out := make([]replay.Held, len(f.rows))
	for d, rows := range f.rows {
		out[d] = rows[i]
	}
	return out
}

// name names the devices: "device 0", "devices 0..31 (32 chips, equal)".
func (f heldFold) name(r *replay.Result) string {
	if len(f.devices) == 1 {
		return deviceName(r, f.first.ID)
	}
	return "devices " + f.label()
}

// heldTable is the table of what holds the byte on some cores of each of some devices.
func heldTable(r *replay.Result, same []replay.Held) table {
	t := table{left: map[int]bool{0: true, 4: true, 5: true}, most: 42}
	t.add("", "bytes", "start", "end", "what", "whose")
	add := func(basis string, rows func(replay.Held) []replay.L1Resident) {
		for i, x := range rows(same[0]) {
			if i > 0 {
				basis = ""
			}
			if i == maxResidents {
				t.add("", "", "", "", fmt.Sprintf("%s more", grouped(len(rows(same[0]))-i)), "")
				break
			}
			all := make([]replay.L1Resident, len(same))
			for d, h := range same {
				all[d] = rows(h)[i]
			}
			t.named(func(n int) string { return ownersText(r, all, n) },
				basis, grouped(x.Bytes), grouped(x.Start), grouped(x.End), what(x))
		}
	}
	add("in L1", func(h replay.Held) []replay.L1Resident { return h.Resident })
	add("registered", func(h replay.Held) []replay.L1Resident { return h.Registered })
	return t
}

// ownersText is ownerText of the same on some devices: "ttnn.add (nodes 9..16)" where each
// has nodes of its own.
func ownersText(r *replay.Result, all []replay.L1Resident, n int) string {
	first, last := uint64(math.MaxUint64), uint64(0)
	op, inferred := replay.Name(""), ""
	for _, x := range all {
		at := uint64(0)
		switch {
		case x.Program != nil:
			if at, op = x.Program.At, x.Program.Op; x.Program.Inferred {
				inferred = ", inferred"
			}
		case x.Buffer != nil:
			at, op = x.Buffer.At, x.Buffer.Op
		}
		first, last = min(first, at), max(last, at)
	}
	if first == last {
		return ownerText(r, all[0], n)
	}
	nodes := fmt.Sprintf("%ss %s..%s", r.NodeWord(), number(r, first), number(r, last))
	return whoseText(op, nodes, nodes, n) + inferred
}

// whoAnswer says in one line what holds the byte.
func whoAnswer(r *replay.Result, q replay.WhoDocument, folds []heldFold) string {
	where := fmt.Sprintf("byte %s (%#x)", grouped(q.Address), q.Address)
	if q.Core.OK {
		where += fmt.Sprintf(" on core %s", q.Core.V)
	}
	if q.Device.OK {
		where += " of " + deviceName(r, q.Device)
	}
	if q.At.OK {
		where += " after " + r.Where(q.At.V, "")
	}
	if q.Op != "" {
		where += replay.Filter{Op: q.Op}.Suffix()
	}
	cores, different := 0, 0
	var one []replay.L1Resident // of each device
	for _, f := range folds {
		for i, h := range f.rows[0] {
			if len(h.Resident) == 0 {
				continue
			}
			different += len(h.Resident)
			cores += h.Cores.Len() * len(f.devices)
			one = nil
			for _, h := range f.row(i) {
				one = append(one, called(h.Resident[0]))
			}
		}
	}
	switch {
	case len(folds) == 0:
		return where + ": nothing holds it"
	case cores == 0:
		return where + ": nothing is there, but programs of the cache use it"
	case different > 1:
		return fmt.Sprintf("%s: held on %s", where, shown.Plural(cores, "core"))
	case one[0].Program != nil || one[0].Buffer != nil:
		return fmt.Sprintf("%s: %s of %s", where, what(one[0]), ownersText(r, one, 40))
	}
	return fmt.Sprintf("%s: %s", where, what(one[0]))
}

// called returns the same, whose operation is the function that was called.
func called(x replay.L1Resident) replay.L1Resident {
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

// outside says that nothing is known of what a question is about.
func outside(r *replay.Result, q replay.WhoDocument) string {
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
	case s.L1Size > 0 && q.Address >= s.L1Size:
		return fmt.Sprintf("beyond L1, which ends at %s", grouped(s.L1Size))
	case q.Address < s.CBBase:
		return fmt.Sprintf("below %s lie kernels and the reserved area, of which captures say nothing", grouped(s.CBBase))
	}
	return ""
}

// outsideGrid says that no device that a question is about has its core, or "".
func outsideGrid(r *replay.Result, q replay.WhoDocument) string {
	var one *replay.DeviceL1
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

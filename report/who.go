package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// A Question says which of the rows of Result.Held to show: those about one core, or
// one device id. Address and node are those that the replay was asked about.
type Question struct {
	replay.Question
	Core   event.Opt[l1.Core]
	Device event.Opt[uint64]
}

// Held returns the rows that the question is about, cut to its core.
func (q Question) Held(r *replay.Result) []replay.Held {
	var out []replay.Held
	for _, h := range r.Held {
		if q.Device.OK && h.Device != q.Device {
			continue
		}
		if q.Core.OK {
			if !h.Cores.Has(q.Core.V) {
				continue
			}
			h.Cores = l1.CoreSetOf(q.Core.V)
		}
		out = append(out, h)
	}
	return out
}

// Who writes for people what holds a byte of L1.
func Who(w io.Writer, r *replay.Result, q Question) error {
	var b bytes.Buffer
	held := q.Held(r)
	when := "at the end"
	if q.At.OK {
		when = "after " + place{at: q.At.V}.text(r)
	}
	fmt.Fprintf(&b, "%s\n%s: %s, %s\n", whoAnswer(r, q, held), shown.End(r.File, 60), when, length(r))
	if text := outside(r, q); text != "" && len(held) == 0 {
		writeNotes(&b, []note{{"where", text}})
	}
	for _, h := range held {
		fmt.Fprintf(&b, "\n%s of %s\n", coresText(h.Cores), deviceName(r, h.Device))
		t := table{left: map[int]bool{0: true, 4: true, 5: true}}
		t.add("", "bytes", "start", "end", "what", "whose")
		add := func(basis string, rows []replay.L1Resident) {
			for i, x := range rows {
				if i > 0 {
					basis = ""
				}
				if i == maxResidents {
					t.add("", "", "", "", fmt.Sprintf("%s more", grouped(len(rows)-i)), "")
					break
				}
				t.add(basis, grouped(x.Range.Len()), grouped(x.Range.Start), grouped(x.Range.End), what(x), ownerText(r, x, 42))
			}
		}
		add("in L1", h.Resident)
		add("registered", h.Registered)
		t.write(&b)
	}
	b.WriteByte('\n')
	writeNotes(&b, append(append([]note{
		{"basis", "in L1 = buffers that were allocated, and those of the program that ran last on the core; registered = programs that ran by then, as the program cache keeps them"},
		{"chip", chipText(r)},
	}, untoldNotes(r)...), unseenNotes(r)...))
	_, err := w.Write(b.Bytes())
	return err
}

// whoAnswer says in one line what holds the byte.
func whoAnswer(r *replay.Result, q Question, held []replay.Held) string {
	where := fmt.Sprintf("byte %s (%#x)", grouped(q.Address), q.Address)
	if q.Core.OK {
		where += fmt.Sprintf(" on core %s", q.Core.V)
	}
	if q.Device.OK {
		where += " of " + deviceName(r, q.Device)
	}
	cores, only := 0, 0
	var first *replay.L1Resident
	for i := range held {
		if rows := held[i].Resident; len(rows) > 0 {
			only = max(only, len(rows))
			cores += held[i].Cores.Len()
			if first == nil {
				first = &rows[0]
			} else {
				only = 2
			}
		}
	}
	switch {
	case len(held) == 0:
		return "nothing holds " + where
	case cores == 0:
		return "nothing is at " + where + ", but programs of the cache use it"
	case only > 1:
		return fmt.Sprintf("%s is held on %s", where, plural(cores, "core"))
	case first.Program != nil:
		return fmt.Sprintf("%s is held by %s of %s", where, what(*first), whose(r, caller(first.Program.Op), place{first.Program.At, first.Program.T}, 40))
	case first.Buffer != nil:
		return fmt.Sprintf("%s is held by the %s of %s", where, what(*first), whose(r, caller(first.Buffer.Op), place{first.Buffer.At, first.Buffer.T}, 40))
	}
	return fmt.Sprintf("%s is held by the %s", where, what(*first))
}

// outside says that nothing is known of what a question is about.
func outside(r *replay.Result, q Question) string {
	if q.Device.OK {
		found := false
		for _, row := range r.L1 {
			found = found || row.ID == q.Device
		}
		if !found {
			return fmt.Sprintf("the %s has nothing on a device %d", source(r), q.Device.V)
		}
	}
	if text := outsideGrid(r, q); text != "" {
		return text
	}
	switch s := r.Spec; {
	case s.L1Size > 0 && q.Address >= s.L1Size:
		return fmt.Sprintf("beyond L1, which ends at %s", grouped(s.L1Size))
	case q.Address < s.CBBase:
		return fmt.Sprintf("below %s lie kernels and the reserved area, of which captures say nothing", grouped(s.CBBase))
	}
	return ""
}

// outsideGrid says that no device that a question is about has its core, or "".
func outsideGrid(r *replay.Result, q Question) string {
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

type jsonWho struct {
	Schema  string       `json:"schema"`
	File    string       `json:"file"`
	Rank    *uint64      `json:"rank"`
	Nodes   int64        `json:"nodes"`
	Basis   jsonL1Basis  `json:"basis"`
	Untold  []jsonUntold `json:"untold"`
	Address uint64       `json:"address"`
	At      *uint64      `json:"at"`
	Core    *string      `json:"core"`
	Device  *uint64      `json:"device"`
	Held    []jsonHeld   `json:"held"`
}

type jsonHeld struct {
	Device     *uint64           `json:"device"`
	Kind       replay.DeviceKind `json:"kind"`
	Chips      []uint64          `json:"chips"`
	Cores      string            `json:"cores"`
	Count      int               `json:"count"`
	Resident   []jsonResident    `json:"resident"`
	Registered []jsonResident    `json:"registered"`
}

// WhoJSON writes the same as one line of JSON, as cbl1.who-1.schema.json describes it.
func WhoJSON(w io.Writer, r *replay.Result, q Question) error {
	out := jsonWho{
		Schema: WhoSchema, File: r.File, Rank: optional(r.Rank), Nodes: r.Nodes, Basis: newL1Basis(r), Untold: newUntold(r),
		Address: q.Address, At: optional(q.At), Device: optional(q.Device), Held: []jsonHeld{},
	}
	if q.Core.OK {
		core := q.Core.V.String()
		out.Core = &core
	}
	for _, h := range q.Held(r) {
		out.Held = append(out.Held, jsonHeld{
			optional(h.Device), h.Kind, append([]uint64{}, h.Chips...), h.Cores.String(), h.Cores.Len(),
			newResidents(h.Resident), newResidents(h.Registered),
		})
	}
	return writeJSON(w, out)
}

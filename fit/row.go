package fit

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A VerdictRow is a verdict as JSON has it in reports, which list only programs that do not fit. R
// is the row of something that lies in L1: a fleet knows programs and buffers by their ids, a
// report by the operations that made them.
type VerdictRow[R any] struct {
	Message    string        `json:"message"`
	Refusals   []RefusalRow  `json:"refusals"`
	Hybrid     []RefusalRow  `json:"hybrid_refusals"`
	Clashes    []ClashRow[R] `json:"clashes"`
	Difference string        `json:"difference"`
	Advice     string        `json:"advice"`
}

// A RefusalRow is an error of tt-metal's.
type RefusalRow struct {
	Kind    RefusalKind `json:"kind"`
	Buffers string      `json:"buffers"`
	Message string      `json:"message"`
	Device  *uint64     `json:"device"` // null if the source has no ids
	Devices int         `json:"devices"`
	Cores   string      `json:"cores"`
	End     uint64      `json:"region_end"`
	Limit   uint64      `json:"limit"`
	Over    uint64      `json:"over_bytes"`
}

// A ClashRow is a set of cores on which a program does not fit.
type ClashRow[R any] struct {
	Device  *uint64   `json:"device"` // null if the source has no ids
	Devices int       `json:"devices"`
	Cores   string    `json:"cores"`
	Count   int       `json:"count"`
	End     uint64    `json:"region_end"`
	Limit   uint64    `json:"limit"`
	LimitIs string    `json:"limit_is"`
	Over    uint64    `json:"over_bytes"`
	Bytes   uint64    `json:"clashing_bytes"`
	CBs     []R       `json:"cbs"`
	Above   []R       `json:"above"`
	Holes   []HoleRow `json:"unusable"`
}

// A HoleRow is a run of free bytes that placement cannot use.
type HoleRow struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
	Why   string `json:"why"`
}

// A ResidentRow is a range that something in L1 holds. Callers add the owner in their own words.
type ResidentRow struct {
	Kind  Kind   `json:"kind"`
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
}

// An IDRow is something in L1 with the ids by which a fleet knows it.
type IDRow struct {
	ResidentRow
	Program *program.ID `json:"program,omitempty"`
	CB      *int        `json:"cb,omitempty"` // its position in the program
	Buffer  *BufferID   `json:"buffer,omitempty"`
	Name    string      `json:"name,omitempty"`
	Op      string      `json:"op,omitempty"` // the operation that defined the program, for callers that know it
}

// An AnswerRow is a verdict as JSON has it in answers, also where the program fits.
type AnswerRow struct {
	Fits       bool       `json:"fits"`
	CannotTell bool       `json:"cannot_tell,omitempty"`
	Doubts     []DoubtRow `json:"doubts,omitempty"` // why
	VerdictRow[IDRow]
}

// A DoubtRow is a region that tt-metal may refuse.
type DoubtRow struct {
	Kind    DoubtKind `json:"kind"`
	Message string    `json:"message"`
	Device  DeviceID  `json:"device"`
	Devices int       `json:"devices"`
	Cores   string    `json:"cores"`
	End     uint64    `json:"region_end"`
}

// Row returns the verdict as JSON has it, with the ids of a fleet. encoding/json writes it.
func (v Verdict) Row() AnswerRow { return NewAnswerRow(v, NewIDRow) }

// NewAnswerRow returns the row of a verdict. resident gives the row of something in L1.
func NewAnswerRow(v Verdict, resident func(Resident) IDRow) AnswerRow {
	id := func(id DeviceID) *uint64 { n := uint64(id); return &n }
	doubts := rows(v.Doubts, func(d Doubt) DoubtRow {
		return DoubtRow{d.Kind, d.String(), d.Device, d.Devices, d.Cores.String(), d.End}
	})
	return AnswerRow{v.Fits(), v.CannotTell(), doubts, NewVerdictRow(v, id, resident)}
}

// NewVerdictRow returns the row of a verdict. id gives the id of a device, nil for none;
// resident gives the row of something in L1.
func NewVerdictRow[R any](v Verdict, id func(DeviceID) *uint64, resident func(Resident) R) VerdictRow[R] {
	refusal := func(r *Refusal) RefusalRow {
		return RefusalRow{
			r.Kind, r.Buffers(), r.Error(), id(r.Device), r.Devices, r.Cores.String(), r.End, r.Limit, r.Over(),
		}
	}
	clash := func(c Clash) ClashRow[R] {
		limit := "lowest_resident_above"
		if c.Grows {
			limit = "l1_size"
		}
		return ClashRow[R]{
			id(c.Device), c.Devices, c.Cores.String(), c.Cores.Len(), c.End, c.Limit, limit, c.Over(), c.Bytes,
			rows(v.Own(c), resident), rows(v.Above(c), resident), rows(v.Holes(c), newHoleRow),
		}
	}
	return VerdictRow[R]{
		v.String(), rows(v.Refusals, refusal), rows(v.Hybrid, refusal), rows(v.Clashes, clash), v.Difference(), v.Advice(),
	}
}

func newHoleRow(h Hole) HoleRow { return HoleRow{h.Range.Start, h.Range.End, h.Range.Len(), h.Why} }

// rows returns the row of each, and never nil.
func rows[T, R any](all []T, row func(T) R) []R {
	out := make([]R, 0, len(all))
	for _, x := range all {
		out = append(out, row(x))
	}
	return out
}

// NewResidentRow returns the row of a range that something of a kind holds.
func NewResidentRow(kind Kind, r l1.Range) ResidentRow {
	return ResidentRow{kind, r.Start, r.End, r.Len()}
}

// Range returns the range.
func (r ResidentRow) Range() l1.Range { return l1.Range{Start: r.Start, End: r.End} }

// NewIDRow returns the row of something in L1.
func NewIDRow(r Resident) IDRow {
	row := IDRow{ResidentRow: NewResidentRow(r.Kind, r.Range)}
	if p := r.Program; p != nil {
		id := p.ID()
		row.Program, row.CB, row.Name = &id, &r.CB, p.Name()
	} else {
		row.Buffer, row.Name = &r.Buffer.ID, r.Buffer.Name
	}
	return row
}

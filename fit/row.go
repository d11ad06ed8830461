package fit

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A VerdictRow is a verdict as JSON has it in reports, which list only what does not fit. R is the row of
// something that lies in L1: a fleet knows programs and buffers by their ids, a report by
// the operations that made them.
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

// A ClashRow is a set of cores on which a program does not
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

// A ResidentRow is a range that something in L1 holds. Those who write rows add whose it is in their own words.
type ResidentRow struct {
	Kind  string `json:"kind"`
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
}

// An IDRow is something in L1 with the ids by which a fleet knows it.
type IDRow struct {
	ResidentRow
	Program *program.ID `json:"program,omitempty"`
	CB      *int        `json:"cb,omitempty"`
	Buffer  *BufferID   `json:"buffer,omitempty"`
	Name    string      `json:"name,omitempty"`
}

// An AnswerRow is a verdict as JSON has it in answers, also where the program fits.
type AnswerRow[R any] struct {
	Fits       bool       `json:"fits"`
	CannotTell bool       `json:"cannot_tell,omitempty"`
	Doubts     []DoubtRow `json:"doubts,omitempty"` // why
	VerdictRow[R]
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
func (v Verdict) Row() AnswerRow[IDRow] {
	return NewAnswerRow(v, func(residents []Resident) []IDRow {
		out := []IDRow{}
		for _, r := range residents {
			out = append(out, NewIDRow(r))
		}
		return out
	})
}

// NewAnswerRow returns the row of a verdict. residents gives the rows of what lies in L1, and never nil.
func NewAnswerRow[R any](v Verdict, residents func([]Resident) []R) AnswerRow[R] {
	id := func(id DeviceID) *uint64 { n := uint64(id); return &n }
	out := AnswerRow[R]{Fits: v.Fits(), CannotTell: v.CannotTell(), VerdictRow: NewVerdictRow(v, id, residents)}
	for _, d := range v.Doubts {
		out.Doubts = append(out.Doubts, DoubtRow{d.Kind, d.String(), d.Device, d.Devices, d.Cores.String(), d.End})
	}
	return out
}

// NewVerdictRow returns the row of a verdict. id gives the id of a device, nil for none;
// residents gives the rows of what lies in L1, and never nil.
func NewVerdictRow[R any](v Verdict, id func(DeviceID) *uint64, residents func([]Resident) []R) VerdictRow[R] {
	out := VerdictRow[R]{
		Message: v.String(), Refusals: refusalRows(v.Refusals, id), Hybrid: refusalRows(v.Hybrid, id), Clashes: []ClashRow[R]{},
		Difference: v.Difference(), Advice: v.Advice(),
	}
	for _, c := range v.Clashes {
		row := ClashRow[R]{
			Device: id(c.Device), Devices: c.Devices, Cores: c.Cores.String(), Count: c.Cores.Len(), End: c.End, Limit: c.Limit,
			LimitIs: "lowest_resident_above", Over: c.Over(), Bytes: c.Bytes,
			CBs: residents(v.Own(c)), Above: residents(v.Above(c)), Holes: []HoleRow{},
		}
		if c.Grows {
			row.LimitIs = "l1_size"
		}
		for _, h := range v.Holes(c) {
			row.Holes = append(row.Holes, HoleRow{h.Range.Start, h.Range.End, h.Range.Len(), h.Why})
		}
		out.Clashes = append(out.Clashes, row)
	}
	return out
}

func refusalRows(refusals []*Refusal, id func(DeviceID) *uint64) []RefusalRow {
	out := []RefusalRow{}
	for _, r := range refusals {
		out = append(out, RefusalRow{
			r.Kind, r.Buffers(), r.Error(), id(r.Device), r.Devices, r.Cores.String(), r.End, r.Limit, r.Over(),
		})
	}
	return out
}

// NewResidentRow returns the row of a range that something of a kind holds.
func NewResidentRow(kind Kind, r l1.Range) ResidentRow {
	return ResidentRow{kind.Name(), r.Start, r.End, r.Len()}
}

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

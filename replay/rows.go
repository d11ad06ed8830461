package replay

import (
	"iter"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A VerdictRow is a verdict as JSON has it, in answers and in reports. Whether it fits is
// not in it: a report lists only what does not. R is the row of
// something that lies in L1: a log knows programs and buffers by their ids, a report by
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
	Kind    fit.RefusalKind `json:"kind"`
	Buffers string          `json:"buffers"`
	Message string          `json:"message"`
	Device  *uint64         `json:"device"` // null if the source has no ids
	Devices int             `json:"devices"`
	Cores   string          `json:"cores"`
	End     uint64          `json:"region_end"`
	Limit   uint64          `json:"limit"`
	Over    uint64          `json:"over_bytes"`
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

// A ResidentRow is what answers and reports say alike of something that lies in L1. Each
// adds whose it is in its own words.
type ResidentRow struct {
	Kind  string `json:"kind"`
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
	Bytes uint64 `json:"bytes"`
}

// A SharedRow is bytes that several kinds hold at once.
type SharedRow struct {
	Kinds []string `json:"kinds"`
	Bytes uint64   `json:"bytes"`
}

// A HeadroomRow is the room on some cores.
type HeadroomRow struct {
	Device  *uint64 `json:"device"` // null if the source has no ids
	Devices int     `json:"devices"`
	Cores   string  `json:"cores"`
	Count   int     `json:"count"`
	End     uint64  `json:"region_end"`
	Free    uint64  `json:"free_bytes"`
	Gap     uint64  `json:"largest_gap_bytes"`
	GapAt   uint64  `json:"largest_gap_start"`
}

// NewVerdictRow returns the row of a verdict. id gives the id of a device, nil for none;
// residents gives the rows of what lies in L1, and never nil.
func NewVerdictRow[R any](v fit.Verdict, id func(device.ID) *uint64, residents func([]fit.Resident) []R) VerdictRow[R] {
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

func refusalRows(refusals []*fit.Refusal, id func(device.ID) *uint64) []RefusalRow {
	out := []RefusalRow{}
	for _, r := range refusals {
		out = append(out, RefusalRow{
			r.Kind, r.Buffers(), r.Error(), id(r.Device), r.Devices, r.Cores.String(), r.End, r.Limit, r.Over(),
		})
	}
	return out
}

// NewResidentRow returns the row of a range that something of a kind holds.
func NewResidentRow(kind fit.Kind, r l1.Range) ResidentRow {
	return ResidentRow{kind.Name(), r.Start, r.End, r.Len()}
}

// NewSharedRows returns a row for each set of kinds that share bytes, and never nil.
func NewSharedRows(all iter.Seq[device.Shared]) []SharedRow {
	out := []SharedRow{}
	for shared := range all {
		row := SharedRow{Bytes: shared.Bytes}
		for k := fit.KindCB; k.InL1(); k++ {
			if shared.Kinds.Has(k) {
				row.Kinds = append(row.Kinds, k.Name())
			}
		}
		out = append(out, row)
	}
	return out
}

// NewHeadroomRow returns the row of a headroom. id gives the id of its device, nil for
// none.
func NewHeadroomRow(h fit.Headroom, id func(device.ID) *uint64) HeadroomRow {
	return HeadroomRow{id(h.Device), h.Devices, h.Cores.String(), h.Cores.Len(), h.End, h.Free, h.Gap.Len(), h.Gap.Start}
}

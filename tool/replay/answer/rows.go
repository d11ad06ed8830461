package answer

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
)

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

// NewHeadroomRow returns the row of a headroom. id gives the id of its device, nil for
// none.
func NewHeadroomRow(h fit.Headroom, id func(device.ID) *uint64) HeadroomRow {
	return HeadroomRow{id(h.Device), h.Devices, h.Cores.String(), h.Cores.Len(), h.End, h.Free, h.Gap.Len(), h.Gap.Start}
}

package answer

import (
	"math/bits"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A LiveDevice has the present figures of one device, as "cbl1 watch" and "cbl1 serve" show them. Figures are bytes,
// and sums over the cores unless they say otherwise. A figure that the source does not know is nil.
type LiveDevice struct {
	Fleet      string `json:"fleet,omitempty"` // the named fleet of the device, if there is one
	Device     uint64 `json:"device"`
	Board      string `json:"board,omitempty"`
	Cores      int    `json:"cores"`        // 0: not known
	Usable     uint64 `json:"usable_bytes"` // of the L1 of a core; 0: not known
	Bound      bool   `json:"bound"`        // CBs count as if each were on every core
	Incomplete bool   `json:"incomplete"`   // a client that may have more there was lost, or something is hidden

	Registered  *uint64   `json:"registered_union_bytes"`         // CBs of registered programs, each byte once
	Core        *uint64   `json:"registered_core_peak_bytes"`     // Registered on the fullest core
	Dispatched  *uint64   `json:"dispatched_bytes"`               // CBs that the last dispatches left
	Tracked     *uint64   `json:"tracked_bytes"`                  // everything in L1 but kernels, each byte once
	TrackedCore *uint64   `json:"tracked_core_peak_bytes"`        // Tracked on the fullest core
	Below       *uint64   `json:"below_l1_small_core_peak_bytes"` // the same below L1_SMALL, in usable L1
	Headroom    *uint64   `json:"headroom_bytes"`                 // where there is least of it
	Logical     *uint64   `json:"cb_logical_bytes"`               // sum of sizes times cores
	Sum         *uint64   `json:"cb_sum_bytes"`                   // sum of sizes, as the allocation protocol counts
	Peak        *LivePeak `json:"peak"`
	Programs    *int      `json:"programs"`

	L1      uint64  `json:"l1_buffer_bytes"`
	L1Small uint64  `json:"l1_small_buffer_bytes"`
	DRAM    uint64  `json:"dram_buffer_bytes"`
	Trace   uint64  `json:"trace_buffer_bytes"`
	Kernels *uint64 `json:"kernel_bytes"`

	DRAMSize *uint64 `json:"dram_size_bytes"` // of all DRAM of the device
}

// A LivePeak has high-water marks of a LiveDevice since its source began.
type LivePeak struct {
	Registered  *uint64 `json:"registered_union_bytes"`
	Core        uint64  `json:"registered_core_peak_bytes"`
	Dispatched  *uint64 `json:"dispatched_bytes"`
	Tracked     *uint64 `json:"tracked_bytes"`
	TrackedCore *uint64 `json:"tracked_core_peak_bytes"`
}

// NewLiveDevice returns the present figures of a device. A device.Spec has no size of DRAM: DRAMSize is nil.
func NewLiveDevice(d device.Device) LiveDevice {
	s, t := d.Spec(), d.Totals()
	p := t.Peak
	row := LiveDevice{
		Device: uint64(d.ID()), Board: s.Name, Cores: s.NumCores(), Usable: s.UsableBytes(),
		Registered: &t.Registered, Core: &t.Core, Dispatched: &t.Resident, Tracked: &t.Tracked, TrackedCore: &t.TrackedCore,
		Logical: &t.Logical, Programs: &t.Programs,
		Peak: &LivePeak{&p.Registered, p.Core, &p.Resident, &p.Tracked, &p.TrackedCore},
	}
	row.SetBuffers(t.Buffers)
	below, _ := d.FullestIn(UnderSmall(s), l1.CoreSet{})
	row.Below = &below
	if free, ok := d.LeastHeadroom(); ok && row.Usable > 0 {
		row.Headroom = &free
	}
	return row
}

// SetBuffers sets the figures of buffers and kernels.
func (d *LiveDevice) SetBuffers(t fit.BufferTotals) {
	d.L1, d.L1Small, d.DRAM, d.Trace, d.Kernels = t.L1, t.L1Small, t.DRAM, t.Trace, &t.Kernels
}

// MeshOf returns the row of a mesh, as a view of the rows of its chips: sums over them, the core with most bytes, and
// the least headroom. A figure that a chip lacks is not known, nor is a sum beyond 2^64. Chips reach their peaks at
// different times, so that the mesh has only the peak of its fullest core.
func MeshOf(id uint64, board string, chips []LiveDevice) LiveDevice {
	sum := func(a, b uint64) (n, carry uint64) { return bits.Add64(a, b, 0) }
	largest := func(a, b uint64) (n, carry uint64) { return max(a, b), 0 }
	least := func(a, b uint64) (n, carry uint64) { return min(a, b), 0 }
	row := chips[0]
	row.Device, row.Board, row.Programs = id, board, new(*row.Programs)
	row.Peak = &LivePeak{Core: row.Peak.Core, TrackedCore: row.Peak.TrackedCore}
	for i := range chips[1:] {
		chip := &chips[1+i]
		row.Cores, row.Usable = row.Cores+chip.Cores, min(row.Usable, chip.Usable)
		row.Bound, row.Incomplete = row.Bound || chip.Bound, row.Incomplete || chip.Incomplete
		*row.Programs += *chip.Programs
		row.Peak.Core = max(row.Peak.Core, chip.Peak.Core)
		for _, f := range [...][2]*uint64{{&row.L1, &chip.L1}, {&row.L1Small, &chip.L1Small}, {&row.DRAM, &chip.DRAM}, {&row.Trace, &chip.Trace}} {
			n, carry := sum(*f[0], *f[1])
			if *f[0] = n; carry > 0 { // these are always known: the whole row is not
				return LiveDevice{Device: id, Board: board, Bound: row.Bound, Incomplete: true}
			}
		}
		for _, f := range []struct {
			of   **uint64
			chip *uint64
			join func(a, b uint64) (n, carry uint64)
		}{
			{&row.Registered, chip.Registered, sum}, {&row.Dispatched, chip.Dispatched, sum}, {&row.Tracked, chip.Tracked, sum},
			{&row.Logical, chip.Logical, sum}, {&row.Sum, chip.Sum, sum}, {&row.Kernels, chip.Kernels, sum}, {&row.DRAMSize, chip.DRAMSize, sum},
			{&row.Core, chip.Core, largest}, {&row.TrackedCore, chip.TrackedCore, largest}, {&row.Peak.TrackedCore, chip.Peak.TrackedCore, largest},
			{&row.Headroom, chip.Headroom, least},
		} {
			if *f.of == nil || f.chip == nil {
				*f.of = nil
				continue
			}
			n, carry := f.join(**f.of, *f.chip)
			if *f.of = &n; carry > 0 {
				*f.of = nil
			}
		}
	}
	return row
}

package watch

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/internal/live/shm"
	"github.com/cbl1/cbl1/internal/live/wire"
	"github.com/cbl1/cbl1/l1"
)

// Schema names the format of a Snapshot in JSON.
const Schema = "cbl1.watch/1"

// A Source is the origin of figures.
type Source string

// The sources.
const (
	SourceRecords Source = "records"       // what processes say to an allocation server: no cores, no dispatches
	SourceLog     Source = "log"           // an event log
	SourceRegions Source = "shared memory" // sums that processes publish
)

// A Snapshot holds the figures of a moment.
type Snapshot struct {
	Schema    string    `json:"schema"`
	Source    Source    `json:"source"`
	Time      int64     `json:"t"` // nanoseconds since 1970
	Devices   []Device  `json:"devices"`
	Left      int       `json:"devices_left"` // of fleets with names, which have no row: there are too many
	Processes []Process `json:"processes"`
	Odd       []Odd     `json:"odd"`
	Leaked    int64     `json:"leaked"`            // what processes had when they died
	Leaks     []Leak    `json:"leaks,omitempty"`   // the last of them
	Behind    int64     `json:"behind_bytes"`      // of a log, which are written and not read yet
	Refused   []string  `json:"refused,omitempty"` // the last refusals, as text
	Detail    *Detail   `json:"detail,omitempty"`  // of one device, if it was asked for
	Server    *Server   `json:"server,omitempty"`  // that says all this, if there is one
}

// A Server counts the intake and the losses of an allocation server since it began.
type Server struct {
	Clients     int64 `json:"clients"`      // connections of AllocMessage clients
	Records     int64 `json:"records"`      // of them
	Refused     int64 `json:"refused"`      // connections for which there was no room: they were closed, or had to wait
	Closed      int64 `json:"closed"`       // clients that the server closed
	NotRecorded int64 `json:"not_recorded"` // events that no log has, since it could not be written
	Unprinted   int64 `json:"unprinted"`    // lines that were left out, by serve.Config.Waiting
}

// AppendJSON appends the Snapshot as one line of JSON, in ASCII: no name in it steers a terminal.
func (s *Snapshot) AppendJSON(b []byte) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return b, err
	}
	return append(append(b, asciijson.Escape(text)...), '\n'), nil
}

// Peak has high-water marks since the source began.
type Peak struct {
	Registered  *uint64 `json:"registered_union_bytes"`
	Core        uint64  `json:"registered_core_peak_bytes"`
	Dispatched  *uint64 `json:"dispatched_bytes"`
	Tracked     *uint64 `json:"tracked_bytes"`
	TrackedCore *uint64 `json:"tracked_core_peak_bytes"`
}

// A Device holds the figures of one device.
type Device struct {
	Fleet      string `json:"fleet,omitempty"` // whose event logs tell of the device, if it has a name
	Device     uint64 `json:"device"`
	Board      string `json:"board,omitempty"`
	Cores      int    `json:"cores"`        // 0: not known
	Usable     uint64 `json:"usable_bytes"` // of the L1 of a core; 0: not known
	Bound      bool   `json:"bound"`        // CBs count as if each were on every core
	Incomplete bool   `json:"incomplete"`   // a client that may have more there was lost, or something is hidden

	Registered  *uint64 `json:"registered_union_bytes"`
	Core        *uint64 `json:"registered_core_peak_bytes"` // of the fullest core
	Dispatched  *uint64 `json:"dispatched_bytes"`
	Tracked     *uint64 `json:"tracked_bytes"`
	TrackedCore *uint64 `json:"tracked_core_peak_bytes"` // of the fullest core
	Headroom    *uint64 `json:"headroom_bytes"`          // where there is least of it
	Logical     *uint64 `json:"cb_logical_bytes"`        // sum of sizes times cores
	Sum         *uint64 `json:"cb_sum_bytes"`            // sum of sizes, as the protocol counts
	Peak        *Peak   `json:"peak"`
	Programs    *int    `json:"programs"`

	L1      uint64  `json:"l1_buffer_bytes"`
	L1Small uint64  `json:"l1_small_buffer_bytes"`
	DRAM    uint64  `json:"dram_buffer_bytes"`
	Trace   uint64  `json:"trace_buffer_bytes"`
	Kernels *uint64 `json:"kernel_bytes"`

	DRAMSize *uint64 `json:"dram_size_bytes"` // of all DRAM of the device
}

// A Process holds the figures of one process, on all devices, or on one where that is known. Bytes
// shared by several processes count for each of them.
type Process struct {
	PID     int32   `json:"pid"`
	Name    string  `json:"name,omitempty"`
	Device  *uint64 `json:"device"`
	Dead    bool    `json:"dead"` // and its allocations are not released yet
	CB      uint64  `json:"cb_bytes"`
	L1      uint64  `json:"l1_buffer_bytes"`
	L1Small uint64  `json:"l1_small_buffer_bytes"`
	DRAM    uint64  `json:"dram_buffer_bytes"`
	Trace   uint64  `json:"trace_buffer_bytes"`
	Kernels uint64  `json:"kernel_bytes"`
}

// A Leak holds the allocations of a process at its death.
type Leak struct {
	PID     int32 `json:"pid"`
	CBs     int   `json:"cbs"`
	Buffers int   `json:"buffers"`
	Kernels int   `json:"kernels"`
}

// Odd counts how often something was odd, or refused.
type Odd struct {
	Fleet string `json:"fleet,omitempty"` // whose event logs said so, if it has a name
	Code  string `json:"code"`
	Count int64  `json:"count"`
}

// Fullness returns the share of usable L1 in use: on the fullest core or, if cores are unknown, by
// the CBs of all cores. what names the figure; of is 0 if the size of L1 is unknown.
func (d *Device) Fullness() (bytes, of uint64, what string) {
	switch {
	case d.TrackedCore != nil && (d.Core == nil || *d.TrackedCore >= *d.Core) && *d.TrackedCore > 0:
		return *d.TrackedCore, d.Usable, "tracked on the fullest core"
	case d.Core != nil:
		return *d.Core, d.Usable, "registered CBs on the fullest core"
	case d.Registered != nil:
		return *d.Registered, d.Physical(), "registered CBs"
	case d.Dispatched != nil:
		return *d.Dispatched, d.Physical(), "resident CBs"
	}
	return 0, 0, ""
}

// CBs returns the bytes of CBs: the resident ones, or the registered ones where nothing was
// dispatched; nil if both are unknown.
func (d *Device) CBs() *uint64 {
	if d.Dispatched != nil && (d.Registered == nil || d.Peak != nil && d.Peak.Dispatched != nil && *d.Peak.Dispatched > 0) {
		return d.Dispatched
	}
	return d.Registered
}

// Physical returns the bytes of L1 of all cores; 0 where that is not known, or no number.
func (d *Device) Physical() uint64 {
	high, low := bits.Mul64(d.Usable, uint64(max(d.Cores, 0)))
	if high > 0 {
		return 0
	}
	return low
}

// Accounting names a figure larger than the L1 of the device, which must count bytes more than
// once: a sum of sizes or, if cores are unknown, the published bytes of processes. It is "" if
// there is none. The union of registered ranges counts no byte twice: if it exceeds the L1, a
// program does not fit.
func (d *Device) Accounting() string {
	type figure struct {
		name  string
		bytes *uint64
	}
	figures := []figure{{"the sum of sizes x cores", d.Logical}, {"the protocol's sum", d.Sum}}
	if d.Core == nil {
		figures = append(figures, figure{"what is registered", d.Registered}, figure{"what is resident", d.Dispatched})
	}
	for _, f := range figures {
		if f.bytes != nil && d.Physical() > 0 && *f.bytes > d.Physical() {
			return f.name
		}
	}
	return ""
}

// Fleet returns the rows of a fleet.
func Fleet(f *device.Fleet) []Device {
	rows := []Device{}
	for d := range f.Devices() {
		rows = append(rows, Of(d))
	}
	return rows
}

// Of returns the row of a device of a fleet.
func Of(d device.Device) Device {
	s, t := d.Spec(), d.Totals()
	row := Device{
		Device: uint64(d.ID()), Board: s.Name, Cores: s.NumCores(), Usable: s.UsableBytes(),
		Registered: &t.Registered, Core: &t.Core, Dispatched: &t.Resident, Tracked: &t.Tracked, TrackedCore: &t.TrackedCore, Logical: &t.Logical,
		Peak:     &Peak{&t.Peak.Registered, t.Peak.Core, &t.Peak.Resident, &t.Peak.Tracked, &t.Peak.TrackedCore},
		Programs: &t.Programs,
	}
	row.SetBuffers(t.Buffers)
	row.SetDRAM(0)
	if free, ok := d.Glance().LeastHeadroom(); ok && row.Usable > 0 {
		row.Headroom = &free
	}
	return row
}

// SetBuffers sets the figures of buffers and kernels.
func (d *Device) SetBuffers(t fit.BufferTotals) {
	d.L1, d.L1Small, d.DRAM, d.Trace, d.Kernels = t.L1, t.L1Small, t.DRAM, t.Trace, &t.Kernels
}

// ProcessOn returns the row of a process on a device where it has these figures.
func ProcessOn(device uint64, pid int32, t wire.Totals) Process {
	return Process{
		PID: pid, Device: &device, CB: t.CB, L1: t.L1, L1Small: t.L1Small, DRAM: t.DRAM, Trace: t.Trace, Kernels: t.Kernels,
	}
}

// SortProcesses sorts rows of processes, which have devices, by process and device.
func SortProcesses(rows []Process) {
	slices.SortFunc(rows, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(*a.Device, *b.Device))
	})
}

// SetDRAM sets the size of the device's DRAM; 0 stands for its board's.
func (d *Device) SetDRAM(bytes uint64) {
	d.DRAMSize = nil
	if bytes = wire.DRAMOf(d.Board, bytes).Bytes; bytes > 0 {
		d.DRAMSize = &bytes
	}
}

// Usage returns the figures for a region of shared memory: the inverse of Region. CB bytes are the
// registered ones or, in version 4, the resident ones if dispatches are known.
func (d *Device) Usage(version uint32) shm.Usage {
	u := shm.Usage{DRAM: d.DRAM, L1: d.L1, L1Small: d.L1Small, Trace: d.Trace}
	cbs := d.Registered
	if version == shm.Version4 && d.Dispatched != nil {
		cbs = d.Dispatched
	}
	if cbs != nil {
		u.CB = *cbs
	}
	return u
}

// Region returns the row of a device from a region of shared memory, and a row for each of its
// processes. alive reports which of them live. s gives the L1 of the device; it is the zero Spec if
// that is unknown.
func Region(im *shm.Image, s l1.Spec, alive func(pid int32) bool) (Device, []Process) {
	u := im.Total(alive)
	row := Device{
		Device: uint64(im.Device), Board: s.Name, Cores: s.NumCores(), Usable: s.UsableBytes(), L1: u.L1, L1Small: u.L1Small, DRAM: u.DRAM, Trace: u.Trace,
	}
	row.SetDRAM(0)
	if im.Version == shm.Version4 {
		row.Dispatched = &u.CB
	} else {
		row.Registered = &u.CB
	}
	var processes []Process
	for _, p := range im.Processes {
		if p.PID > 0 {
			processes = append(processes, Process{
				PID: p.PID, Name: p.Name, Device: &row.Device, Dead: !alive(p.PID), CB: p.CB, L1: p.L1, L1Small: p.L1Small, DRAM: p.DRAM, Trace: p.Trace,
			})
		}
	}
	return row, processes
}

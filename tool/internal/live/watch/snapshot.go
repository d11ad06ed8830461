package watch

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/internal/asciijson"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// Schema names the format of a Snapshot in JSON.
const Schema = "cbl1.watch/1"

// A Feed is the origin of figures.
type Feed string

// The sources.
const (
	FeedRecords Feed = "records"       // what processes say to an allocation server: no cores, no dispatches
	FeedLog     Feed = "log"           // an event log
	FeedRegions Feed = "shared memory" // sums that processes publish
)

// A Snapshot holds the figures of a moment.
type Snapshot struct {
	Schema    string              `json:"schema"`
	Source    Feed                `json:"source"`
	Time      int64               `json:"t"` // nanoseconds since 1970
	Devices   []answer.LiveDevice `json:"devices"`
	Left      int                 `json:"devices_left"` // of fleets with names, which have no row: there are too many
	Processes []Process           `json:"processes"`
	Odd       []OddityCount       `json:"odd"`
	Leaked    int64               `json:"leaked"`            // what processes had when they died
	Leaks     []Leak              `json:"leaks,omitempty"`   // the last of them
	Behind    int64               `json:"behind_bytes"`      // of a log, which are written and not read yet
	Refused   []string            `json:"refused,omitempty"` // the last refusals, as text
	Detail    *Detail             `json:"detail,omitempty"`  // of one device, on request
	Server    *ServerCounts       `json:"server,omitempty"`  // that says all this, if there is one
}

// ServerCounts are the intake and the losses of an allocation server since it began.
type ServerCounts struct {
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

// An OddityCount counts how often something was odd, or refused.
type OddityCount struct {
	Fleet string `json:"fleet,omitempty"` // whose event logs said so, if it has a name
	Code  string `json:"code"`
	Count int64  `json:"count"`
}

// ProcessOn returns the row of a process on a device where it has these figures.
func ProcessOn(device uint64, pid int32, t wire.Sums) Process {
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
func SetDRAM(d *answer.LiveDevice, bytes uint64) {
	d.DRAMSize = nil
	if bytes = wire.DRAMOf(d.Board, bytes).Bytes; bytes > 0 {
		d.DRAMSize = &bytes
	}
}

// UsageOf returns the figures of a device for a region of shared memory: the inverse of Region. CB
// bytes are the registered ones or, in version 4, the resident ones if dispatches are known.
func UsageOf(d *answer.LiveDevice, version uint32) shm.Counters {
	u := shm.Counters{DRAM: d.DRAM, L1: d.L1, L1Small: d.L1Small, Trace: d.Trace}
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
func Region(im *shm.Image, s l1.Spec, alive func(pid int32) bool) (answer.LiveDevice, []Process) {
	u := im.Total(alive)
	row := answer.LiveDevice{
		Device: uint64(im.Device), Board: s.Name, Cores: s.NumCores(), Usable: s.UsableBytes(), L1: u.L1, L1Small: u.L1Small, DRAM: u.DRAM, Trace: u.Trace,
	}
	SetDRAM(&row, 0)
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

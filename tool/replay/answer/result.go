package answer

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Result has the figures of one capture or event log about circular buffers (CBs) and L1. Bytes are exact. Each
// field defines its figure; names follow the JSON report.
type Result struct {
	File  string
	Rank  event.Opt[uint64] // of the host process that wrote the capture
	Nodes int64
	Log   bool // it was an event log: nodes are its lines with something on them, the header included

	Only Filter // to what it was narrowed

	Doubted int64 // refused events that run a program in doubt, whose own code is a reason already

	// Spec is the device as far as it matters: base and alignment with which CBs
	// without an address were placed, L1 size for percentages. Its grid is not known.
	Spec Spec

	// Addresses says where the addresses of local CBs come from.
	Addresses Addresses
	// Placed reports whether anything was placed with Spec's base and alignment.
	Placed bool

	Upstream  event.Upstream
	Anomalies []AnomalyCount // by code
	Meshes    []Mesh         // by id
	Devices   []Device       // by id, the one without an id first

	// L1 has a row for every device of Devices; if there is none, for every id on
	// allocations. By id, the one without an id first.
	L1      []DeviceL1
	Checks  Checks
	Hits    Hits
	Live    LiveBuffers
	Earlier EarlierBuffers
	Held    []Holders // answers Options.Ask, by device
	Rooms   *Rooms    // answers Options.Room; nil without it
	Stale   []Stale   // by FindStale

	Runs     []EnqueuedProgram // distinct ones in their order, with Options.Runs; at most 65,536
	RunsMore int64             // runs that are not there, since there were too many different ones

	Timeline []Timeline // by device, with Options.Timeline

	Layouts []MeshLayout // of the meshes that a log declares, in its order

	Uneven    bool      // devices differ in how much of L1 is usable, or one does not say it
	Recording Recording // of a log of records, which has no runs
}

// A Spec is an l1.Spec and where its numbers come from.
type Spec struct {
	l1.Spec
	ArchFrom event.Source
	BaseFrom event.Source // of base and alignment
	// SmallFrom is the source of L1Small. FromFile: the size of a bank gives it, or a log states it.
	SmallFrom event.Source
}

// SpecOf returns the Spec of a device: its own, or Result.Spec. Its grid is not known. Cost:
// O(log devices).
func (r *Result) SpecOf(id event.Opt[uint64]) Spec {
	at, ok := slices.BinarySearchFunc(r.L1, id, func(d DeviceL1, id event.Opt[uint64]) int { return CompareIDs(d.ID, id) })
	if ok && r.L1[at].Spec != nil {
		return *r.L1[at].Spec
	}
	return r.Spec
}

// Addresses says where the addresses of a capture's local CBs come from.
type Addresses string

// A capture without dispatch has address 0 on every CB: they are then placed by
// tt-metal's rule.
const (
	AddressesNone        Addresses = "none" // no local CB
	AddressesRecorded    Addresses = "recorded"
	AddressesSynthesised Addresses = "synthesised"
	AddressesMixed       Addresses = "mixed"
)

// A Mesh is an id under which a capture means several chips.
type Mesh struct {
	ID    uint64
	Chips []uint64 // ascending
}

// A MeshLayout says how devices stand in a mesh: Rows of Cols devices, row by row, with
// ascending ids. No capture says that, nor a log that was made of one.
type MeshLayout struct {
	First uint64 `json:"first"` // id of the first device
	Rows  int    `json:"rows"`
	Cols  int    `json:"cols"`
}

// A DeviceKind is the meaning of a device id in a capture.
type DeviceKind string

// The kinds of devices.
const (
	KindChip DeviceKind = "chip"
	KindMesh DeviceKind = "mesh" // CBs under a mesh's id: once, not multiplied by its chips
	KindNone DeviceKind = "none" // the capture has no device ids
)

// A Device has the figures of one device id as it stands on CB nodes.
//
// Alive means: from the CB's node to the free that reaches its device. Registered
// means: as if nothing ever ended, which is how tt-metal counts cached programs.
type Device struct {
	ID    event.Opt[uint64] `json:"-"`
	Kind  DeviceKind        `json:"kind"`
	Chips []uint64          `json:"chips"` // of a mesh, ascending

	CBNodes   int64 `json:"cb_nodes"`
	LocalCBs  int64 `json:"local_cbs"`
	GlobalCBs int64 `json:"global_cbs"`
	Programs  int64 `json:"programs"` // runs of CB nodes between two frees
	Cores     int   `json:"cores"`    // covered by a local CB

	LogicalPeak      uint64 `json:"logical_peak_bytes"`       // largest sum of size times cores over CBs alive
	LogicalSizesPeak uint64 `json:"logical_sizes_peak_bytes"` // the same without the cores
	ResidentPeak     uint64 `json:"resident_peak_bytes"`      // largest physical sum over cores, of CBs alive
	ResidentFinal    uint64 `json:"resident_final_bytes"`     // that sum after the last node
	CorePeak         uint64 `json:"core_peak_bytes"`          // largest physical figure of one core, of CBs alive
	HighestEnd       uint64 `json:"highest_end"`              // of a local CB
	// UnattributedPeak is the largest sum of sizes of CBs alive that name no core. It counts nowhere else
	// but in LogicalSizesPeak.
	UnattributedPeak uint64 `json:"unattributed_peak_bytes"`

	Registered          uint64 `json:"registered_union_bytes"`      // physical sum over cores
	RegisteredCorePeak  uint64 `json:"registered_core_peak_bytes"`  // most at once, on the fullest core
	RegisteredCoreFinal uint64 `json:"registered_core_final_bytes"` // on the fullest core after the last node
	RegisteredLogical   uint64 `json:"registered_logical_bytes"`
	// RegisteredRangeGranular is as tt-metal's bookkeeping per core range gives it ("reserved").
	RegisteredRangeGranular uint64 `json:"registered_range_granular_bytes"`

	Dataflow
	Scratchpad

	ProgramsDetail *Programs `json:"programs_detail"` // in order of their first node; nil if there are none
	// ProgramsBuffers has, for each row of ProgramsDetail, what that program places; nil
	// without Options.Buffers. Rows that place the same may share a slice.
	ProgramsBuffers [][]ProgramBuffer `json:"-"`
	CoreGroups      []CoreGroup       `json:"core_groups"` // by first core
	Fullest         *FullestCore      `json:"-"`           // nil without local CBs
}

// Dataflow are the figures of dataflow buffers, which are not part of the CB figures.
type Dataflow struct {
	Nodes              int64  `json:"dataflow_buffers"`
	Local              int64  `json:"dataflow_local"`
	Borrowed           int64  `json:"dataflow_borrowed"`
	ResidentPeak       uint64 `json:"dataflow_resident_peak_bytes"`
	CorePeak           uint64 `json:"dataflow_core_peak_bytes"`
	Registered         uint64 `json:"dataflow_registered_union_bytes"`
	RegisteredCorePeak uint64 `json:"dataflow_registered_core_peak_bytes"`
	RegisteredLogical  uint64 `json:"dataflow_registered_logical_bytes"`
}

// Scratchpad are the figures of scratchpads: Dataflow under other names in JSON, so that one converts to the
// other.
type Scratchpad struct {
	Nodes              int64  `json:"scratchpads"`
	Local              int64  `json:"-"`
	Borrowed           int64  `json:"-"`
	ResidentPeak       uint64 `json:"scratchpad_resident_peak_bytes"`
	CorePeak           uint64 `json:"scratchpad_core_peak_bytes"`
	Registered         uint64 `json:"scratchpad_registered_union_bytes"`
	RegisteredCorePeak uint64 `json:"scratchpad_registered_core_peak_bytes"`
	RegisteredLogical  uint64 `json:"scratchpad_registered_logical_bytes"`
}

// A ProgramDetail describes one run of CB nodes of one device.
type ProgramDetail struct {
	First       uint64      `json:"first_counter"` // of its first CB node
	Last        uint64      `json:"last_counter"`
	T           json.Number `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Op          Name        `json:"op"`          // that were running at the first node, outermost first, joined by " > "
	LocalCBs    int         `json:"local_cbs"`
	GlobalCBs   int         `json:"global_cbs"`
	Cores       int         `json:"cores"` // covered by a local CB
	Logical     uint64      `json:"logical_bytes"`
	Bytes       uint64      `json:"resident_bytes"` // physical, summed over cores
	Core        uint64      `json:"core_max_bytes"` // physical, on the fullest core
	HighestEnd  uint64      `json:"highest_end"`
	Overlapping bool        `json:"cbs_overlap"` // two of its CBs share bytes (program.Overlap)
}

// WithoutNodes returns the program without the nodes that made it, to compare it with others.
func (p ProgramDetail) WithoutNodes() ProgramDetail {
	p.First, p.Last, p.T = 0, 0, ""
	return p
}

// A CoreGroup is a set of cores with the same figures.
type CoreGroup struct {
	Cores      l1.CoreSet `json:"cores"`
	Count      int        `json:"count"`              // of Cores
	Registered uint64     `json:"registered_bytes"`   // on each core
	AlivePeak  uint64     `json:"core_peak_bytes"`    // largest figure of CBs alive, on each core
	Programs   int        `json:"programs"`           // distinct programs with a CB on these cores
	Regions    []l1.Range `json:"registered_regions"` // merged
}

// FullestCore is the core on which the registered programs take most, and the program
// that takes most of it.
type FullestCore struct {
	Device  string        `json:"device"` // its DeviceKey; of documents alone
	Core    l1.Core       `json:"core"`   // the first of them
	Cores   int           `json:"cores"`  // number of cores that are as full
	Bytes   uint64        `json:"bytes"`
	Percent *float64      `json:"percent_of_l1"` // of documents alone
	End     uint64        `json:"end"`           // of its highest region
	Program ProgramDetail `json:"program"`
	Share   uint64        `json:"program_bytes"` // bytes of that program on the core
}

// An AnomalyCount says how often something odd was seen, and where first.
type AnomalyCount struct {
	Code   Code        `json:"code"`
	Count  int64       `json:"count"`
	First  NodeNumber  `json:"first_counter"`
	T      json.Number `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Detail string      `json:"detail"`      // of the first one, may be empty; comes from the file
	Hidden bool        `json:"-"`           // it hides something that ran or lived, or may: the answer "fits" is impossible
}

// With adds further addresses to the summary of their sources.
func (a Addresses) With(recorded, synthesised bool) Addresses {
	recorded = recorded || a == AddressesRecorded || a == AddressesMixed
	synthesised = synthesised || a == AddressesSynthesised || a == AddressesMixed
	switch {
	case recorded && synthesised:
		return AddressesMixed
	case recorded:
		return AddressesRecorded
	case synthesised:
		return AddressesSynthesised
	}
	return a
}

// An Other is the figures of a kind that is no circular buffer.
type Other struct {
	Kind program.Kind
	*Dataflow
}

// Others are the figures of the kinds that are no circular buffers.
func (f *Device) Others() [2]Other {
	return [2]Other{{program.DataflowBuffer, &f.Dataflow}, {program.Scratchpad, (*Dataflow)(&f.Scratchpad)}}
}

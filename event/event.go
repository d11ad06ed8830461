package event

import (
	"math"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Kind is the kind of an event as a log spells it.
type Kind string

// The kinds of events that every source may write. The method of device.Fleet with the name of a
// kind describes its effect.
const (
	KindHeader     Kind = "log"    // the first event of every source: Source, Fleet; a later one has a Pos.Node above 0
	KindDevice     Kind = "device" // Device, Spec; of sources also Role, Chips, From
	KindMesh       Kind = "mesh"   // Device is the first one; Rows, Cols, Spec
	KindRemove     Kind = "remove"
	KindProgram    Kind = "program" // defines a program: Program, Name, CBs, AsWritten, Bases
	KindRegister   Kind = "register"
	KindReplace    Kind = "replace" // Program, With
	KindUnregister Kind = "unregister"
	KindDispatch   Kind = "dispatch"
	KindEnqueue    Kind = "enqueue"
	KindEvict      Kind = "evict"
	KindTraceBegin Kind = "trace_begin"
	KindRecord     Kind = "record"
	KindTraceEnd   Kind = "trace_end"
	KindReplay     Kind = "replay"
	KindRelease    Kind = "release"
	KindAllocate   Kind = "allocate" // Buffer, Parts, and what the source knows besides
	KindFree       Kind = "free"     // Buffer.ID
	KindResetPeaks Kind = "reset_peaks"
	KindHybrid     Kind = "hybrid"   // device.Fleet.SetHybrid
	KindLockstep   Kind = "lockstep" // and back
	KindOpStart    Kind = "op_start"
	KindOpEnd      Kind = "op_end"
)

// The kinds of events of sources that saw a run, and not its plan: captures.
const (
	// KindRun: Program ran on the devices of On. It counts as registered, alive, judged
	// and resident, whatever the verdict; enqueue would refuse it, but it did run.
	KindRun Kind = "run"
	// KindCBsFreed: CBs that runs left alive on Devices end. It stays registered.
	KindCBsFreed Kind = "cbs_freed"
	// KindExecuted: a chip of Devices executed Program; without one, the program is unknown.
	KindExecuted Kind = "executed"
	// KindHidden: something happened or lived that the source does not show. Whether everything
	// fits is unknown then. Code, Op, Devices, Detail, Count.
	KindHidden Kind = "hidden"
	// KindAnomaly: something is odd and harmless. Code, Detail, Count.
	KindAnomaly Kind = "anomaly"
	// KindUpstream: ttnn's own figures, copied. Upstream.
	KindUpstream Kind = "upstream"
	// KindEnd: the source was read to its end. Nodes, Rank, Spec, From. A log that names its source
	// and lacks this event is cut.
	KindEnd Kind = "end"
)

// Kinds that stand for lines of a log or for turns of a source, not for events of a fleet.
// A line cannot spell them: {"event":"torn"} has the Kind "torn" with its quotes, which is
// as unknown as any other.
const (
	KindQuery Kind = "query" // a query line; see its Query
	KindTorn  Kind = "torn"  // a last line that is cut
)

// An Event is one thing that happened on a fleet, or a statement of a source about it. Which fields
// it has depends on its Kind; the others are zero. Sizes and addresses are in bytes, ranges are
// half-open, cores are logical.
//
// A source may use the memory of an event again for the next one, as Log and package capture
// do. A copy stays: no list in it is used again.
type Event struct {
	Pos Pos // where the source has it
	// Node is the counter of the node in the capture that the event comes from. In a log it is by
	// default the number of its line, as Pos.Node is. An anomaly or something hidden may be about
	// the whole source: then Node is 0 and Pos.Node -1.
	Node    uint64
	Kind    Kind
	Anomaly Anomaly

	T            string      // the simulator's time, a number as it was written; "" = none
	Process, Tag string      // from the header unless the event has its own
	ID           []byte      // JSON that answers repeat; nil = none
	Op           Opt[string] // the functions that ran, outermost first, joined by " > "; absent: the functions of op_start

	// Devices are the devices that the event names; absent means all there are or, for unregister
	// and free, all that have it.
	Devices Opt[[]device.ID]
	Device  device.ID // device; mesh: the first
	Spec    l1.Spec   // device, mesh, end
	DRAM    uint64    // device, mesh: bytes that each has; 0 = the source does not say

	Rows, Cols int // mesh

	// Of device, where a source met an id. Such a device may be declared again: Role,
	// Chips, the grid and From are then known better; base and sizes stay.
	Role  Role
	Chips []device.ID // of a mesh, ascending
	From  Origins

	Program   program.ID
	With      Opt[program.ID] // replace: the new program, if it has another id
	Name      string          // program, op_start
	CBs       []CB            // program
	AsWritten bool            // program: core ranges are kept as they are, not merged
	Bases     []program.Base  // program: where its CBs start at the lowest
	Known     bool            // executed: Program is
	On        []RunDevice     // run: its devices, by id
	Inferred  bool            // run: taken from an earlier run, since the program came from the cache
	// Candidates, of a run: its alternatives. They also stand for the inferred runs that follow it
	// with its Node, on its devices and with their First. Each is a workload of one program or of
	// several, in their order, and is judged as a whole.
	Candidates [][]program.ID
	// CandidatesUnsettled: a candidate may consist of more programs than it lists. A candidate that
	// does not fit proves nothing then.
	CandidatesUnsettled bool
	Continues           bool // run: the same run as the last one of these devices, with more CBs
	Unsettled           bool // run: it may be several programs; that they do not fit as one says nothing
	Aborted             bool // run: its operation failed; it is judged and registered, not resident
	// Persistent, of a run: persistent pages lie at the bottom of L1 on its devices. Addresses of
	// CBs that are Synthesised are too low, also of candidates, and a buffer below a program may be
	// such a page.
	Persistent bool

	Trace uint64

	Buffer    fit.Buffer // allocate, free (ID, and Kind of an unknown one); its place is in Parts
	Parts     []Part
	Named     Opt[device.ID] // allocate, free: the one id that the source names; Devices has those on which it lies
	PerCore   Opt[uint64]    // allocate: bytes on the fullest core
	Address   Opt[uint64]    // allocate: as recorded or placed; also where there are no Parts
	Layout    string         // allocate: as the source spells it
	Tensor    []byte         // allocate: JSON about the tensor in it, which readers for people know; nil = none
	Unplaced  string         // allocate: why a buffer in L1 has no Parts
	CoresFrom Source         // allocate: FromAssumed if its cores are not known and taken to be all
	Earlier   bool           // allocate: it lived before the source began; free: an unknown one that hides nothing
	Corrects  bool           // allocate: it lives already on Devices; its place is known better now, or it is another Process that has it
	Unknown   bool           // free: no such buffer is known to live
	Leaked    bool           // unregister, free: Process has died, and had it until now
	Refused   bool           // enqueue, replay: the writer's fleet refused it, since it does not fit or may not; nothing changed
	Again     bool           // free: it was allocated and freed before; then Unknown is set too

	Code   string // hidden, anomaly
	Detail string
	Count  int64 // how often, at most 2^31-1, so that no source has counts whose sum wraps; Node is then the first

	Nodes    int64       // end: of the source
	Rank     Opt[uint64] // end: of the host process that wrote the capture
	Source   string      // header: "capture", "database"; "" for a log of its own
	Fleet    string      // header: the name of a fleet that logs share, where somebody serves several; "" = one of its own
	Upstream Upstream    // upstream

	Query Query // query; its arguments besides Devices, Parts, and Kind, Mode, Hidden and Unsized of Buffer
}

// A Query is the content of a query line. The answering side knows which fields it needs.
type Query struct {
	Name    string // "totals", "core", ...
	Device  Opt[device.ID]
	Program Opt[program.ID]
	Core    Opt[l1.Core]
	Address Opt[uint64]
	CB      Opt[uint64]
	Buffer  Opt[fit.BufferID]
	Size    Opt[uint64]     // of a buffer without an address: bytes on each core
	Cores   Opt[l1.CoreSet] // of one; absent: the whole grid
	Err     *InputError     // why it makes no sense; nil if it does
}

// A CB is a buffer of a program that is defined.
type CB struct {
	program.CB
	Synthesised bool // the source placed it: its address is not recorded
}

// AddTo appends cb to b. A log may give a circular buffer by a range that ends before it starts.
// Such a range is kept as a Size above 2^63-1, and appended as given: the error of Build shows it.
func (cb CB) AddTo(b *program.Builder) {
	if cb.Fixed && cb.Size > math.MaxInt64 {
		b.Range(cb.Cores, l1.Range{Start: cb.Address, End: cb.Address + cb.Size})
		return
	}
	b.CB(cb.CB)
}

// A RunDevice is a device on which a program ran, with its place in the source: the counters of its
// first and last node, and of its first and last node of a circular buffer (0 and 0 if it has
// none).
type RunDevice struct {
	Device          device.ID
	First, Last     uint64
	CBFirst, CBLast uint64
	CBOp            Opt[string] // functions that ran at CBFirst, where others ran at First
}

// A Part is a range of bytes of a buffer on some cores.
type Part struct {
	Cores       Opt[l1.CoreSet] // absent: the whole grid
	Range       l1.Range
	Synthesised bool // the source placed it: its address is not recorded
}

// A Role is the meaning of a device id in a source. The zero Role is a device that a log declares.
type Role string

// The roles.
const (
	RoleChip Role = "chip"
	RoleMesh Role = "mesh" // everything under its id counts once, not multiplied by its chips
	RoleNone Role = "none" // the source has no ids; it is device NoDevice
)

// NoDevice is the id of the device of a source that names none.
const NoDevice = device.ID(1 << 32)

// Origins holds the sources of the numbers of a Spec.
type Origins struct {
	Arch Source
	Base Source // of base and alignment
	// Small is the source of the size of L1_SMALL. FromFile: the size of a bank gives it.
	// FromAssumed: there is none.
	Small Source
	Grid  Source // FromAssumed: the largest of the architecture; nothing is refused because of it
}

// A Source is the origin of a number.
type Source string

// The sources, strongest first.
const (
	FromOption  Source = "option"  // the caller said so
	FromFile    Source = "file"    // the input says so
	FromArch    Source = "arch"    // the architecture's default
	FromAssumed Source = "assumed" // not stated; Blackhole is assumed
)

// Upstream has the figures of ttnn's own extract_resource_usage_per_core, bytes per
// core, as releases before September 2026 count them: sums without a floor that ignore
// cores and devices. A figure is absent where the file lacks the data.
type Upstream struct {
	PeakCB         Opt[uint64] `json:"peak_cb"`
	PeakL1         Opt[uint64] `json:"peak_l1"`
	PeakDataflow   Opt[uint64] `json:"peak_dataflow_buffer"`
	PeakScratchpad Opt[uint64] `json:"peak_scratchpad"`
	PeakTotal      Opt[uint64] `json:"peak_total"`
	// Wrapped: a free exceeded all allocations, and the sums ran below zero.
	Wrapped bool `json:"wrapped"`
	// PerCore: a later release, which counts per core, wrote the capture. Its own figures
	// differ from these.
	PerCore bool `json:"-"`
	// Causes are the amounts by which a figure misleads, with their reasons.
	Causes []UpstreamCause `json:"causes"`
}

// An UpstreamCause is a reason why a figure of ttnn's differs from the bytes that a core really
// held. Upstream is ttnn's figure, Exact ours for the same nodes.
type UpstreamCause struct {
	Code     CauseCode `json:"code"`
	Figure   string    `json:"figure"`         // its name, as "peak_cb"
	Upstream uint64    `json:"upstream_bytes"` // before this cause is taken out
	Exact    uint64    `json:"exact_bytes"`    // after
	Count    int       `json:"count"`          // devices or core sets that were added up, frees that were unknown
}

// A CauseCode names a kind of cause.
type CauseCode string

// The causes.
const (
	CauseCopies  CauseCode = "copies"  // the same CBs on several devices were added up
	CauseDevices CauseCode = "devices" // different CBs on several devices were added up
	CauseCores   CauseCode = "cores"   // CBs on different cores were added up as if on one
	CauseWrapped CauseCode = "wrapped" // frees of buffers from before the capture were subtracted, below zero
)

// Why a buffer in L1 has no Parts: the values of Event.Unplaced.
const (
	UnplacedEarlier = "before the capture"       // it was allocated before the source began
	UnplacedSize    = "size per core not known"  // the source gives its size in all banks alone
	UnplacedBeyond  = "beyond any L1"            // its address and size end above 2^32-1
	UnplacedHidden  = "address not recorded"     // it has no address, and others have
	UnplacedFull    = "no gap"                   // it has no address, and nowhere is room
	UnplacedSmall   = "L1_SMALL without a place" // it has no address, and the place of L1_SMALL is unknown
)

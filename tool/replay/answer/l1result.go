package answer

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/tensor"
)

// A DeviceL1 has the figures of the whole L1 of one device, buffers included.
//
// In L1 are the buffers that are allocated in the capture and not freed yet, and, per
// core and kind, what the last program run there has placed: a program stays until
// another one writes over it, on the cores it writes. A run counts from the moment it
// is enqueued: when its nodes are complete, that is at the first node of the device
// that is not part of it (an event of a buffer, a free of circular buffers, an
// execution), or at the end of the function that it began in. Runs that are inferred
// (see Hits) count here.
//
// A buffer of a mesh lies on the device with the mesh's id and on every chip of the
// mesh; one without an id on every device. A buffer from before the capture
// lies at the place that lists, tensors or frees give. It counts in bytes on cores, not in numbers of
// buffers. Without a place it is in Result.Earlier.
type DeviceL1 struct {
	ID    event.Opt[uint64] `json:"device"`
	Kind  DeviceKind        `json:"kind"`
	Chips []uint64          `json:"chips"` // of a mesh, ascending

	// NumCores is the number of cores on which interleaved buffers lie, and CoresFrom
	// says who says so: FromAssumed is the architecture's largest grid, or what the
	// capture shows beyond it. Sums over cores depend on it, figures per core do not.
	Cols      int          `json:"cols"` // the grid; 0x0 = not known
	Rows      int          `json:"rows"`
	NumCores  int          `json:"cores"`
	CoresFrom event.Source `json:"cores_from"`

	// Spec is the device's own, where it is another one than Result.Spec; see
	// [Result.SpecOf].
	Spec *Spec `json:"-"`

	// Hybrid reports whether the allocator was in HYBRID mode at the end.
	Hybrid bool `json:"-"`

	// Addresses says where the addresses of L1 buffers come from: those with address 0
	// are placed top-down below L1_SMALL.
	Addresses Addresses `json:"l1_addresses"`
	// Unplaced are allocations in L1 that lie nowhere, since their place or size per core
	// is not known (CodeBufferUnplaced), and L1_SMALL buffers without an address if the size of
	// that area is not known. They are counted in bytes only.
	Unplaced int64 `json:"l1_buffers_unplaced"`
	// Assumed are allocations of sharded buffers whose cores are not known: taken to lie on all.
	Assumed int64 `json:"l1_buffers_assumed"`

	// Each figure has its largest value, and its value after the last node.
	TotalPeak    uint64 `json:"tracked_peak_bytes"` // summed over cores, each byte once, without kernels
	TotalFinal   uint64 `json:"tracked_final_bytes"`
	L1Peak       uint64 `json:"l1_peak_bytes"` // whole sizes of buffers, as the next four
	L1Final      uint64 `json:"l1_final_bytes"`
	SmallPeak    uint64 `json:"l1_small_peak_bytes"`
	SmallFinal   uint64 `json:"l1_small_final_bytes"`
	DRAMPeak     uint64 `json:"dram_peak_bytes"`
	DRAMFinal    uint64 `json:"dram_final_bytes"`
	BuffersPeak  uint64 `json:"buffers_peak"` // live buffers of any kind
	BuffersFinal uint64 `json:"buffers_final"`
	Backings     int64  `json:"backing_allocations"` // whose bytes are those of others: see fit.Buffer

	Dispatched *Residue `json:"dispatched"` // nil if no program_execution names the device
	Peak       *L1Peak  `json:"core_peak"`  // of the fullest core; nil if nothing was ever there
	// Usable is the moment at which one core held most below L1_SMALL, in usable L1: the bytes of
	// percentages and budgets. nil if nothing was ever there.
	Usable *UsablePeak `json:"usable_peak"`

	// Groups are all cores that held something after the node of Options.GroupsAt, by first
	// core; nil without Options.GroupsAt, if nothing was there, or if the device came later.
	// LaidGroups has them also where Options.OnePeak leaves them out.
	Groups []LaidGroup `json:"-"`
	After  *Past       `json:"-" csv:"-"` // of LaidGroups; nil if the Groups are there

	// Needs are the sizes that its buffers need when it is opened.
	Needs Needs `json:"-"`

	// Scarce are the moments of Options.Scarce that came, each once, in their order.
	Scarce []FreeMoment `json:"-"`
}

// Residue is the circular buffers that dispatches left: on each core the buffers of the last program that was
// executed there. Only program_execution nodes show executions; each executes the last run of its chip, inferred
// runs included.
type Residue struct {
	Peak       uint64 `json:"peak_bytes"` // summed over cores
	Final      uint64 `json:"final_bytes"`
	CorePeak   uint64 `json:"core_peak_bytes"` // on the fullest core
	Executions int64  `json:"executions"`
	Unknown    int64  `json:"executions_unknown"` // on a chip without a known run: they change nothing
}

// An L1Peak is the moment at which one core held most, the first of equals.
type L1Peak struct {
	Bytes       uint64   `json:"tracked_bytes"`        // on the core, each byte once, without kernels
	Below       uint64   `json:"below_l1_small_bytes"` // of them, those in usable L1
	WithKernels uint64   `json:"with_kernels_bytes"`   // Bytes with all that lies below the base of circular buffers
	Percent     *float64 `json:"percent_of_l1"`        // of PeakDocument alone

	At    uint64      `json:"counter"`     // of the node that led to it; of a run, its last one
	T     json.Number `json:"t,omitempty"` // of that event of a log, the simulator's time as it was written; "" = none
	Op    Name        `json:"op"`          // functions that were running, outermost first, joined by " > "
	Core  l1.Core     `json:"core"`        // the first of the fullest
	Cores l1.CoreSet  `json:"cores"`       // that were as full
	Count int         `json:"count"`       // of Cores; of PeakDocument alone

	Kinds     map[fit.Kind]uint64 `json:"kinds"`                            // bytes by kind; only those with bytes
	Shared    []device.Sharing    `json:"shared"`                           // bytes that several kinds hold, named once in Kinds for each
	Residents []L1Resident        `json:"residents"`                        // of Core, by address
	More      int                 `json:"residents_more,omitempty" csv:"-"` // that Residents leaves out; in documents alone
	// Groups are all cores that held something at this moment, by first core; nil
	// without Options.Groups.
	Groups []LaidGroup `json:"-"`

	Largest l1.Range `json:"largest_gap"` // largest free run between the base of CBs and L1_SMALL in whole steps of L1 buffers, the highest of equals; empty if none
	Top     l1.Range `json:"highest_gap"` // highest such run

	Spike *Spike `json:"spike"` // set if the peak is one

	Later *Past `json:"-" csv:"-"` // of Composed; nil if the composition is there
}

// A UsablePeak is the moment at which one core held most below L1_SMALL, the first of equals.
type UsablePeak struct {
	Bytes   uint64      `json:"below_l1_small_bytes"` // on the core, each byte once, without kernels
	Tracked uint64      `json:"tracked_bytes"`        // the same with what lies in L1_SMALL
	At      uint64      `json:"counter"`              // as those of L1Peak
	T       json.Number `json:"t,omitempty"`
	Op      Name        `json:"op"`
	Core    l1.Core     `json:"core"`
	Cores   l1.CoreSet  `json:"cores"`
	Count   int         `json:"count"`
}

// A LaidGroup is a set of cores that held the same at one moment.
type LaidGroup struct {
	Cores     l1.CoreSet   `json:"cores"`
	Count     int          `json:"count"`                            // of Cores
	Bytes     uint64       `json:"tracked_bytes"`                    // on each core, each byte once, without kernels
	Below     uint64       `json:"below_l1_small_bytes"`             // of them, those in usable L1
	Residents []L1Resident `json:"residents"`                        // of each core, by address
	More      int          `json:"residents_more,omitempty" csv:"-"` // that Residents leaves out; in documents alone
}

// An L1Resident holds a range of a core.
type L1Resident struct {
	fit.ResidentRow

	// Of a circular buffer, dataflow buffer or scratchpad; absent otherwise. CB is the position among
	// the run's nodes of its kind: circular buffers, or the others together.
	CB      event.Opt[uint64] `json:"cb"`
	Program *ProgramRun       `json:"program"`

	Buffer *BufferInfo `json:"buffer"` // of a buffer; nil otherwise
}

// A ProgramRun names a run of CB nodes.
type ProgramRun struct {
	Row      int         `json:"-"` // in ProgramsDetail of the Device with the same id; -1 if it has none
	Op       Name        `json:"op"`
	At       uint64      `json:"counter"`     // of the run's first node; of the operation if it is inferred
	T        json.Number `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Inferred bool        `json:"inferred"`    // taken from an earlier run, since the program came from the cache
}

// BufferInfo is an allocation of a buffer.
type BufferInfo struct {
	Op      Name              `json:"op"`          // functions that were running
	At      uint64            `json:"counter"`     // of the node that allocated it
	T       json.Number       `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Device  event.Opt[uint64] `json:"device"`
	Kind    fit.Kind          `json:"kind"`
	Size    uint64            `json:"size_bytes"`     // of all banks
	PerCore event.Opt[uint64] `json:"core_max_bytes"` // on the fullest core
	Address event.Opt[uint64] `json:"address"`        // as recorded, or if the file has 0, as placed; absent if neither
	Layout  string            `json:"layout"`         // as the capture spells it
	Tensor  *tensor.Tensor    `json:"tensor" csv:"-"` // nil: nothing is known of it
}

// A Spike is a peak that a new buffer made because the one it replaces was still live.
// It is recognised when the allocation that made the peak is followed, before any
// further allocation in L1 or program run on the device, by the free of an older buffer of
// the same kind and whole size that lies on the core of the peak.
type Spike struct {
	New     BufferInfo  `json:"new"`
	Old     BufferInfo  `json:"old"`
	FreedAt uint64      `json:"freed_counter"`
	FreedT  json.Number `json:"freed_t,omitempty"` // of that event of a log; see L1Peak.T
	Without uint64      `json:"without_bytes"`     // tracked bytes of the core after the free
}

// Checks are the program runs of a capture, each checked when it is enqueued against
// the L1 buffers that live on its devices at that moment (device.Fleet.Check).
// Circular buffers of other programs are never in the way. The grid is checked where the
// source says it; one that is assumed refuses nothing.
type Checks struct {
	Runs     int64 `json:"runs"`          // checked; a run on several devices counts once for each
	Inferred int64 `json:"runs_inferred"` // of them
	Failed   int64 `json:"runs_failed"`   // runs that do not fit
	Endless  int64 `json:"-"`             // runs on a device whose size of L1 is not known
	// List has the distinct failures in their order: a run that fails again in the
	// same way only counts there. At most MaxListed, and no further ones once they name 65,536 buffers together.
	List []FailedCheck `json:"-"`
	More int64         `json:"-"` // distinct failures that List leaves out
	// Apart are ids with L1 buffers that no check covers: nothing runs under them,
	// nothing names their chip or mesh, and programs run under other ids. Some releases name
	// a chip in one kind of node and its mesh in another.
	Apart []uint64 `json:"-"`

	// Answer and Untold repeat the Judgement on no terms, in documents alone.
	Answer   Answer       `json:"answer"`
	Untold   []Code       `json:"untold"`
	Tightest *TightestRun `json:"tightest"` // nil if nothing fits that takes any bytes
}

// A FailedCheck is a run that does not fit.
type FailedCheck struct {
	Run     ProgramRun        `json:"program"`
	Enqueue uint64            `json:"counter"`     // of the node at which the run was complete
	T       json.Number       `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Device  event.Opt[uint64] `json:"device"`      // the first device
	Devices int               `json:"devices"`     // on which it was enqueued at this moment
	Times   int64             `json:"times"`       // how often it failed like this, on any device
	// Synthesised: an address that the failure depends on is not recorded.
	Synthesised bool `json:"synthesised"`

	// Verdict of tt-metal's checks and ours, with the devices of the capture;
	// without an id the device is NoDevice. Buffers explain its BufferIDs and Names.
	Verdict fit.Verdict                 `json:"-"`
	Buffers map[fit.BufferID]BufferInfo `json:"-"`
	Row     fit.VerdictRow[L1Resident]  `json:"verdict"` // the Verdict; of CheckDocument alone
}

// NoDevice stands in a Verdict for devices without an id.
const NoDevice = event.NoDevice

// CaptureID returns the id of a device as a capture has it: NoDevice is absent.
func CaptureID(id device.ID) event.Opt[uint64] {
	if id == NoDevice {
		return event.Opt[uint64]{}
	}
	return event.Some(uint64(id))
}

// A TightestRun is the run that fitted with the least room.
type TightestRun struct {
	Run      ProgramRun        `json:"program"`
	Enqueue  uint64            `json:"counter"`
	T        json.Number       `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Device   event.Opt[uint64] `json:"device"`
	Headroom fit.Headroom      `json:"-"`
	Row      HeadroomRow       `json:"headroom"` // the Headroom; of documents alone
	Grow     []CBRoom          `json:"may_grow"` // of its local buffers; empty if that is not known
}

// A CBRoom says by how much a buffer of a program may grow so that the program still
// fits (device.Fleet.MayGrow).
type CBRoom struct {
	Kind  fit.Kind `json:"kind"`
	CB    int      `json:"cb"` // position among the run's nodes of its kind; circular buffers, or the others together
	Bytes uint64   `json:"bytes"`
}

// Hits are operations that found their program in the program cache and therefore
// show no circular buffers: an operation that says so, or in older captures a free
// inside an operation that no such node follows. A hit is inferred to run what
// the last run with the same functions and the same text of arguments ran.
type Hits struct {
	Inferred int64 `json:"inferred"`
	Unknown  int64 `json:"unknown"` // nothing is known, or nothing was to be inferred
}

// LiveBuffers are the buffers that were allocated in the capture and not freed by its end,
// outputs of the last operations among them.
type LiveBuffers struct {
	Buffers int64        `json:"buffers"`
	L1      uint64       `json:"l1_bytes"` // whole sizes
	L1Small uint64       `json:"l1_small_bytes"`
	DRAM    uint64       `json:"dram_bytes"`
	List    []BufferInfo `json:"list"` // in L1 first, then the largest first; at most MaxListed
	More    int64        `json:"more"` // that List leaves out
}

// EarlierBuffers are buffers from before the capture that its operations use or free. The capture does not show their
// places beside the programs that ran. They are in no figure.
type EarlierBuffers struct {
	L1    int64  `json:"l1_buffers"` // that are used
	Other int64  `json:"other_buffers"`
	Bytes uint64 `json:"l1_bytes"` // whole sizes
	Freed int64  `json:"-"`        // buffers in L1 that are freed after a program ran beside them
}

// MaxListed is how many rows the lists of a Result have at most.
const MaxListed = 1000

// Undecided returns the codes of anomalies that leave open whether all programs fit. They hide programs or buffers,
// misplace some, or end a capture early.
func (r *Result) Undecided() []Code {
	var out []Code
	all := anomalyWords()
	for _, a := range r.Anomalies {
		switch {
		case a.Code == CodeNoCBs && slices.ContainsFunc(r.Devices, func(d Device) bool { return d.Dataflow.Nodes+d.Scratchpad.Nodes > 0 }):
			// Dataflow buffers and scratchpads are placed and checked like CBs.
		case a.Code == CodeNoCBs && r.Log && (r.Checks.Failed > 0 || r.Count(CodeRefused) > 0): // its programs were judged, and refused
		case a.Code == CodeBeyondL1 && r.Checks.Failed > 0: // which says it
		case a.Hidden || slices.ContainsFunc(all, func(w words) bool { return w.open && w.code == a.Code }):
			out = append(out, a.Code)
		}
	}
	return slices.Clip(out)
}

// hidden returns the codes of Undecided as reasons.
func (r *Result) hidden() (out []Reason) {
	for _, code := range r.Undecided() {
		out = append(out, r.Reason(code))
	}
	return out
}

// Untracked returns the reasons why a core may hold more than is tracked. Free bytes are then an upper bound.
func (r *Result) Untracked() []Reason {
	out := append(r.hidden(), r.Unseen()...)
	for _, a := range r.Anomalies {
		if a.Code == CodeBufferUnsized || !a.Hidden && a.Code == CodePerCoreHidden {
			out = append(out, r.Reason(a.Code)) // if it is hidden, Undecided has it
		}
	}
	return out
}

// A Scarcity is how little of the L1 of a device is free for buffers, as tt-metal's allocator sees
// it: a byte of usable L1 is free if no buffer lies there on any core, since in lockstep a buffer
// has one address on all of them. A buffer takes whole steps of fit.Alignment. Programs do not count.
type Scarcity struct {
	Free  uint64 // bytes of each core
	Block uint64 // the largest run of them
	// Bank is how many bytes a buffer may take of each core; 0 = not known. It counts where the
	// source does not give the size of L1_SMALL.
	Bank uint64
}

// A FreeMoment is the first moment at which no more and no less was free on a device, and some
// buffer lay in its usable L1.
type FreeMoment struct {
	Scarcity
	At uint64      // counter of the allocation or free that led to it
	T  json.Number // of that event of a log; see L1Peak.T
	Op Name        // functions that were running
	// Groups are all cores that held something then, by first core.
	Groups []LaidGroup
}

// Count counts operations that found their program in the program cache, if the event reports any.
func (h *Hits) Count(e *event.Event) {
	switch code := Code(e.Code); {
	case code == CodeInferred:
		h.Inferred += max(e.Count, 1)
	case e.Kind == event.KindHidden && (code == CodeCacheHit || code == CodeFreeWithoutCBs):
		h.Unknown += max(e.Count, 1)
	}
}

// Needs are the sizes that the buffers of a device need when it is opened.
type Needs struct {
	// Small is the lowest address at which an L1_SMALL buffer ever lay; 0 = none did. They are placed from the top, and
	// all above it is needed: holes count.
	Small Need
	// Kept are the bytes of one bank that all L1_SMALL buffers take together whose address is not recorded, in whole
	// steps of fit.Alignment. Cached programs keep them; a capture with NO_DISPATCH frees them.
	Kept Need
	// Lowest is the lowest address at which a buffer in usable L1 ever lay; 0 = none did.
	Lowest Need
	// Trace is the most bytes that trace buffers had together, in all banks.
	Trace Need
	// Stray is the first buffer in usable L1 that lies elsewhere than tt-metal's allocator puts it beside the buffers of
	// that moment. 0 = there is none, or Options.Strays is not set.
	Stray Need
}

// A Need is an address or bytes, and the buffer that led to it.
type Need struct {
	Value uint64
	At    uint64      // counter of its allocation
	T     json.Number // of that event of a log; see L1Peak.T
}

// SmallBank returns the bytes that L1_SMALL buffers needed of one bank on a device with a Spec, in whole steps of
// fit.Alignment, and the buffer that set them. all: they have no addresses, and all of them count together.
func (n Needs) SmallBank(spec l1.Spec) (bytes uint64, by Need, all bool) {
	if at := n.Small.Value; at > 0 && at < spec.L1Size {
		align := fit.Alignment(spec)
		bytes, by = (spec.L1Size-at+align-1)/align*align, n.Small
	}
	if n.Kept.Value > bytes {
		return n.Kept.Value, n.Kept, true
	}
	return bytes, by, false
}

// A Stale is a tensor in L1 that lay on the fullest core at its peak, and was not used any more.
type Stale struct {
	Buffer  BufferInfo        `json:"buffer"`
	Start   uint64            `json:"start"`
	Bytes   uint64            `json:"bytes"` // of the core
	LastUse uint64            `json:"last_use"`
	Freed   event.Opt[uint64] `json:"freed"` // absent: it was not freed
	// Lower is by how many bytes the peak would have been lower if the buffer alone had been freed at its last use. It is
	// absent if the buffer was not freed, and of all but the largest.
	Lower event.Opt[uint64] `json:"peak_lower_bytes"`
}

// Fullest returns the device with the highest peak, the first of equals; nil if nothing was in L1.
func (r *Result) Fullest() (best *DeviceL1) {
	for i := range r.L1 {
		if row := &r.L1[i]; row.Peak != nil && (best == nil || row.Peak.Bytes > best.Peak.Bytes) {
			best = row
		}
	}
	return best
}

// Stale reports whether a resident is a tensor whose last use is known, and ended before a node.
func (x L1Resident) Stale(at uint64) (s Stale, ok bool) {
	b := x.Buffer
	if b == nil || b.Tensor == nil || !b.Tensor.LastUse.OK || b.Tensor.LastUse.V >= at {
		return s, false
	}
	return Stale{*b, x.Start, x.Bytes, b.Tensor.LastUse.V, b.Tensor.Freed, event.Opt[uint64]{}}, true
}

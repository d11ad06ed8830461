package compare

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// A State relates something on the new side to its partner on the old side.
type State string

// The states. Grown and shrunk go by bytes. Something moved if it has as many bytes at another address, on other
// cores, or divided otherwise.
const (
	Same   State = "same"
	Moved  State = "moved"
	Grown  State = "grown"
	Shrunk State = "shrunk"
	New    State = "new"
	Gone   State = "gone"
)

// A Pair is a value of the old side and of the new one.
type Pair[T any] struct {
	Old T `json:"old"`
	New T `json:"new"`
}

// DiffSchema names the form of a Diff.
const DiffSchema = "cbl1.diff/1"

// A Diff is the differences between two sides, each of one Run or several.
type Diff struct {
	Schema   string     `json:"schema"`
	Equal    bool       `json:"equal"`    // nothing differs but names of files, and counters and times of nodes
	Sides    Pair[Side] `json:"sides"`    //
	Basis    Basis      `json:"basis"`    // what could be compared
	Growth   *Growth    `json:"growth"`   // nil without Terms.MaxGrowth
	Captures []Capture  `json:"captures"` // by rank
	Devices  []Device   `json:"devices"`  // by rank and id; equal ones once
}

// A Side is the old or the new one, all its runs together.
type Side struct {
	Files    int           `json:"files"`
	Answer   replay.Answer `json:"answer"` // the worst: what does not fit, then what cannot be told
	Runs     int64         `json:"runs"`   // that were checked
	Failed   int64         `json:"runs_failed"`
	Untold   []replay.Code `json:"untold"`   // why nobody can tell, each once, by name
	Accepted []replay.Code `json:"accepted"` // what would else be among them
	Peak     *Peak         `json:"peak"`     // of the fullest core of all; nil if nothing was ever there
	Tightest *Tightest     `json:"tightest"` // nil if nothing fits that takes bytes, or nobody says
}

// A Basis names the basis of a comparison.
type Basis struct {
	// Programs are compared buffer by buffer, by their sums, or not at all: then the figures of devices are compared
	// alone.
	Programs ProgramBasis `json:"programs"`
	// Rough: sequences of programs were too long and too different to be matched in the best
	// way. Everything said of them is true, but there may be a shorter way to say it.
	Rough bool `json:"rough"`
	// LeftMore: more buffers live at the end than one side lists. Only listed buffers are compared.
	LeftMore bool `json:"left_more"`
}

// A ProgramBasis is the basis on which programs are compared.
type ProgramBasis string

// The bases. A saved report has the sums of its programs alone, or none of its programs.
const (
	ByBuffers ProgramBasis = "buffers"
	BySums    ProgramBasis = "sums"
	ByFigures ProgramBasis = "figures"
)

// A Capture is one capture, log or report of each side that are compared with one another.
type Capture struct {
	Rank  event.Opt[uint64] `json:"rank"` // of the new one, or else of the old one
	Old   *File             `json:"old"`  // nil: the new one has no partner
	New   *File             `json:"new"`  //
	Chip  Pair[Chip]        `json:"chip"` // of a missing one that of the other
	Left  []Part            `json:"left"` // buffers that live at the end: those that differ, by bytes
	Equal bool              `json:"equal"`
}

// ChipFigures returns the numbers of both chips.
func (c Capture) ChipFigures() []Figure {
	old, new := c.Chip.Old, c.Chip.New
	return []Figure{
		{"cb_base", old.Base, new.Base}, {"cb_align", old.Align, new.Align},
		{"l1_size_bytes", old.L1Size, new.L1Size}, {"l1_small_bytes", old.L1Small, new.L1Small},
	}
}

// A File is where a Run comes from.
type File struct {
	Name  string `json:"file"`
	Nodes int64  `json:"nodes"`
	Log   bool   `json:"log"`   // nodes are events
	Saved bool   `json:"saved"` // it was read from a saved report
}

// A Chip is with what the figures of a side were reckoned.
type Chip struct {
	Arch      l1.Arch      `json:"arch"`
	ArchFrom  event.Source `json:"arch_from"`
	Base      uint64       `json:"cb_base"`
	BaseFrom  event.Source `json:"base_from"`
	Align     uint64       `json:"cb_align"`
	L1Size    uint64       `json:"l1_size_bytes"` // 0 = not known
	L1Small   uint64       `json:"l1_small_bytes"`
	SmallFrom event.Source `json:"l1_small_from"`
}

// A Grid is the cores of a device.
type Grid struct {
	Cols  int          `json:"cols"` // 0 = not known
	Rows  int          `json:"rows"`
	Cores int          `json:"cores"` // on which interleaved buffers lie
	From  event.Source `json:"cores_from"`
}

// A Peak is the moment at which a core held most: tracked bytes, each once, without kernels.
type Peak struct {
	Rank    event.Opt[uint64] `json:"rank"`
	Device  event.Opt[uint64] `json:"device"`
	Bytes   uint64            `json:"tracked_bytes"`
	Core    l1.Core           `json:"core"`
	Op      replay.Name       `json:"op"` // functions that were running
	Counter uint64            `json:"counter"`
}

// A Tightest is the program run that fitted with the least room.
type Tightest struct {
	Rank    event.Opt[uint64] `json:"rank"`
	Device  event.Opt[uint64] `json:"device"`
	Op      replay.Name       `json:"op"`
	Counter uint64            `json:"counter"`
	End     uint64            `json:"region_end"`
	Free    uint64            `json:"free_bytes"`
	Gap     uint64            `json:"largest_gap_bytes"`
}

// A Device is the differences of one device, or of several devices that differ alike.
type Device struct {
	State   State             `json:"state"` // by the bytes of its fullest core at its peak; New or Gone if one side has no such device
	IDs     []DeviceID        `json:"ids"`   // at least one
	Kind    replay.DeviceKind `json:"kind"`
	Grid    Pair[*Grid]       `json:"grid"`
	Figures []Figure          `json:"figures"` // all, in a fixed order
	Peak    Pair[*Peak]       `json:"peak"`
	AtPeak  []Part            `json:"at_peak"` // of what lay on the fullest core then: what differs, by bytes
	Groups  []Group           `json:"core_groups"`
	Laid    []LaidGroup       `json:"peak_groups"` // nil unless both sides have L1Peak.Groups
	Counts  map[State]int     `json:"program_states"`
	Changes []Program         `json:"programs"` // those that differ, by what they change on their fullest core
	Listed  bool              `json:"programs_listed"`
}

// A DeviceID is a device of one capture of each side.
type DeviceID struct {
	Capture int               `json:"capture"` // position in Diff.Captures
	Rank    event.Opt[uint64] `json:"rank"`
	Old     event.Opt[uint64] `json:"old"` // absent if it has no id, or there is none
	New     event.Opt[uint64] `json:"new"`
}

// A Figure is a figure of a device, under its name in the JSON report; 0 where the device is
// missing.
type Figure struct {
	Name string `json:"name"`
	Old  uint64 `json:"old"`
	New  uint64 `json:"new"`
}

// Change is by how much the figure grew.
func (f Figure) Change() int64 { return int64(f.New) - int64(f.Old) }

// A Part is a range on a core at a peak, or a buffer that lives at the end.
type Part struct {
	State State          `json:"state"`
	Kind  fit.Kind       `json:"kind"`
	Op    replay.Name    `json:"op"` // of the program that it belongs to, or that was running when it was allocated
	CB    event.Opt[int] `json:"cb"` // position in its program; absent if it belongs to none
	Times int            `json:"times"`
	Old   *Extent        `json:"old"` // of the first of them
	New   *Extent        `json:"new"`
}

// An Extent is a place and a size in L1.
type Extent struct {
	Start event.Opt[uint64] `json:"start"` // absent if not known
	Bytes uint64            `json:"bytes"`
}

// A Group is a set of cores that hold something else at the end than on the old side.
type Group struct {
	State      State        `json:"state"` // by registered bytes, else by those alive
	Cores      l1.CoreSet   `json:"cores"`
	Count      int          `json:"count"`
	Registered Pair[uint64] `json:"registered_bytes"`
	AlivePeak  Pair[uint64] `json:"core_peak_bytes"`
	End        Pair[uint64] `json:"end"` // of the highest registered region
}

// A LaidGroup is a set of cores that held more or less at the peak of their device than on the
// old side at its own peak.
type LaidGroup struct {
	Cores   l1.CoreSet   `json:"cores"`
	Count   int          `json:"count"`
	Tracked Pair[uint64] `json:"tracked_bytes"`
}

// A Program is a program that differs, or several that differ alike.
type Program struct {
	State State       `json:"state"`
	Op    replay.Name `json:"op"`
	Times int         `json:"times"`
	Old   *ProgramRow `json:"old"` // of the first of them; nil if it is new
	New   *ProgramRow `json:"new"`
	CBs   []CB        `json:"cbs"` // that differ, in their order; empty unless compared by buffers, and of what is new or gone
}

// Change is by how many bytes the program grew on its fullest core.
func (p Program) Change() int64 {
	return grown(p.Old, p.New, func(r *ProgramRow) uint64 { return r.Core })
}

// grown is by how many bytes a figure grew. What only one side has has 0 on the other.
func grown[T any](old, new *T, bytes func(*T) uint64) int64 {
	var was, is uint64
	if old != nil {
		was = bytes(old)
	}
	if new != nil {
		is = bytes(new)
	}
	return int64(is) - int64(was)
}

// A ProgramRow is the sums of a program.
type ProgramRow struct {
	Counter    uint64 `json:"first_counter"`
	LocalCBs   int    `json:"local_cbs"`
	GlobalCBs  int    `json:"global_cbs"`
	Cores      int    `json:"cores"`
	Logical    uint64 `json:"logical_bytes"`
	Bytes      uint64 `json:"resident_bytes"` // over all cores
	Core       uint64 `json:"core_max_bytes"`
	HighestEnd uint64 `json:"highest_end"`
}

// A CB is a buffer of a program that differs.
type CB struct {
	State  State    `json:"state"`
	Kind   fit.Kind `json:"kind"`
	Global bool     `json:"global"`
	Old    *CBRow   `json:"old"`
	New    *CBRow   `json:"new"`
}

// A CBRow is where a buffer of a program lies.
type CBRow struct {
	Number int               `json:"cb"` // position among the program's buffers of its kind, from 0
	Cores  l1.CoreSet        `json:"cores"`
	Start  event.Opt[uint64] `json:"start"` // absent if not known
	Bytes  uint64            `json:"bytes"` // on each core
}

// A Growth says whether the new side keeps to Terms.MaxGrowth.
type Growth struct {
	Text    string `json:"text"`
	Allowed uint64 `json:"allowed_bytes"`
	Bytes   int64  `json:"grown_bytes"` // of the peak of the fullest core
	Passed  bool   `json:"exceeded"`
	// Grower grew most on the core of the new peak; nil if nothing grew.
	Grower *Part `json:"grower"`
	// Program is the operation whose program grew most there or, if none did, of Grower.
	Program replay.Name `json:"program"`
}

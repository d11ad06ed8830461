package diff

import (
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A State relates a program, buffer, device or set of cores of the new side to its partner on the old side.
type State string

// The states. Grown and Shrunk go by bytes. Moved has as many bytes at another address, on other cores, or
// divided otherwise. New and Gone have no partner.
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

// Schema is the Schema of every Document: the name and version of its JSON.
const Schema = "cbl1.diff/1"

// A Document lists the differences between two sides, each of one Run or several. It is the JSON of cbl1 diff. All
// sizes and addresses are in bytes. Lists are never null, except Device.Laid.
type Document struct {
	Schema   string     `json:"schema"`
	Equal    bool       `json:"equal"`    // nothing differs but names of files, and counters and times of nodes
	Sides    Pair[Side] `json:"sides"`    //
	Basis    Precision  `json:"basis"`    //
	Growth   *Growth    `json:"growth"`   // nil without Terms.MaxGrowth
	Captures []Capture  `json:"captures"` // by rank, else in their order
	Devices  []Device   `json:"devices"`  // by rank and id; devices that differ alike share one
}

// A Side is the sum of all captures, logs and reports of the old or of the new side.
type Side struct {
	Files    int           `json:"files"`
	Answer   answer.Answer `json:"answer"`      // as of check without a budget; the worst of all files
	Runs     int64         `json:"runs"`        // program runs that were checked
	Failed   int64         `json:"runs_failed"` // program runs that do not fit
	Untold   []answer.Code `json:"untold"`      // reasons for doubt, each once, by name
	Accepted []answer.Code `json:"accepted"`    // reasons for doubt that Terms.Accept names
	Peak     *Peak         `json:"peak"`        // of the fullest core of all; nil if no core ever held a byte
	Tightest *TightestRun  `json:"tightest"`    // nil if no run that takes bytes fits, or a saved report names none
}

// TensorsOnly reports whether both sides are dumps of an allocator and hide nothing but programs. All that they can
// show is then compared.
func (d *Document) TensorsOnly() bool {
	alone := func(s Side) bool {
		return slices.Contains(s.Untold, answer.CodeTensorsOnly) && !slices.ContainsFunc(s.Untold, func(c answer.Code) bool {
			return c != answer.CodeTensorsOnly && c != answer.CodeNothingRan
		})
	}
	return alone(d.Sides.Old) && alone(d.Sides.New)
}

// A Precision says how exact a comparison is.
type Precision struct {
	// Programs is the best basis that all runs of both sides have.
	Programs ProgramBasis `json:"programs"`
	// Rough: sequences of programs were too long and too different to be matched in the best
	// way. Every listed difference is true, but a shorter list may exist.
	Rough bool `json:"rough"`
	// LeftMore: more buffers live at the end than one side lists, or more lay on a core at its peak than a saved
	// report lists. Only listed ones are compared.
	LeftMore bool `json:"left_more"`
}

// A ProgramBasis is the basis on which programs are compared.
type ProgramBasis string

// The bases, the best one first. A saved report has only the sums of its programs, or no programs.
const (
	ByBuffers ProgramBasis = "buffers" // each buffer of each program
	BySums    ProgramBasis = "sums"    // the sums in a ProgramRow
	ByFigures ProgramBasis = "figures" // programs are not compared, only figures of devices
)

// A Capture is a capture, log or report of the old side and its partner on the new side.
type Capture struct {
	Rank  event.Opt[uint64] `json:"rank"`  // of the new file; of the old one if the new one has none
	Old   *File             `json:"old"`   // nil if the new file has no partner
	New   *File             `json:"new"`   // nil if the old file has no partner
	Chip  Pair[Chip]        `json:"chip"`  // both are the same if a file is missing
	Left  []Resident        `json:"left"`  // buffers in L1 that live at the end and differ, the largest change first
	Equal bool              `json:"equal"` // the numbers of the chip and the buffers at the end are the same
}

// ChipFigures returns the numbers of both chips: base and alignment of CBs, size of L1 and of L1_SMALL, in bytes.
func (c Capture) ChipFigures() []Figure {
	old, new := c.Chip.Old, c.Chip.New
	return []Figure{
		{"cb_base", old.Base, new.Base}, {"cb_align", old.Align, new.Align},
		{"l1_size_bytes", old.L1Size, new.L1Size}, {"l1_small_bytes", old.L1Small, new.L1Small},
	}
}

// A File is the input of a Run.
type File struct {
	Name  string `json:"file"`
	Nodes int64  `json:"nodes"` // number of nodes, or of events of a log
	Log   bool   `json:"log"`   // an event log
	Saved bool   `json:"saved"` // a saved report
}

// A Chip has the assumptions about the chip, with the source of each.
type Chip struct {
	Arch      l1.Arch      `json:"arch"`
	ArchFrom  event.Source `json:"arch_from"`
	Base      uint64       `json:"cb_base"`
	BaseFrom  event.Source `json:"base_from"`
	Align     uint64       `json:"cb_align"`
	L1Size    uint64       `json:"l1_size_bytes"` // 0 if not known
	L1Small   uint64       `json:"l1_small_bytes"`
	SmallFrom event.Source `json:"l1_small_from"`
}

// A Grid is the compute grid of a device.
type Grid struct {
	Cols  int          `json:"cols"`  // 0 if not known
	Rows  int          `json:"rows"`  // 0 if not known
	Cores int          `json:"cores"` // cores that hold interleaved buffers
	From  event.Source `json:"cores_from"`
}

// A Peak is the moment at which a core held most tracked bytes: CBs of the program that ran last, and buffers. Each
// byte counts once.
type Peak struct {
	Rank    event.Opt[uint64] `json:"rank"`
	Device  event.Opt[uint64] `json:"device"`
	Bytes   uint64            `json:"tracked_bytes"`
	Core    l1.Core           `json:"core"`
	Op      answer.Name       `json:"op"`      // functions that were running
	Counter uint64            `json:"counter"` // node or event
}

// A TightestRun is the program run that fitted with the least room.
type TightestRun struct {
	Rank    event.Opt[uint64] `json:"rank"`
	Device  event.Opt[uint64] `json:"device"`
	Op      answer.Name       `json:"op"`
	Counter uint64            `json:"counter"`    // node or event
	End     uint64            `json:"region_end"` // address at which the CBs of the program end
	Free    uint64            `json:"free_bytes"`
	Gap     uint64            `json:"largest_gap_bytes"`
}

// A Device has the differences of one device, or of several devices that differ alike.
type Device struct {
	State   State             `json:"state"` // by the bytes at the peak; New or Gone if one side has no such device
	IDs     []DevicePair      `json:"ids"`   // at least one
	Kind    answer.DeviceKind `json:"kind"`
	Grid    Pair[*Grid]       `json:"grid"`            // nil on both sides if one lacks the device
	Figures []Figure          `json:"figures"`         // all, equal ones too, in a fixed order
	Peak    Pair[*Peak]       `json:"peak"`            // nil if the device never held a byte
	AtPeak  []Resident        `json:"at_peak"`         // on the fullest core: the largest change comes first
	Groups  []Group           `json:"core_groups"`     // the largest change comes first
	Laid    []LaidGroup       `json:"peak_groups"`     // nil unless both sides have L1Peak.Groups
	Counts  map[State]int     `json:"program_states"`  // number of programs by state, Same too
	Changes []Program         `json:"programs"`        // the largest change of Core comes first
	Listed  bool              `json:"programs_listed"` // false if Precision.Programs is ByFigures
}

// A DevicePair names a device of both sides. An id is absent if the device has none, or is on the other side alone.
type DevicePair struct {
	Capture int               `json:"capture"` // position in Document.Captures
	Rank    event.Opt[uint64] `json:"rank"`
	Old     event.Opt[uint64] `json:"old"`
	New     event.Opt[uint64] `json:"new"`
}

// A Figure is a number of a device or chip, under its name in the JSON of cbl1 report. It is 0 on a side without the
// device. Figures are in bytes, except the number of programs.
type Figure struct {
	Name string `json:"name"`
	Old  uint64 `json:"old"`
	New  uint64 `json:"new"`
}

// Change returns the growth of the figure; it is negative if the figure shrank.
func (f Figure) Change() int64 { return int64(f.New) - int64(f.Old) }

// A Resident is a range on a core at a peak that differs, or a buffer that lives at the end and differs. Residents
// with equal changes share one.
type Resident struct {
	State State          `json:"state"`
	Kind  fit.Kind       `json:"kind"`
	Op    answer.Name    `json:"op"`    // its program, or the functions that were running when it was allocated
	CB    event.Opt[int] `json:"cb"`    // position in its program, from 0; absent if it belongs to none
	Times int            `json:"times"` // number of residents with this change, at least 1
	Old   *Extent        `json:"old"`   // of the first one; nil if it is new
	New   *Extent        `json:"new"`   // of the first one; nil if it is gone
}

// An Extent is a place and a size in L1.
type Extent struct {
	Start event.Opt[uint64] `json:"start"` // address; absent if not known
	Bytes uint64            `json:"bytes"`
}

// A Group is a set of cores whose CBs differ in the same way: the CBs registered at the end, or the most CBs alive.
// Each core has these bytes.
type Group struct {
	State      State        `json:"state"` // by Registered; by AlivePeak if that is equal
	Cores      l1.CoreSet   `json:"cores"`
	Count      int          `json:"count"` // number of cores
	Registered Pair[uint64] `json:"registered_bytes"`
	AlivePeak  Pair[uint64] `json:"core_peak_bytes"`
	End        Pair[uint64] `json:"end"` // address at which the highest registered region ends
}

// A LaidGroup is a set of cores that held other bytes at the peak of the new device than at the peak of the old one.
type LaidGroup struct {
	Cores   l1.CoreSet   `json:"cores"`
	Count   int          `json:"count"` // number of cores
	Tracked Pair[uint64] `json:"tracked_bytes"`
}

// A Program is a program that differs, or several that differ alike.
type Program struct {
	State State       `json:"state"`
	Op    answer.Name `json:"op"`
	Times int         `json:"times"` // number of programs with this change, at least 1
	Old   *ProgramRow `json:"old"`   // of the first one; nil if it is new
	New   *ProgramRow `json:"new"`   // of the first one; nil if it is gone
	CBs   []CB        `json:"cbs"`   // buffers that differ, in their order; empty unless compared by buffers
}

// Change returns the bytes by which the program grew on its fullest core; it is negative if the program shrank. A
// missing program has 0 bytes.
func (p Program) Change() int64 {
	return grown(p.Old, p.New, func(r *ProgramRow) uint64 { return r.Core })
}

// grown returns the bytes by which a figure grew. A missing figure is 0.
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
	Counter    uint64 `json:"first_counter"` // node or event
	LocalCBs   int    `json:"local_cbs"`
	GlobalCBs  int    `json:"global_cbs"`
	Cores      int    `json:"cores"`
	Logical    uint64 `json:"logical_bytes"`  // over all cores and buffers; shared bytes count for each buffer
	Bytes      uint64 `json:"resident_bytes"` // over all cores, each byte of a core once
	Core       uint64 `json:"core_max_bytes"` // on its fullest core
	HighestEnd uint64 `json:"highest_end"`    // address
}

// A CB is a buffer of a program that differs.
type CB struct {
	State  State    `json:"state"`
	Kind   fit.Kind `json:"kind"`
	Global bool     `json:"global"`
	Old    *CBRow   `json:"old"` // nil if it is new
	New    *CBRow   `json:"new"` // nil if it is gone
}

// Change returns the bytes by which the buffer grew; it is negative if the buffer shrank. A missing buffer has 0
// bytes.
func (c CB) Change() int64 {
	return grown(c.Old, c.New, func(r *CBRow) uint64 { return r.Bytes })
}

// A CBRow is the place and size of a buffer of a program.
type CBRow struct {
	Number int               `json:"cb"` // position among the program's buffers of its kind, from 0
	Cores  l1.CoreSet        `json:"cores"`
	Start  event.Opt[uint64] `json:"start"` // address; absent if not known
	Bytes  uint64            `json:"bytes"` // on each core
}

// A Growth is the growth of the peak of the fullest core, judged by Terms.MaxGrowth.
type Growth struct {
	Text     string `json:"text"` // Terms.MaxGrowth as it was written
	Allowed  uint64 `json:"allowed_bytes"`
	Bytes    int64  `json:"grown_bytes"` // negative if the peak shrank
	Exceeded bool   `json:"exceeded"`    // it grew by more than Allowed
	// Grower is the resident that grew most on the core of the new peak; nil if the peak did not grow.
	Grower *Resident `json:"grower"`
	// Program is the operation whose program grew most there. If no program grew, it is the operation of Grower.
	Program answer.Name `json:"program"`
}

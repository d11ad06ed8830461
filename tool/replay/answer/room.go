package answer

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A RoomQuestion is a query for the largest size that one more L1 buffer could have had throughout.
type RoomQuestion struct {
	Cores l1.CoreSet // on which it lies; empty: on all of the grid
	Size  uint64     // bytes on each core of the buffer in question; 0: the query is for the largest alone

	// Tensor, if it has bytes, takes the place of Size and Cores. The Question of Rooms has its
	// bytes on each core as its Size, 0 where they are not known (CodeBanksUnknown).
	Tensor Tensor

	// Op, if it is no "", asks about the moments at which programs of such operations were enqueued: see Filter.HasOp.
	// At asks about the moment after a node, or after that line of a log. Both are answered by Rooms.Moment.
	Op Name
	At event.Opt[uint64]
}

// atMoment reports whether the question is about a moment.
func (q *RoomQuestion) atMoment() bool { return q.Op != "" || q.At.OK }

// RoomSchema names the form of a RoomDocument.
const RoomSchema = "cbl1.room/1"

// A RoomDocument is the answer of cbl1 room.
type RoomDocument struct {
	Origin
	Nodes    int64    `json:"nodes"`
	Answer   Answer   `json:"answer"`
	Untold   []Reason `json:"untold"`
	Accepted []Reason `json:"accepted"`
	Basis    Basis    `json:"basis"`
	Runs     int64    `json:"runs"`
	Rooms
}

// Rooms answer a RoomQuestion: one address range, above the circular buffers of every program
// that was checked, free of every buffer that lived at any time, while nothing else moves.
type Rooms struct {
	Question RoomQuestion          `json:"-"`
	Sharded  event.Opt[l1.CoreSet] `json:"sharded"`    // the cores of the question; absent: all of the grid
	Size     event.Opt[uint64]     `json:"size_bytes"` // of the question, on each core
	// Mode is the mode of the buffer in question: in lockstep it has one address, which is free on all cores of all
	// devices. Per core, if it lies on some cores of devices in HYBRID mode, each core has an address of its own: the
	// least room counts, and the size has a place if each core has one.
	Mode    fit.Mode     `json:"mode"`
	All     *Room        `json:"room"`    // on all devices; nil if there is none
	Moment  *MomentRoom  `json:"moment"`  // of a question about one; nil if no program of Op ran
	Devices []DeviceRoom `json:"devices"` // by id, the one without an id first

	// Tight are the program runs beside which, at their moment alone, a buffer of the size
	// had no place; at most MaxListed. The question needs a size.
	Tight     []TightRun `json:"too_tight"`
	TightMore int64      `json:"too_tight_more"` // that the list leaves out

	Candidates bool `json:"-"` // an operation ran one of several programs: one of those that were taken in may never have run
	Unsettled  bool `json:"-"` // a run was taken in that may be several programs
	Small      bool `json:"-"` // on a smaller chip, which it may be, the size has no place
	Banks      bool `json:"-"` // the cores over which the tensor lies are not known, or devices differ in them
}

// A Room is where one more L1 buffer could have been on some cores, and who first took the bytes
// below and above. Below is nil: the room begins at the base of circular buffers. Above is nil: it
// ends where usable L1 does.
type Room struct {
	Cores l1.CoreSet `json:"cores"`
	Count int        `json:"count"` // of Cores
	Gap
	Place event.Opt[uint64] `json:"fits_at"` // start of a buffer of the size in question
	Below *RoomLimit        `json:"below"`
	Above *RoomLimit        `json:"above"`
}

// A Gap is a run of free bytes. An empty one has no ends.
type Gap struct {
	Bytes uint64            `json:"bytes"`
	Start event.Opt[uint64] `json:"start"`
	End   event.Opt[uint64] `json:"end"`
}

// NewGap returns a run of free bytes.
func NewGap(free l1.Range) Gap {
	return Gap{free.Len(), Known(free.Len(), free.Start), Known(free.Len(), free.End)}
}

// Range returns the bytes of the gap.
func (g Gap) Range() l1.Range { return l1.Range{Start: g.Start.V, End: g.End.V} }

// A RoomLimit is the program or buffer that first took a byte.
type RoomLimit struct {
	Program *ProgramRun       `json:"program"`
	Enqueue event.Opt[uint64] `json:"counter"`     // the node at which the program was enqueued
	T       json.Number       `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Buffer  *BufferInfo       `json:"buffer"`
}

// A DeviceRoom is the room on one device.
type DeviceRoom struct {
	Device  event.Opt[uint64] `json:"device"`
	Kind    DeviceKind        `json:"kind"`
	Chips   []uint64          `json:"chips"` // of a mesh, ascending
	Room    Room              `json:"room"`
	Mode    fit.Mode          `json:"mode"`   // of a buffer on some cores alone: per core in HYBRID mode, else lockstep
	Groups  []Room            `json:"groups"` // on each core alone: cores with the same room and place together, by first core
	Outside l1.CoreSet        `json:"-"`      // cores of the question that are not on its grid
}

// A MomentRoom is the room at a moment alone: beside the buffers that lived then, above the circular buffers of the
// programs that were enqueued then, or last. A moment of RoomQuestion.At is about all devices, one of Op about those that
// ran the program. Of several moments it is the least room, the first of equals.
type MomentRoom struct {
	Counter uint64      `json:"counter"`     // of the node
	T       json.Number `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Run     *ProgramRun `json:"program"`     // the last of those programs, the first of equals; nil if none had run
	Runs    int64       `json:"runs"`        // program runs that the question is about
	Room    Room        `json:"room"`
	// PerCore is the largest buffer on each of the cores of the question, if it is in lockstep and were allocated
	// per core, in HYBRID mode.
	PerCore event.Opt[uint64] `json:"per_core_bytes"`
}

// A TightRun is a program run beside which a buffer of the size had no place.
type TightRun struct {
	Run     ProgramRun        `json:"program"`
	Enqueue uint64            `json:"counter"`
	T       json.Number       `json:"t,omitempty"` // of that event of a log; see L1Peak.T
	Device  event.Opt[uint64] `json:"device"`
	Devices int               `json:"devices"` // on which it was enqueued at this moment
	Times   int64             `json:"times"`
	Gap                       // the largest room at that moment
}

// Room says whether a buffer of the size of Options.Room could have been there
// throughout; without a size it fits. Accepted codes are taken as seen, as by Judge. Options.Room has to
// be there.
//
// Hidden buffers and programs only take more: a size without a place does not fit, in spite of them.
// Some that count may not be in the way: a buffer without a known end, a program that may be another
// one. They leave the answer open.
func (r *Result) Room(accept []Code) RoomDocument {
	head, j := r.Head(RoomSchema), r.judgeRoom(accept)
	return RoomDocument{head.Origin, head.Nodes, j.Answer, List(j.Untold), List(j.Accepted), r.Basis(r.Spec), r.Checks.Runs, *r.Rooms}
}

// fit reports whether the size of the question, if it has one, has a place: at its moment, if it has one too.
func (r *Rooms) fit() bool {
	room := r.All
	if r.Question.atMoment() {
		if room = nil; r.Moment != nil {
			room = &r.Moment.Room
		}
	}
	return !r.Size.OK || room == nil || room.Place.OK
}

func (r *Result) judgeRoom(accept []Code) Judgement {
	j := Judgement{Answer: Fits, Terms: Terms{Accept: accept}}
	for _, why := range r.reasons(true) {
		j.add(why)
	}
	fits := r.Rooms.fit()
	also := func(code Code) {
		if why := r.Reason(code); !slices.Contains(j.Untold, why) && !slices.Contains(j.Accepted, why) {
			j.add(why)
		}
	}
	if fits && r.Rooms.Small {
		also(CodeChipAssumed)
	}
	if !fits && r.Rooms.Candidates {
		also(CodeAmbiguous)
	}
	if !fits && r.Rooms.Unsettled {
		also(CodeUnsettled)
	}
	if q := r.Rooms.Question; q.atMoment() && r.Rooms.Moment == nil {
		j.Untold = append(j.Untold, r.Reason(CodeNoCBs)) // at that moment
	}
	if r.Rooms.Banks {
		j.Untold = append(j.Untold, r.Reason(CodeBanksUnknown)) // also if it is accepted: nothing is left to judge
	}
	unsure := slices.ContainsFunc(j.Untold, func(why Reason) bool {
		switch why.Code {
		case CodeAmbiguous, CodeUnsettled, CodeBufferUnsized, CodePerCoreHidden:
			return true
		}
		return false
	})
	switch {
	case !fits && !unsure:
		j.Answer = DoesNotFit
	case len(j.Untold) > 0:
		j.Answer = CannotTell
	case !fits:
		j.Answer = DoesNotFit
	}
	return j
}

// TilePage is the size of a page that is assumed where a Tensor names none: a tile of 32 x 32
// numbers of the type bfloat16.
const TilePage = 2048

// A Tensor is one in L1 that is interleaved: its pages go to the banks in turn, and each core of
// the grid has one bank.
type Tensor struct {
	Bytes uint64 // of all pages; 0: there is no tensor
	Page  uint64 // bytes of a page; 0: TilePage
}

// PageSize returns the bytes of a page.
func (t Tensor) PageSize() uint64 {
	if t.Page == 0 {
		return TilePage
	}
	return t.Page
}

// Pages returns the number of pages.
func (t Tensor) Pages() uint64 { return divideUp(t.Bytes, t.PageSize()) }

// Check refuses a size that is not a whole number of pages: tt-metal allocates no such tensor.
func (t Tensor) Check() error {
	if t.Bytes%t.PageSize() == 0 {
		return nil
	}
	return fmt.Errorf("%s bytes are not a whole number of pages of %s bytes", l1.Bytes(t.Bytes).Exact(), l1.Bytes(t.PageSize()).Exact())
}

// PerCore returns the bytes on the core with the most pages, on a grid of some cores: each page
// takes a multiple of align. It is at most l1.MaxAddr, which is more than any L1 has.
func (t Tensor) PerCore(cores int, align uint64) uint64 {
	if cores <= 0 {
		return 0
	}
	pages, page := divideUp(t.Pages(), uint64(cores)), divideUp(t.PageSize(), max(align, 1))
	if pages > 0 && page > l1.MaxAddr/max(align, 1)/pages {
		return l1.MaxAddr
	}
	return pages * page * max(align, 1)
}

func divideUp(n, by uint64) uint64 {
	if n%by == 0 {
		return n / by
	}
	return n/by + 1
}

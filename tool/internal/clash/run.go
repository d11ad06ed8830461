package clash

import (
	"encoding/json"

	"github.com/cbl1/cbl1/l1"
)

// A ProgramRun is a program that was enqueued while a capture was taken, as far as a message
// can be about it.
type ProgramRun struct {
	Capture  string      `json:"capture,omitempty"`  // the file
	Log      bool        `json:"-"`                  // the capture is an event log: it has events, not nodes
	Event    uint64      `json:"counter"`            // where in the capture: the node or event at which it began
	T        json.Number `json:"t,omitempty"`        // of that event of a log
	Op       string      `json:"op,omitempty"`       // functions that ran, outermost first
	Device   string      `json:"device,omitempty"`   // "device 3" or "8 devices"; "" if the capture does not say
	Inferred bool        `json:"inferred,omitempty"` // from the program cache: known by its earlier run
	OneOf    int         `json:"one_of,omitempty"`   // it is one of so many that may have run; 0: it ran

	// Base is where the buffers of the program start. Synthesised says that the capture
	// has no addresses of them: Ends then hold for this base, and tt-metal's may differ.
	Synthesised bool   `json:"synthesised,omitempty"`
	Base        uint64 `json:"base"`

	On      Device  `json:"-"` // the first device
	Times   int64   `json:"-"` // how often it was like this; 0 counts as 1
	What    string  `json:"-"` // Circular or Dataflow
	Entries []Entry `json:"-"`
	CBs     []CB    `json:"-"`
}

// An Entry is a core range that tt-metal validates, and where its region ends.
type Entry struct {
	Cores l1.CoreRange
	End   uint64
}

// A CB is a buffer of a Run.
type CB struct {
	Number int // its place in the program, from 0
	Cores  l1.CoreRangeSet
	Range  l1.Range // of each core; empty for one that lies in a tensor
}

// A LowestBuffer is a buffer in L1 that lay lowest when a program was enqueued.
type LowestBuffer struct {
	Address     uint64      `json:"address"`
	PerCore     uint64      `json:"per_core,omitempty"`    // bytes on the fullest core; 0 = not known
	Event       uint64      `json:"counter"`               // that allocated it
	T           json.Number `json:"t,omitempty"`           // of that event of a log
	Op          string      `json:"op"`                    // functions that ran then
	Layout      string      `json:"layout,omitempty"`      // as the capture spells it
	Synthesised bool        `json:"synthesised,omitempty"` // the capture does not have its address
	Cores       int         `json:"-"`                     // it lies on so many at least; 0 = not known
}

// A Level says how well a run of a capture agrees with a message.
type Level string

// The levels, best first.
const (
	MatchExact  Level = "exact"  // core range and region end, and for a clash the lowest address
	MatchLowest Level = "lowest" // core range and region end; the lowest address is another one
	MatchSize   Level = "size"   // core range and size of the region, whose addresses the capture does not have
	MatchNone   Level = "none"   // no run agrees
)

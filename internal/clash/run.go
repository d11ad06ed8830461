package clash

import "github.com/cbl1/cbl1/l1"

// A Run is a program that was enqueued while a capture was taken, as far as a message
// can be about it.
type Run struct {
	Capture  string // the file
	Log      bool   // the capture is an event log: it has events, not nodes
	Event    uint64 // where in the capture: the node or event at which it began
	T        string // of that event the time, a number as it was written; "" = none
	Op       string // functions that ran, outermost first
	Device   string // "device 3" or "8 devices"; "" if the capture does not say
	Times    int64  // how often it was like this; 0 counts as 1
	Inferred bool   // it came from the program cache: what is known of it is its earlier run
	OneOf    int    // it is one of so many that may have run; 0: it ran

	What    string // Circular or Dataflow
	Entries []Entry
	CBs     []CB

	// Base is where the buffers of the program start. Synthesised says that the capture
	// has no addresses of them: Ends then hold for this base, and tt-metal's may differ.
	Base        uint64
	Synthesised bool
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

// A Tensor is a buffer in L1 that lay lowest when a program was enqueued.
type Tensor struct {
	Address     uint64
	PerCore     uint64 // bytes on the fullest core; 0 = not known
	Event       uint64 // that allocated it
	T           string // of that event; see Run.T
	Op          string // functions that ran then
	Layout      string // as the capture spells it
	Synthesised bool   // the capture does not have its address
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

package answer

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// An EnqueuedProgram is a program that was enqueued, with the lowest buffers beside it. Runs are the same if they are of
// one operation, place the same, and have the same lowest address beside them. Everything said of them is said of
// the first.
type EnqueuedProgram struct {
	Run     ProgramRun
	Device  event.Opt[uint64] // the first device
	Devices int               // on which it was enqueued then
	Times   int64             // how often it was enqueued like this, the first time included

	// OneOf is how many workloads may have run instead of this one, itself included; 0 if it is
	// known what ran. The programs of all of them are listed: one of the workloads ran. Of
	// more than 64 some are not.
	OneOf int

	// Programs have its buffers: circular buffers as one program, dataflow buffers and scratchpads as another,
	// where it has any. Synthesised: some have no address in the source and were placed.
	Programs    []*program.Program
	Synthesised bool

	// Lowest are the L1 buffers that lay lowest on the device, all at one address: what
	// tt-metal compares the region of the run with. LowestSynthesised: one of them has no
	// address in the source and was placed. LowestCores: the one on the fewest cores lies on so many.
	Lowest            []BufferInfo
	LowestSynthesised bool
	LowestCores       int
}

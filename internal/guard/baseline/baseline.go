// Package baseline has the contenders that the engine is measured beside: the ways in which a
// careful engineer would count covered bytes at first. They are right, and slow in the cases that
// the engine is built for.
//
//	NewPerCore      a BoundaryCount (google/btree) for each core of each device
//	NewSortedSlice  a SortedCount (a sorted slice) for each core of each device
//	NewShared       a BoundaryCount for each distinct core of each distinct device
//
// They get the same input as the engine: programs whose footprints are grouped and merged already.
// No product code imports this package.
package baseline

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Contender counts the bytes that programs cover on numbered devices. Histories are legal:
// nothing is registered twice on a device, or unregistered where it is not.
type Contender interface {
	Register(p *program.Program, devices []int)
	Unregister(p *program.Program, devices []int)
	Total(device int) uint64 // the Measure, summed over the cores
}

// A Follower is a Contender that follows dispatches and buffers. Only registered programs are
// dispatched, no buffer is allocated twice or freed without an allocation, and no program is
// unregistered.
type Follower interface {
	Contender
	Dispatch(p *program.Program, devices []int)
	// Enqueue registers p where it is new and dispatches it. Where it does not fit
	// below the buffers it does nothing, on any device.
	Enqueue(p *program.Program, devices []int)
	Allocate(b *fit.Buffer, devices []int)
	Free(b *fit.Buffer, devices []int)
}

// A Measure selects the bytes that a Contender counts.
type Measure uint8

// The measures.
const (
	Registered Measure = iota // bytes that registered programs occupy
	Reserved                  // the same, and the bytes that they reserve: the sum of both
	Tracked                   // bytes of the last dispatch of each core and of buffers, for a Follower
)

// NewPerCore returns a Contender for numbered devices of one Spec.
func NewPerCore(spec l1.Spec, devices int, m Measure) Contender {
	return newContender[BoundaryCount](spec, devices, m)
}

// NewSortedSlice returns a Contender for numbered devices of one Spec.
func NewSortedSlice(spec l1.Spec, devices int, m Measure) Contender {
	return newContender[SortedCount](spec, devices, m)
}

func newContender[C any, P counter[C]](spec l1.Spec, devices int, m Measure) Contender {
	if m == Tracked {
		return newTracked[C, P](spec, devices)
	}
	return newPerCore[C, P](spec, devices, m)
}

// footprints returns the footprints of p that m counts. The other one is empty.
func (m Measure) footprints(p *program.Program) (out [2]program.Footprint) {
	out[0] = p.Occupied(program.CircularBuffer)
	if m == Reserved {
		out[1] = p.Reserved(program.CircularBuffer)
	}
	return out
}

// A counter counts the ranges of one core.
type counter[C any] interface {
	*C
	// Shift adds d, +1 or -1, to the count of every byte of a range that is not empty. It returns
	// the number of bytes whose count became, or ceased to be, 0. It panics if a byte is
	// not covered that -1 takes back, and is of no use then.
	Shift(r l1.Range, d int) (moved uint64)
}

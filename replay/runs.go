package replay

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
)

// An Enqueued is a program that was enqueued, beside what lay lowest then. Runs are the same
// if they are of one operation, place the same, and have the same lowest address beside
// them. Everything said of them is said of the first.
type Enqueued struct {
	Run     ProgramRun
	Device  event.Opt[uint64] // the first device
	Devices int               // on which it was enqueued then
	Times   int64             // how often it was enqueued like this, the first time included

	// Programs are what it places: circular buffers as one program, dataflow buffers and
	// scratchpads as another, where it has any. Synthesised: some have no address in the
	// source and were placed.
	Programs    []*program.Program
	Synthesised bool

	// Lowest are the L1 buffers that lay lowest on the device, all at one address: what
	// tt-metal compares the region of the run with. LowestSynthesised: one of them has no
	// address in the source and was placed.
	Lowest            []BufferInfo
	LowestSynthesised bool
}

// maxRuns is how many distinct runs a Result lists at most.
const maxRuns = 1 << 16

// runs are the places of runs in a Result.
type runs map[runKey]int

// A runKey is what tells one run from another.
type runKey struct {
	op      string
	content *content
	lowest  uint64
	any     bool // something lay in L1
}

// listRun lists a run, or counts it where the same is listed already.
func (r *replay) listRun(group []launch) {
	first := group[0]
	lowest, synthesised := first.on.lowest()
	key := runKey{op: first.run.Op, content: first.content, any: len(lowest) > 0}
	if key.any {
		key.lowest = lowest[0].Address.V
	}
	if i, ok := r.runs[key]; ok {
		r.result.Runs[i].Times++
		return
	}
	if len(r.runs) == maxRuns {
		r.result.RunsMore++
		return
	}
	if r.runs == nil {
		r.runs = runs{}
	}
	r.runs[key] = len(r.result.Runs)
	r.result.Runs = append(r.result.Runs, Enqueued{
		Run: first.run, Device: first.on.id, Devices: int(devices(group)), Times: 1, Programs: first.content.programs,
		Synthesised: first.content.resolved, Lowest: lowest, LowestSynthesised: synthesised,
	})
}

// lowest returns the L1 buffers that lie lowest on a device. Cost: O(live buffers).
func (d *row) lowest() (lowest []BufferInfo, synthesised bool) {
	var found []*buffer
	for _, b := range d.live {
		if b.span.IsEmpty() || b.info.Kind != device.KindL1 && b.info.Kind != device.KindGlobalCB {
			continue
		}
		if len(found) > 0 && b.span.Start < found[0].span.Start {
			found = found[:0]
		}
		if len(found) == 0 || b.span.Start == found[0].span.Start {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *buffer) int { return int(a.id) - int(b.id) })
	for _, b := range found {
		lowest = append(lowest, b.info)
		synthesised = synthesised || b.synthesised
	}
	return lowest, synthesised
}

package capture

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
)

// An Enqueued is a program run at the moment when it is enqueued, on devices on which
// the same buffers live. It is valid during the call that it is given to.
type Enqueued struct {
	File    string
	Run     ProgramRun
	At      uint64      // counter of the node at which the run was complete
	Device  Opt[uint64] // the first device
	Devices int         // on which it is enqueued
	// Synthesised: buffers of the run have no address in the capture and are placed.
	Synthesised bool

	group launch
	p     *replayer
}

// Programs returns what the run places: its circular buffers as one program, its
// dataflow buffers and scratchpads as another, where it has any.
func (e Enqueued) Programs() iter.Seq[*program.Program] {
	return slices.Values(e.group.layout.programs())
}

// Lowest returns the L1 buffers that lie lowest on the device, all at one address: what
// tt-metal compares the region of the run with. There may be none. synthesised says
// that one of them has no address in the capture and was placed. Cost: O(live buffers).
func (e Enqueued) Lowest() (lowest []BufferInfo, synthesised bool) {
	var found []*liveBuffer
	for _, b := range e.p.memory.live {
		if b.r.IsEmpty() || b.info.Kind != device.KindL1 && b.info.Kind != device.KindGlobalCB || !slices.Contains(b.on, e.group.on) {
			continue
		}
		if len(found) > 0 && b.r.Start < found[0].r.Start {
			found = found[:0]
		}
		if len(found) == 0 || b.r.Start == found[0].r.Start {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *liveBuffer) int { return cmp.Compare(a.id, b.id) })
	for _, b := range found {
		lowest = append(lowest, b.info)
		synthesised = synthesised || b.key.address == 0
	}
	return lowest, synthesised
}

// tell gives runs that are enqueued at one moment to whoever wants to know.
func (p *replayer) tell(group []launch, at uint64) {
	if p.enqueued == nil {
		return
	}
	first := group[0]
	p.enqueued(Enqueued{
		File: p.file, Run: first.run, At: at, Device: first.on.id, Devices: len(group), Synthesised: first.layout.placed,
		group: first, p: p,
	})
}

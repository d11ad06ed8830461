package main

import (
	"fmt"

	"github.com/cbl1/cbl1/clash"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/replay"
)

// compare looks for the programs of captures that messages are about. If one of them
// cannot be read it says so and goes on with the others; the error is errUnreadable.
// Of captures that cannot be read at all there is nothing to say.
func (in *inputs) compare(found clash.Found, with string) ([]clash.Match, error) {
	given := in.on.spec()
	all := clash.Compare(found, given)
	in.replay.Runs = true
	read := false
	err := in.each([]string{with}, func(r *replay.Result) error {
		read = true
		one := clash.Compare(found, given)
		for _, run := range r.Runs {
			addRuns(one, r, run)
		}
		all.Merge(one)
		return nil
	})
	if !read {
		return nil, err
	}
	return all.Matches(), err
}

// addRuns compares what was enqueued, by the two kinds that messages tell apart.
func addRuns(c *clash.Comparison, r *replay.Result, e replay.Enqueued) {
	lowest := func() (out []clash.Tensor) {
		for _, b := range e.Lowest {
			out = append(out, clash.Tensor{
				Address: b.Address.V, PerCore: b.PerCore.V, Event: b.At, T: b.T, Op: b.Op, Layout: b.Layout, Synthesised: e.LowestSynthesised,
			})
		}
		return out
	}
	device := ""
	if e.Device.OK {
		device = fmt.Sprintf("device %d", e.Device.V)
	}
	if e.Devices > 1 {
		device = fmt.Sprintf("%d devices", e.Devices)
	}
	for _, p := range e.Programs {
		for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
			run := clash.Run{
				Capture: r.File, Log: r.Log, Event: e.Run.At, T: e.Run.T, Op: e.Run.Op, Device: device, Times: e.Times, Inferred: e.Run.Inferred, OneOf: e.OneOf,
				What: clash.Circular, Base: p.Spec().CBBase, Synthesised: e.Synthesised,
			}
			entries := p.Entries(kind)
			if kind == program.DataflowBuffer {
				run.What = clash.Dataflow
				if p.Occupied(kind).NumGroups() == 0 {
					entries = p.Entries(program.Scratchpad) // which share the bookkeeping
				}
			}
			for entry := range entries {
				run.Entries = append(run.Entries, clash.Entry{Cores: entry.Cores, End: entry.End})
			}
			for i, cb := range p.CBs() {
				if (cb.Kind == program.CircularBuffer) != (kind == program.CircularBuffer) {
					continue
				}
				known := clash.CB{Number: i, Cores: cb.Cores}
				if !cb.Global {
					known.Range = cb.Range
				}
				run.CBs = append(run.CBs, known)
			}
			c.Add(run, lowest)
		}
	}
}

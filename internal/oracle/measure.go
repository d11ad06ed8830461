package oracle

import "slices"

// run holds the buffers that one device got between two frees that reach it.
type run struct {
	circular, dataflow, pads []*buffer
	entries                  []*entry // tt-metal's bookkeeping for the CBs
}

// measure computes the figures of one device.
func measure(name string, events []event, layout Layout, tally *addressTally, g *grid) (*Device, error) {
	runs := splitRuns(name, events)
	for _, r := range runs {
		tally.note(r.circular)
		r.entries = newEntries(r.circular)
		placed := place(r.circular, r.entries, layout)

		// Dataflow buffers and scratchpads share a list of entries of their own, which starts at the base again.
		shared := newEntries(r.dataflow, r.pads)
		placed = place(r.dataflow, shared, layout) || placed
		placed = placeScratchpads(r.pads, shared, layout) || placed
		tally.ruleUsed = tally.ruleUsed || placed
	}

	d := &Device{ProgramsDetail: []Program{}}
	if err := d.overTime(name, events); err != nil {
		return nil, err
	}
	if err := d.registered(runs, g); err != nil {
		return nil, err
	}
	for _, r := range runs {
		if len(r.circular) == 0 {
			continue
		}
		p, err := detail(r.circular)
		if err != nil {
			return nil, err
		}
		d.ProgramsDetail = append(d.ProgramsDetail, p)
	}
	d.Programs = len(d.ProgramsDetail)
	return d, nil
}

func splitRuns(name string, events []event) []*run {
	var runs []*run
	current := &run{}
	for _, e := range events {
		if e.endsRun(name) {
			runs = append(runs, current)
			current = &run{}
		}
		if e.buffer == nil || e.device != name {
			continue
		}
		switch e.buffer.kind {
		case circular:
			current.circular = append(current.circular, e.buffer)
		case dataflowBuffer:
			current.dataflow = append(current.dataflow, e.buffer)
		case scratchpad:
			current.pads = append(current.pads, e.buffer)
		}
	}
	return append(runs, current)
}

// note must run before placement, which fills the zeros.
func (t *addressTally) note(cbs []*buffer) {
	for _, b := range cbs {
		if b.local && b.addr == 0 {
			t.synthesised = true
		}
		if b.local && b.addr != 0 {
			t.recorded = true
		}
	}
}

// overTime replays the events of the device. After each one the state is built again from the live
// buffers.
func (d *Device) overTime(name string, events []event) error {
	var l1 memory
	var live []*buffer
	for _, e := range events {
		if e.endsRun(name) {
			live = nil
			d.ResidentFinal = 0
		}
		if e.buffer == nil || e.device != name {
			continue
		}
		live = append(live, e.buffer)

		same := localOf(live, e.buffer.kind)
		total, fullest, err := fill(&l1, same)
		if err != nil {
			return err
		}
		switch e.buffer.kind {
		case circular:
			d.CBNodes++
			if e.buffer.local {
				d.LocalCBs++
			} else {
				d.GlobalCBs++
			}
			d.ResidentPeak = max(d.ResidentPeak, total)
			d.CorePeak = max(d.CorePeak, fullest)
			d.ResidentFinal = total
			var logical, sizes, unattributed uint64
			for _, b := range same {
				logical += b.logical()
				sizes += b.size
				if len(b.cores) == 0 {
					unattributed += b.size
				}
			}
			d.LogicalPeak = max(d.LogicalPeak, logical)
			d.LogicalSizesPeak = max(d.LogicalSizesPeak, sizes)
			d.UnattributedPeak = max(d.UnattributedPeak, unattributed)
		case dataflowBuffer:
			d.DataflowBuffers++
			if e.buffer.local {
				d.DataflowLocal++
			} else {
				d.DataflowBorrowed++
			}
			d.DataflowPeak = max(d.DataflowPeak, total)
			d.DataflowCorePeak = max(d.DataflowCorePeak, fullest)
		case scratchpad:
			d.Scratchpads++
			d.ScratchpadPeak = max(d.ScratchpadPeak, total)
			d.ScratchpadCorePeak = max(d.ScratchpadCorePeak, fullest)
		}
	}
	return nil
}

// outside says whether a core range of the run is not all on a grid.
func (r *run) outside(g *grid) bool {
	return slices.ContainsFunc(slices.Concat(r.circular, r.dataflow, r.pads), func(b *buffer) bool {
		_, out := b.outside(g)
		return out
	})
}

// registered computes the figures that would hold if nothing ever ended. A run outside the grid is not registered.
func (d *Device) registered(runs []*run, g *grid) error {
	var l1, granular memory
	var cbs, dataflow, pads, all []*buffer
	for _, r := range runs {
		all = append(all, localOf(r.circular, circular)...)
		if r.outside(g) {
			continue
		}
		cbs = append(cbs, r.circular...)
		dataflow = append(dataflow, r.dataflow...)
		pads = append(pads, r.pads...)
		for _, e := range r.entries {
			for _, s := range e.regions {
				if err := granular.add(e.rect.cores(), s.start, s.end); err != nil {
					return err
				}
			}
		}
	}
	d.RegisteredGranular, _ = granular.count()

	cbs = localOf(cbs, circular)
	d.Cores = coresOf(all)
	for _, b := range all {
		d.HighestEnd = max(d.HighestEnd, b.end())
	}
	for _, b := range cbs {
		d.RegisteredLogical += b.logical()
	}
	var err error
	if d.RegisteredUnion, d.RegisteredCorePeak, err = fill(&l1, cbs); err != nil {
		return err
	}
	if d.DataflowRegistered, _, err = fill(&l1, localOf(dataflow, dataflowBuffer)); err != nil {
		return err
	}
	d.ScratchpadRegistered, _, err = fill(&l1, pads)
	return err
}

// detail describes one program from its CB nodes.
func detail(cbs []*buffer) (Program, error) {
	p := Program{FirstCounter: cbs[0].counter, LastCounter: cbs[len(cbs)-1].counter}
	local := localOf(cbs, circular)
	p.LocalCBs, p.GlobalCBs = len(local), len(cbs)-len(local)
	p.Cores = coresOf(local)
	for _, b := range local {
		p.LogicalBytes += b.logical()
		p.HighestEnd = max(p.HighestEnd, b.end())
	}
	var l1 memory
	var err error
	p.Resident, p.CoreMax, err = fill(&l1, local)
	return p, err
}

// fill empties the cores and puts the given buffers into them.
func fill(l1 *memory, buffers []*buffer) (total, fullest uint64, err error) {
	l1.reset()
	for _, b := range buffers {
		if err := l1.add(b.cores, b.addr, b.addr+b.size); err != nil {
			return 0, 0, err
		}
	}
	total, fullest = l1.count()
	return total, fullest, nil
}

func localOf(buffers []*buffer, kind bufferKind) []*buffer {
	return slices.DeleteFunc(slices.Clone(buffers), func(b *buffer) bool { return !b.local || b.kind != kind })
}

func coresOf(buffers []*buffer) int {
	seen := map[core]bool{}
	for _, b := range buffers {
		for _, c := range b.cores {
			seen[c] = true
		}
	}
	return len(seen)
}

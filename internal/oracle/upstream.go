package oracle

// upstream walks the nodes as ttnn's extract_resource_usage_per_core does: four sums without sign and without
// floor, maxima on additions only, no look at cores or devices.
func upstream(nodes []node) (Upstream, error) {
	u := upstreamSums{l1Known: true}
	for _, n := range nodes {
		var err error
		switch n.kind {
		case "circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate":
			err = u.place(n)
		case "circular_buffer_deallocate_all":
			u.total.now -= u.cb.now + u.dataflow.now + u.pad.now
			u.cb.now, u.dataflow.now, u.pad.now = 0, 0, 0
		case "buffer_allocate", "buffer_deallocate":
			err = u.buffer(n)
		}
		if err != nil {
			return Upstream{}, err
		}
	}

	out := Upstream{PeakCB: &u.cb.peak, PeakDataflow: &u.dataflow.peak, PeakScratchpad: &u.pad.peak}
	if u.l1Known {
		out.PeakL1, out.PeakTotal, out.Wrapped = &u.l1.peak, &u.total.peak, u.wrapped
	}
	return out, nil
}

// upstreamSums are the sums so far.
type upstreamSums struct {
	cb, dataflow, pad, l1, total upstreamSum
	l1Known                      bool // each buffer in L1 has a size
	wrapped                      bool // more was freed than had been allocated
}

type upstreamSum struct{ now, peak uint64 }

func (s *upstreamSum) add(size uint64) {
	s.now += size
	s.peak = max(s.peak, s.now)
}

func (u *upstreamSums) grow(sum *upstreamSum, size uint64) {
	sum.add(size)
	u.total.add(size)
}

func (u *upstreamSums) place(n node) error {
	b, err := readBuffer(n, Rules{})
	if err != nil || !b.local {
		return err
	}
	switch b.kind {
	case circular:
		u.grow(&u.cb, b.size)
	case dataflowBuffer:
		u.grow(&u.dataflow, b.size)
	case scratchpad:
		u.grow(&u.pad, b.size)
	}
	return nil
}

func (u *upstreamSums) buffer(n node) error {
	if string(n.params["type"]) == `"DRAM"` {
		return nil
	}
	if !present(n.params["max_size_per_bank"]) {
		u.l1Known = false
		return nil
	}
	size, err := number(n.params["max_size_per_bank"])
	if err != nil {
		return err
	}
	if n.kind == "buffer_allocate" {
		u.grow(&u.l1, size)
		return nil
	}
	u.wrapped = u.wrapped || size > u.l1.now
	u.l1.now -= size
	u.total.now -= size
	return nil
}

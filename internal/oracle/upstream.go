package oracle

// upstream walks the nodes as ttnn's extract_resource_usage_per_core does: four sums without sign and without
// floor, maxima on additions only, no look at cores or devices.
func upstream(nodes []node) (Upstream, error) {
	var cb, l1, dataflow, pad, total uint64
	var peakCB, peakL1, peakDataflow, peakPad, peakTotal uint64
	var wrapped bool
	l1Known := true

	grow := func(sum, peak *uint64, size uint64) {
		*sum += size
		total += size
		*peak = max(*peak, *sum)
		peakTotal = max(peakTotal, total)
	}
	for _, n := range nodes {
		switch n.kind {
		case "circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate":
			b, err := readBuffer(n, Rules{})
			if err != nil {
				return Upstream{}, err
			}
			if !b.local {
				continue
			}
			switch b.kind {
			case circular:
				grow(&cb, &peakCB, b.size)
			case dataflowBuffer:
				grow(&dataflow, &peakDataflow, b.size)
			case scratchpad:
				grow(&pad, &peakPad, b.size)
			}
		case "circular_buffer_deallocate_all":
			total -= cb + dataflow + pad
			cb, dataflow, pad = 0, 0, 0
		case "buffer_allocate", "buffer_deallocate":
			if string(n.params["type"]) == `"DRAM"` {
				continue
			}
			if !present(n.params["max_size_per_bank"]) {
				l1Known = false
				continue
			}
			size, err := number(n.params["max_size_per_bank"])
			if err != nil {
				return Upstream{}, err
			}
			if n.kind == "buffer_allocate" {
				grow(&l1, &peakL1, size)
				continue
			}
			wrapped = wrapped || size > l1
			l1 -= size
			total -= size
		}
	}

	u := Upstream{PeakCB: &peakCB, PeakDataflow: &peakDataflow, PeakScratchpad: &peakPad}
	if l1Known {
		u.PeakL1, u.PeakTotal, u.Wrapped = &peakL1, &peakTotal, wrapped
	}
	return u, nil
}

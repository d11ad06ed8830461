package capture

// upstreamSums are the running sums of ttnn's extract_resource_usage_per_core
// (ttnn/core/graph/graph_trace_utils.cpp): one walk over the nodes, unsigned sums
// without a floor, maxima on additions only.
type upstreamSums struct {
	cb, l1, dataflow, scratchpad, total                     uint64
	peakCB, peakL1, peakDataflow, peakScratchpad, peakTotal uint64
	wrapped, l1Unknown                                      bool
}

func (u *upstreamSums) add(sum, peak *uint64, size uint64) {
	*sum += size
	u.total += size
	*peak = max(*peak, *sum)
	u.peakTotal = max(u.peakTotal, u.total)
}

// place takes in a CB, dataflow buffer or scratchpad.
func (u *upstreamSums) place(n *Node) {
	if n.Global {
		return
	}
	switch n.Type {
	case TypeDataflowBufferAllocate:
		u.add(&u.dataflow, &u.peakDataflow, n.Size.V)
	case TypeScratchpadAllocate:
		u.add(&u.scratchpad, &u.peakScratchpad, n.Size.V)
	default:
		u.add(&u.cb, &u.peakCB, n.Size.V)
	}
}

// free takes in a circular_buffer_deallocate_all.
func (u *upstreamSums) free() {
	u.total -= u.cb + u.dataflow + u.scratchpad
	u.cb, u.dataflow, u.scratchpad = 0, 0, 0
}

// buffer takes in an allocation or free of a buffer.
func (u *upstreamSums) buffer(n *Node) {
	switch {
	case n.TypeName == "DRAM":
	case !n.MaxSizePerBank.OK:
		u.l1Unknown = true // captures of 2024 do not have it
	case n.Type == TypeBufferAllocate:
		u.add(&u.l1, &u.peakL1, n.MaxSizePerBank.V)
	default:
		u.wrapped = u.wrapped || n.MaxSizePerBank.V > u.l1
		u.l1 -= n.MaxSizePerBank.V
		u.total -= n.MaxSizePerBank.V
	}
}

func (u *upstreamSums) figures() Upstream {
	f := Upstream{PeakCB: some(u.peakCB), PeakDataflow: some(u.peakDataflow), PeakScratchpad: some(u.peakScratchpad)}
	if !u.l1Unknown {
		f.PeakL1, f.PeakTotal, f.Wrapped = some(u.peakL1), some(u.peakTotal), u.wrapped
	}
	return f
}

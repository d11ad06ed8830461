package capture

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// upstreamSums are the running sums of ttnn's extract_resource_usage_per_core
// (ttnn/core/graph/graph_trace_utils.cpp): one walk over the nodes, unsigned sums
// without a floor, maxima on additions only.
type upstreamSums struct {
	now, most          sums
	wrapped, l1Unknown bool
	perCore            bool // a set of cores is a JSON array
	hidden             bool // a node that counts cannot be read

	// What the sums stand for.
	since  []upstreamCB // local CBs since the last free
	raised bool         // their sum is the peak
	peak   []upstreamCB // those that made most.cb, once a free came behind them
	live   uint64       // of now.l1: what was allocated in the capture
	alive  uint64       // its maximum
	before int          // frees of what was not
}

// sums are bytes by kind, and their total.
type sums struct{ cb, l1, dataflow, scratchpad, total uint64 }

// An upstreamCB is a CB that was added up.
type upstreamCB struct {
	device        device.ID
	cores         l1.CoreRangeSet
	address, size uint64
}

func (u *upstreamSums) add(sum, peak *uint64, size uint64) {
	*sum += size
	u.now.total += size
	*peak = max(*peak, *sum)
	u.most.total = max(u.most.total, u.now.total)
}

// place records a CB, dataflow buffer or scratchpad.
func (u *upstreamSums) place(n *graph.Node) {
	u.perCore = u.perCore || n.Placed.CoreArray
	if n.Placed.Global {
		return
	}
	switch n.Type {
	case graph.TypeDataflowBufferAllocate:
		u.add(&u.now.dataflow, &u.most.dataflow, n.Size.V)
	case graph.TypeScratchpadAllocate:
		u.add(&u.now.scratchpad, &u.most.scratchpad, n.Size.V)
	default:
		peak := u.most.cb
		u.add(&u.now.cb, &u.most.cb, n.Size.V)
		u.raised = u.raised || u.most.cb > peak
		u.since = append(u.since, upstreamCB{graph.DeviceOf(n.DeviceID), n.Placed.Cores, n.Address.V, n.Size.V})
	}
}

// free records a circular_buffer_deallocate_all.
func (u *upstreamSums) free() {
	u.keep()
	u.now.total -= u.now.cb + u.now.dataflow + u.now.scratchpad
	u.now.cb, u.now.dataflow, u.now.scratchpad = 0, 0, 0
}

// keep keeps the CBs since the last free, if their sum is the peak.
func (u *upstreamSums) keep() {
	if u.raised {
		u.raised, u.peak, u.since = false, u.since, u.peak
	}
	u.since = u.since[:0]
}

// explain describes the CBs that made the peak.
func (u *upstreamSums) explain() (causes []event.UpstreamCause) {
	u.keep()
	byDevice := map[device.ID][]upstreamCB{}
	for _, cb := range u.peak {
		byDevice[cb.device] = append(byDevice[cb.device], cb)
	}
	var first, largest []upstreamCB
	same := true
	for _, id := range slices.SortedFunc(maps.Keys(byDevice), graph.CompareDevices) {
		list := byDevice[id]
		if first == nil {
			first, largest = list, list
		}
		if sumOf(list) > sumOf(largest) {
			largest = list
		}
		same = same && slices.Equal(keysOf(list), keysOf(first))
	}
	sum := sumOf(largest)
	if n := len(byDevice); n > 1 {
		code := event.CauseDevices
		if same {
			code = event.CauseCopies
		}
		causes = append(causes, event.UpstreamCause{Code: code, Figure: "peak_cb", Upstream: u.most.cb, Exact: sum, Count: n})
	}
	sets := map[string]bool{}
	for _, cb := range largest {
		sets[cb.cores.String()] = true
	}
	if fullest := onFullest(largest); fullest < sum {
		causes = append(causes, event.UpstreamCause{Code: event.CauseCores, Figure: "peak_cb", Upstream: sum, Exact: fullest, Count: len(sets)})
	}
	return causes
}

// onFullest returns the largest sum of sizes on one core. In each column it counts a rectangle of cores at its ends
// alone: its size at the first row, and minus its size behind the last.
func onFullest(list []upstreamCB) (fullest uint64) {
	columns := map[int]*[257]uint64{} // wrap and come back
	for _, cb := range list {
		for r := range cb.cores.Cores().Ranges().All() {
			for x := int(r.Start.X); x <= int(r.End.X); x++ {
				if columns[x] == nil {
					columns[x] = &[257]uint64{}
				}
				columns[x][r.Start.Y] += cb.size
				columns[x][int(r.End.Y)+1] -= cb.size
			}
		}
	}
	for _, column := range columns {
		sum := uint64(0)
		for _, n := range column {
			sum += n
			fullest = max(fullest, sum)
		}
	}
	return fullest
}

func sumOf(list []upstreamCB) (sum uint64) {
	for _, cb := range list {
		sum += cb.size
	}
	return sum
}

// keysOf returns the keys of CBs, sorted. CBs have the same key if they differ in their device alone.
func keysOf(list []upstreamCB) (keys []string) {
	for _, cb := range list {
		key := binary.LittleEndian.AppendUint64(nil, cb.address)
		key = binary.LittleEndian.AppendUint64(key, cb.size)
		keys = append(keys, string(append(key, cb.cores.String()...)))
	}
	slices.Sort(keys)
	return keys
}

// buffer records an allocation, or a free. found reports whether the capture allocated the buffer.
func (u *upstreamSums) buffer(n *graph.Node, found bool) {
	switch size := n.Buffer.MaxSizePerBank; {
	case n.Buffer.TypeName == "DRAM":
	case !size.OK:
		u.l1Unknown = true // captures of 2024 do not have it
	case n.Type == graph.TypeBufferAllocate:
		u.add(&u.now.l1, &u.most.l1, size.V)
		u.live += size.V
		u.alive = max(u.alive, u.live)
	default:
		u.wrapped = u.wrapped || size.V > u.now.l1
		u.now.l1 -= size.V
		u.now.total -= size.V
		if found {
			u.live -= min(u.live, size.V)
		} else {
			u.before++
		}
	}
}

func (u *upstreamSums) figures() event.Upstream {
	if u.hidden {
		return event.Upstream{PerCore: u.perCore}
	}
	f := event.Upstream{PeakCB: event.Some(u.most.cb), PeakDataflow: event.Some(u.most.dataflow), PeakScratchpad: event.Some(u.most.scratchpad), PerCore: u.perCore, Causes: u.explain()}
	if !u.l1Unknown {
		f.PeakL1, f.PeakTotal, f.Wrapped = event.Some(u.most.l1), event.Some(u.most.total), u.wrapped
		if u.wrapped {
			f.Causes = append(f.Causes, event.UpstreamCause{Code: event.CauseWrapped, Figure: "peak_l1", Upstream: u.most.l1, Exact: u.alive, Count: u.before})
		}
	}
	return f
}

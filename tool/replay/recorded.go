package replay

import (
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A recording judges the CBs of a log of records, which has no runs (CodeEveryCore): it compares the end of each program's
// CBs with the lowest L1 buffer of its device, as tt-metal does in lockstep. A program is compared when it comes, and a
// buffer is compared with the programs that stay. Cost: O(log n) in what lives on a device.
type recording struct {
	answer.Recording
	only     answer.Filter // its Core matters not: each CB is on all
	on       bool
	programs map[program.ID]placedThing
	devices  map[device.ID]*recordedDevice
	sizes    map[device.ID]uint64 // of L1; 0 = not known
	chips    map[uint64]bool      // by address of L1 buffers: whether a record names a chip; others name a mesh
}

// A placedThing is the end of a program's CBs or the address of a buffer.
type placedThing struct {
	name string
	at   uint64
}

// A recordedDevice has the programs of a device, the highest end first, and its L1 buffers, the lowest first.
type recordedDevice struct {
	id                device.ID
	programs, buffers byKey
}

// take follows an event that happened.
func (r *recording) take(e *event.Event, ids func() []device.ID) {
	if e.Kind == event.KindAnomaly && e.Code == string(answer.CodeEveryCore) {
		r.on, r.programs, r.devices = true, map[program.ID]placedThing{}, map[device.ID]*recordedDevice{}
		r.sizes, r.chips = map[device.ID]uint64{}, map[uint64]bool{}
	}
	if !r.on {
		return
	}
	switch e.Kind {
	case event.KindDevice:
		r.sizes[e.Device] = e.Spec.Based().L1Size
	case event.KindProgram:
		end := uint64(0)
		for _, cb := range e.CBs {
			if cb.Fixed && !cb.Global && cb.Size > 0 {
				end = max(end, cb.Address+cb.Size)
			}
		}
		r.programs[e.Program] = placedThing{e.Name, end}
	case event.KindRegister:
		p, on := r.programs[e.Program], r.each(e, ids)
		if len(on) == 0 || !r.only.HasOp(answer.Name(p.name)) {
			return
		}
		r.CBs++
		for _, d := range on {
			r.Endless = r.Endless || r.sizes[d.id] == 0
			if low, ok := d.buffers.top(); ok && low.at < p.at {
				r.clash(e, d.id, p, low, "when the CB came")
			}
			d.programs.add(uint64(e.Program), math.MaxUint64-p.at, p)
		}
	case event.KindAllocate:
		if e.Buffer.Kind != fit.KindL1 || !e.Address.OK {
			return
		}
		if r.chips[e.Address.V] = r.chips[e.Address.V] || !e.Buffer.Backing; e.Buffer.Backing {
			return
		}
		b := placedThing{e.Buffer.Name, e.Address.V}
		for _, d := range r.each(e, ids) {
			if p, ok := d.programs.top(); ok && b.at < p.at && !e.Corrects {
				r.clash(e, d.id, p, b, "while the CB stays")
			}
			d.buffers.add(uint64(e.Buffer.ID), b.at, b)
		}
	case event.KindUnregister:
		for _, d := range r.each(e, ids) {
			delete(d.programs.live, uint64(e.Program))
		}
	case event.KindFree:
		for _, d := range r.each(e, ids) {
			delete(d.buffers.live, uint64(e.Buffer.ID))
		}
	case event.KindRemove:
		for _, d := range r.each(e, ids) {
			delete(r.devices, d.id)
		}
	}
}

// each returns the devices of an event.
func (r *recording) each(e *event.Event, all func() []device.ID) (out []*recordedDevice) {
	ids := e.Devices.V
	if !e.Devices.OK {
		ids = all()
	}
	for _, id := range ids {
		if !r.only.HasDevice(event.Some(uint64(id))) {
			continue
		}
		if r.devices[id] == nil {
			r.devices[id] = &recordedDevice{id, byKey{live: map[uint64]keyed{}}, byKey{live: map[uint64]keyed{}}}
		}
		out = append(out, r.devices[id])
	}
	return out
}

// clash notes a pair, the first one in words.
func (r *recording) clash(e *event.Event, id device.ID, p, b placedThing, moment string) {
	if r.Clashes++; r.Clashes == 1 {
		r.First = fmt.Sprintf("may clash: %s ends at %s on device %d, above L1 buffer %s at %s, %s (event %s)",
			shown.Start(p.name, 60), l1.Bytes(p.at).Exact(), id, shown.Start(b.name, 60), l1.Bytes(b.at).Exact(), moment, l1.Bytes(e.Node).Exact())
	}
}

// A keyed is a live thing with its key and its id.
type keyed struct {
	key, id uint64
	thing   placedThing
}

// byKey is a heap of live things, the least key first. Entries of things that are gone stay until they are on top, or until
// they are more than half.
type byKey struct {
	live map[uint64]keyed
	heap keyHeap
}

func (b *byKey) add(id, key uint64, thing placedThing) {
	k := keyed{key, id, thing}
	b.live[id] = k
	heap.Push(&b.heap, k)
	if len(b.heap) > 2*len(b.live)+64 {
		b.heap = slices.DeleteFunc(b.heap, func(k keyed) bool { return b.live[k.id] != k })
		heap.Init(&b.heap)
	}
}

func (b *byKey) top() (placedThing, bool) {
	for len(b.heap) > 0 {
		if b.live[b.heap[0].id] == b.heap[0] {
			return b.heap[0].thing, true
		}
		heap.Pop(&b.heap)
	}
	return placedThing{}, false
}

// A keyHeap orders things by key.
type keyHeap []keyed

func (h keyHeap) Len() int           { return len(h) }
func (h keyHeap) Less(i, j int) bool { return h[i].key < h[j].key }
func (h keyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *keyHeap) Push(x any)        { *h = append(*h, x.(keyed)) }
func (h *keyHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// result returns the outcome.
func (r *recording) result() answer.Recording {
	out := r.Recording
	for _, chip := range r.chips {
		if !chip {
			out.Unplaced++
		}
	}
	return out
}

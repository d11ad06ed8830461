package heap

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// fixture has the heaps of some devices, and a map of the buffers of each.
type fixture struct {
	heaps  Book
	roster classes.Roster
	on     []*BufferSet
	model  []map[fit.BufferID]fit.Buffer
}

// change puts a buffer on devices or takes one off; one of the two is nil.
func (s *fixture) change(devices []int, add, drop *Allocation) {
	var m Moves
	if add != nil {
		s.heaps.Give(add, len(devices), &s.roster)
	}
	for _, d := range devices {
		m.From(s.on[d]).Users++
	}
	s.heaps.Lead(&m, add, drop)
	for _, d := range devices {
		w := m.From(s.on[d])
		s.heaps.Move(w.From, w.To)
		s.on[d] = w.To
		if add != nil {
			s.model[d][add.ID] = add.Buffer
		} else {
			delete(s.model[d], drop.ID)
		}
	}
	if drop != nil {
		s.heaps.Take(drop, len(devices), &s.roster)
	}
}

// allocate puts a buffer on those devices that have none of its id.
func (s *fixture) allocate(t require.TestingT, b fit.Buffer, devices []int) {
	devices = slices.DeleteFunc(devices, func(d int) bool { _, has := s.model[d][b.ID]; return has })
	if len(devices) == 0 {
		return
	}
	a, ok := s.heaps.Allocation(b)
	require.True(t, ok)
	s.change(devices, a, nil)
}

// free takes the buffers with an id off devices.
func (s *fixture) free(id fit.BufferID, devices []int) {
	on := map[*Allocation][]int{}
	for _, d := range devices {
		if a := s.on[d].Heap().Find(id); a != nil {
			on[a] = append(on[a], d)
		}
	}
	for a, devices := range on {
		s.change(devices, nil, a)
	}
}

// A seeing is all that a heap says.
type seeing struct {
	buffers []fit.Buffer
	stand   map[fit.BufferID]bool
	sums    fit.BufferTotals
	charged uint64
	gap     l1.Range
	tracked residue.TrackedBytes
}

// seen returns the answers of all queries of a heap.
func seen(h *Heap) seeing {
	out := seeing{stand: map[fit.BufferID]bool{}, sums: h.Sums(), charged: h.Charged(), gap: h.Gap(), tracked: h.TrackedWith(nil)}
	for _, a := range h.Sorted() {
		out.buffers = append(out.buffers, a.Copy())
	}
	standing := h.InTheWay()
	for _, a := range standing.All() {
		out.stand[a.ID] = true
	}
	return out
}

// naive returns the figures of a heap of these buffers, by one visit of each byte.
func naive(all map[fit.BufferID]fit.Buffer) seeing {
	out := seeing{stand: map[fit.BufferID]bool{}, gap: l1.Range{End: math.MaxUint64}}
	cores := map[l1.Core]map[uint64]bool{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		b := all[id]
		out.buffers = append(out.buffers, b)
		bytes := uint64(0)
		for p := range b.All() {
			for core := range p.Cores.All() {
				bytes += p.Range.Len()
				if b.Backing || p.Range.Len() == 0 && !b.Unsized {
					continue
				}
				out.stand[id] = true
				if b.Kind == fit.KindKernel || b.Kind == fit.KindReserved {
					if out.gap.Start = max(out.gap.Start, p.Range.End); b.Unsized {
						out.gap.Start = math.MaxUint64
					}
					continue
				}
				out.gap.End = min(out.gap.End, p.Range.Start)
				if cores[core] == nil {
					cores[core] = map[uint64]bool{}
				}
				for at := p.Range.Start; at < p.Range.End; at++ {
					cores[core][at] = true
				}
			}
		}
		out.charged += max(b.Size, bytes)
		out.sums.Add(&b, 1)
	}
	for _, held := range cores {
		out.tracked.Bytes += uint64(len(held))
		out.tracked.Core = max(out.tracked.Core, uint64(len(held)))
	}
	return out
}

// check holds the heaps against the model.
func (s *fixture) check(t require.TestingT) {
	devices := map[fit.BufferID]int{}
	for d, h := range s.on {
		require.Equal(t, naive(s.model[d]), seen(h.Heap()), "device %d", d)
		for o := range d {
			require.Equal(t, maps.EqualFunc(s.model[d], s.model[o], sameBuffer), h == s.on[o], "devices %d and %d share what is equal", o, d)
		}
		for id := range s.model[d] {
			devices[id]++
		}
	}
	for id := range fit.BufferID(4) {
		require.Equal(t, devices[id], s.heaps.Devices(id))
		require.Equal(t, devices[id] > 0, s.heaps.Has(id))
	}
	require.Len(t, s.heaps.live, len(devices))
}

// sameBuffer reports whether buffers of one part are the same, whatever their ids.
func sameBuffer(a, b fit.Buffer) bool {
	return a.Kind == b.Kind && a.Size == b.Size && a.Backing == b.Backing && a.Unsized == b.Unsized && a.Range == b.Range && a.Cores.Equal(b.Cores)
}

// Devices have the heap of their buffers, whatever way they came to it. Devices with the same
// buffers share one, and pictured heaps do not change.
func TestHeapsAreMaps(t *testing.T) {
	kinds := []fit.Kind{fit.KindL1, fit.KindL1, fit.KindL1Small, fit.KindGlobalCB, fit.KindKernel, fit.KindReserved, fit.KindDRAM}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "devices")
		s := newFixture(n)
		s.heaps.Numbers.Blind = rapid.Bool().Draw(t, "one hash")
		var all []int
		for d := range n {
			all = append(all, d)
		}
		pictures := map[*Heap]seeing{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			devices := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(0, n-1), 1, n).Draw(t, "on"))))
			id := fit.BufferID(rapid.IntRange(0, 3).Draw(t, "id"))
			switch do := rapid.IntRange(0, 9).Draw(t, "do"); {
			case do < 5:
				b := fit.Buffer{ID: id, Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Size: 16, Backing: rapid.IntRange(0, 5).Draw(t, "backing") == 0}
				if b.Kind.InL1() {
					start := rapid.Uint64Range(0, 3).Draw(t, "start") * 8
					b.Range = l1.Range{Start: start, End: start + 8*rapid.Uint64Range(0, 2).Draw(t, "length")}
					b.Cores = l1.MustParseCoreRangeSet(rapid.SampledFrom([]string{"{[0-0 - 1-0]}", "{[0-0 - 0-0]}", "{[1-0 - 1-1]}"}).Draw(t, "cores")).Cores()
					b.Unsized = b.Range.IsEmpty() && rapid.Bool().Draw(t, "unsized")
				}
				s.allocate(t, b, devices)
			case do < 9:
				s.free(id, devices)
			default:
				s.heaps.Picture()
				for _, h := range s.on {
					if h != nil {
						pictures[h.Heap()] = seen(h.Heap())
					}
				}
			}
			s.check(t)
			for h, was := range pictures {
				require.Equal(t, was, seen(h))
			}
		}
		for id := range fit.BufferID(4) {
			s.free(id, all)
		}
		s.check(t)
		require.Zero(t, s.heaps.states.Len())
		require.Empty(t, s.heaps.live)
		require.Empty(t, s.roster.Of, "all numbers are given back")
	})
}

// newFixture returns a fixture of devices without buffers.
func newFixture(devices int) *fixture {
	s := &fixture{on: make([]*BufferSet, devices), model: make([]map[fit.BufferID]fit.Buffer, devices)}
	for d := range s.model {
		s.model[d] = map[fit.BufferID]fit.Buffer{}
	}
	return s
}

// bufferAt returns a buffer of 8 bytes.
func bufferAt(id fit.BufferID) fit.Buffer {
	start := 8 * uint64(id)
	return fit.Buffer{ID: id, Kind: fit.KindL1, Size: 8, Cores: l1.MustParseCoreRangeSet("{[0-0 - 0-0]}").Cores(), Range: l1.Range{Start: start, End: start + 8}}
}

// A device comes to a state that another one has passed. A third one, which comes there another way,
// finds it.
func TestPassedStateIsFoundAgain(t *testing.T) {
	s := newFixture(3)
	s.allocate(t, bufferAt(0), []int{0, 1})
	s.allocate(t, bufferAt(1), []int{0, 2})
	s.allocate(t, bufferAt(2), []int{0})
	s.allocate(t, bufferAt(1), []int{1})
	s.allocate(t, bufferAt(0), []int{2})
	s.check(t)
}

// A device that stays behind does not keep the way of the others for ever.
func TestPassedStatesAreSwept(t *testing.T) {
	s := newFixture(2)
	s.allocate(t, bufferAt(0), []int{0, 1})
	for i := range fit.BufferID(1000) {
		s.allocate(t, bufferAt(1+i), []int{0})
		s.free(i, []int{0})
	}
	require.LessOrEqual(t, s.heaps.states.Len(), 300)
	s.check(t)
}

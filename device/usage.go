package device

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Basis selects the programs that count as contents of L1.
type Basis uint8

// The bases.
const (
	// BasisResident counts the last dispatches: the present content of L1.
	BasisResident Basis = iota
	// BasisRegistered counts all registered programs, as if all were there at once:
	// the bytes that cached programs will touch.
	BasisRegistered
)

// Usage holds the content of L1 in bytes, on one core or summed over the cores of a
// device. Each byte counts once in each figure.
type Usage struct {
	Tracked     uint64 // held by anything but kernels and the reserved area
	WithKernels uint64 // held by anything

	kinds  [numL1]uint64
	shared []sharedBytes
}

// A Sharing is bytes that several kinds hold.
type Sharing struct {
	Kinds []fit.Kind `json:"kinds"` // in their order
	Bytes uint64     `json:"bytes"`
}

type sharedBytes struct {
	kinds kinds
	bytes uint64
}

// Of returns the bytes of a kind, each byte once.
func (u Usage) Of(k fit.Kind) uint64 {
	if k >= numL1 {
		return 0
	}
	return u.kinds[k]
}

// Shared returns the bytes held by more than one kind, by the kinds; no byte is in
// two of the rows. The sum of Of over all kinds, less (number of kinds - 1) x Bytes
// of each row, is WithKernels.
func (u Usage) Shared() iter.Seq[Sharing] {
	return func(yield func(Sharing) bool) {
		for _, s := range u.shared {
			if !yield(Sharing{s.kinds.list(), s.bytes}) {
				return
			}
		}
	}
}

// add counts n cores with the usage o.
func (u *Usage) add(o Usage, n uint64) {
	u.Tracked += o.Tracked * n
	u.WithKernels += o.WithKernels * n
	for k := range o.kinds {
		u.kinds[k] += o.kinds[k] * n
	}
	for _, s := range o.shared {
		at, found := slices.BinarySearchFunc(u.shared, s.kinds, func(s sharedBytes, k kinds) int { return cmp.Compare(s.kinds, k) })
		if !found {
			u.shared = slices.Insert(u.shared, at, sharedBytes{kinds: s.kinds})
		}
		u.shared[at].bytes += s.bytes * n
	}
}

// Usage returns the content of the L1 of the device, summed over cores. Cost: O(n log
// n) in the ranges that differ from core to core.
func (d Device) Usage(basis Basis) Usage {
	var u Usage
	for _, t := range d.tiles(basis) {
		u.add(t.usage(), uint64(t.cores.Len()))
	}
	return u
}

// A UsageGroup is a set of cores with the same contents.
type UsageGroup struct {
	Cores     l1.CoreSet
	Usage     Usage      // of each core
	Regions   []l1.Range // of everything but kernels and the reserved area, merged, lowest first
	residents []fit.Resident
}

// Residents returns the contents of each core of the group, by address, then kind:
// each circular buffer of a program for itself, and each range of a buffer.
func (g UsageGroup) Residents() iter.Seq[fit.Resident] { return slices.Values(g.residents) }

// UsageGroups returns the cores that hold anything, grouped by content, by first
// core.
func (d Device) UsageGroups(basis Basis) iter.Seq[UsageGroup] {
	return usageGroups(d.tiles(basis))
}

// usageGroups returns the groups of tiles, by first core.
func usageGroups(all []tile) iter.Seq[UsageGroup] {
	var out []UsageGroup
	for _, t := range all {
		g := UsageGroup{Cores: t.cores, Usage: t.usage(), residents: t.residents()}
		all := make([]l1.Range, 0, len(t.layers))
		for _, y := range t.layers {
			if !y.kind.Below() {
				all = append(all, y.ranges...)
			}
		}
		g.Regions = l1.Merge(all)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b UsageGroup) int { return a.Cores.CompareFirst(b.Cores) })
	return slices.Values(out)
}

// tiles returns the contents of the device, divided into sets of cores that hold the
// same.
func (d Device) tiles(basis Basis) (out []tile) {
	d.read(func(c *cohort) {
		var layers []layer
		if basis != BasisRegistered {
			layers = appendResidue(layers, c.left)
		} else {
			programs := c.programs()
			slices.SortFunc(programs, byID)
			for _, p := range programs {
				layers = appendCBs(layers, p, func(_ program.Kind, cores l1.CoreSet) l1.CoreSet { return cores })
			}
		}
		out = tiles(appendAllocations(layers, c.heap().Sorted()))
	})
	return out
}

// appendResidue adds the layers of dispatches.
func appendResidue(layers []layer, left *residue.Residue) []layer {
	for _, w := range left.Written() {
		layers = appendCBs(layers, w.Program, func(kind program.Kind, cores l1.CoreSet) l1.CoreSet {
			if kind != w.Kind {
				return l1.CoreSet{}
			}
			return cores.Intersect(w.Cores)
		})
	}
	return layers
}

// appendCBs adds the local CBs of a program, each for itself, on the cores that left
// returns for them: cores with the same bytes may have them in different CBs.
func appendCBs(layers []layer, p *program.Program, left func(program.Kind, l1.CoreSet) l1.CoreSet) []layer {
	for i, cb := range p.CBs() {
		if cb.Global || cb.Range.IsEmpty() {
			continue
		}
		if cores := left(cb.Kind, cb.On); !cores.IsEmpty() {
			layers = append(layers, layer{kind: fit.Kind(cb.Kind), cores: cores, ranges: []l1.Range{cb.Range}, program: p, cb: i})
		}
	}
	return layers
}

// appendAllocations adds the buffers that lie in L1.
func appendAllocations(layers []layer, all []*heap.Allocation) []layer {
	layers = slices.Grow(layers, len(all))
	for _, a := range all {
		for g := range a.Takes().Groups() {
			layers = append(layers, layer{kind: a.Kind, cores: g.Cores(), ranges: slices.Collect(g.Ranges()), buffer: a})
		}
	}
	return layers
}

// usage returns the usage of each core of a tile.
func (t tile) usage() Usage {
	type edge struct {
		at   uint64
		kind fit.Kind
		by   int
	}
	edges := make([]edge, 0, 2*len(t.layers)) // most have one range
	for _, y := range t.layers {
		for _, r := range y.ranges {
			edges = append(edges, edge{r.Start, y.kind, 1}, edge{r.End, y.kind, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var u Usage
	var open [numL1]int
	var now kinds
	last := uint64(0)
	for _, e := range edges {
		if n := e.at - last; n > 0 && now != 0 {
			u.count(now, n)
		}
		last = e.at
		if open[e.kind] += e.by; open[e.kind] > 0 {
			now |= 1 << e.kind
		} else {
			now &^= 1 << e.kind
		}
	}
	return u
}

// count adds n bytes that the given kinds hold.
func (u *Usage) count(by kinds, n uint64) {
	var o Usage
	o.WithKernels = n
	for k := range numL1 {
		if by.has(k) {
			o.kinds[k] = n
			if !k.Below() {
				o.Tracked = n
			}
		}
	}
	if by&(by-1) != 0 {
		o.shared = []sharedBytes{{by, n}}
	}
	u.add(o, 1)
}

// residents returns the residents of each core of a tile.
func (t tile) residents() []fit.Resident {
	out := make([]fit.Resident, 0, len(t.layers)) // most have one range
	for _, y := range t.layers {
		if y.buffer != nil {
			for _, r := range y.ranges {
				out = append(out, fit.Resident{Kind: y.kind, Range: r, CB: -1, Buffer: y.buffer.Copy()})
			}
			continue
		}
		out = append(out, fit.Resident{Kind: y.kind, Range: y.ranges[0], Program: y.program, CB: y.cb})
	}
	slices.SortStableFunc(out, func(a, b fit.Resident) int {
		return cmp.Or(a.Range.Compare(b.Range), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

const (
	numL1    = fit.KindReserved + 1
	numKinds = fit.KindSystem + 1
)

// kinds is a set of kinds that lie in L1.
type kinds uint16

func (s kinds) has(k fit.Kind) bool { return s>>k&1 != 0 }

// list returns the kinds in their order.
func (s kinds) list() (out []fit.Kind) {
	for k := range numL1 {
		if s.has(k) {
			out = append(out, k)
		}
	}
	return out
}

// Package baseline has the contenders that the engine is measured beside: the ways in which a
// careful engineer would count covered bytes at first. They are right, and slow in the cases that
// the engine is built for.
//
//	NewPerCore      a BoundaryCount (google/btree) for each core of each device
//	NewSortedSlice  a SortedCount (a sorted slice) for each core of each device
//	NewShared       a BoundaryCount for each distinct core of each distinct device
//
// They get the same input as the engine: programs whose footprints are grouped and merged already.
// No product code imports this package.
package baseline

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Contender counts the bytes that programs cover on numbered devices. Histories are legal:
// nothing is registered twice on a device, or unregistered where it is not.
type Contender interface {
	Register(p *program.Program, devices []int)
	Unregister(p *program.Program, devices []int)
	Total(device int) uint64 // the Measure, summed over the cores
}

// A Follower is a Contender that follows dispatches and buffers. Only registered programs are
// dispatched, no buffer is allocated twice or freed without an allocation, and no program is
// unregistered.
type Follower interface {
	Contender
	Dispatch(p *program.Program, devices []int)
	// Enqueue registers p where it is new and dispatches it. Where it does not fit
	// below the buffers it does nothing, on any device.
	Enqueue(p *program.Program, devices []int)
	Allocate(b *fit.Buffer, devices []int)
	Free(b *fit.Buffer, devices []int)
}

// A Measure selects the bytes that a Contender counts.
type Measure uint8

// The measures.
const (
	Registered Measure = iota // bytes that registered programs occupy
	Reserved                  // the same, and the bytes that they reserve: the sum of both
	Tracked                   // bytes of the last dispatch of each core and of buffers, for a Follower
)

// NewPerCore returns a Contender for numbered devices of one Spec.
func NewPerCore(spec l1.Spec, devices int, m Measure) Contender {
	return newContender[BoundaryCount](spec, devices, m)
}

// NewSortedSlice returns a Contender for numbered devices of one Spec.
func NewSortedSlice(spec l1.Spec, devices int, m Measure) Contender {
	return newContender[SortedCount](spec, devices, m)
}

func newContender[C any, P counter[C]](spec l1.Spec, devices int, m Measure) Contender {
	if m == Tracked {
		return newTracked[C, P](spec, devices)
	}
	return newPerCore[C, P](spec, devices, m)
}

// footprints returns the footprints of p that m counts. The other one is empty.
func (m Measure) footprints(p *program.Program) (out [2]program.Footprint) {
	out[0] = p.Occupied(program.CircularBuffer)
	if m == Reserved {
		out[1] = p.Reserved(program.CircularBuffer)
	}
	return out
}

// A counter counts the ranges of one core.
type counter[C any] interface {
	*C
	// Shift adds d, +1 or -1, to the count of every byte of a range that is not empty. It returns
	// the number of bytes whose count became, or ceased to be, 0. It panics if a byte is
	// not covered that -1 takes back, and is of no use then.
	Shift(r l1.Range, d int) (moved uint64)
}

// A perCore has a counter for each core of each device: a change does the same work again for
// every core and every device.
type perCore[C any, P counter[C]] struct {
	rows    int
	measure Measure
	devices []grid[C]
}

// A grid counts the ranges of the cores of one device.
type grid[C any] struct {
	cores [2][]C // of each footprint of the measure, by the number of the core
	total uint64
}

func newPerCore[C any, P counter[C]](spec l1.Spec, devices int, m Measure) *perCore[C, P] {
	t := &perCore[C, P]{spec.Rows, m, make([]grid[C], devices)}
	for i := range t.devices {
		for k := range t.devices[i].cores {
			t.devices[i].cores[k] = make([]C, spec.NumCores())
		}
	}
	return t
}

// Register counts p on every core of the devices.
func (t *perCore[C, P]) Register(p *program.Program, devices []int) { t.change(p, devices, +1) }

// Unregister takes p back on every core of the devices.
func (t *perCore[C, P]) Unregister(p *program.Program, devices []int) { t.change(p, devices, -1) }

// change lets every counter of the devices count the ranges of p. The totals move by sign times
// the returned bytes.
func (t *perCore[C, P]) change(p *program.Program, devices []int, sign int) {
	footprints := t.measure.footprints(p)
	for _, i := range devices {
		d := &t.devices[i]
		for k, f := range footprints {
			for g := range f.Groups() {
				for c := range g.Cores().All() {
					core := P(&d.cores[k][coreNumber(c, t.rows)])
					for j := range g.NumRanges() {
						d.total += uint64(sign) * core.Shift(g.Range(j), sign)
					}
				}
			}
		}
	}
}

// Total returns a number that is kept.
func (t *perCore[C, P]) Total(device int) uint64 { return t.devices[device].total }

// coreNumber numbers the cores of a grid in their order.
func coreNumber(c l1.Core, rows int) int { return int(c.X)*rows + int(c.Y) }

// A SortedCount counts ranges in a sorted slice of boundaries, the best that small sets can have.
// Its edges mean the same as the edges of a BoundaryCount. The zero SortedCount is empty and ready
// to use.
type SortedCount struct {
	_ [0]sync.Mutex // lets vet report copies

	edges []edge
}

// before returns the count that holds up to edge i.
func (s *SortedCount) before(i int) int {
	if i == 0 {
		return 0
	}
	return s.edges[i-1].n
}

// index returns the index of the edge at addr. It makes one if there is none.
func (s *SortedCount) index(addr uint64) int {
	i, found := slices.BinarySearchFunc(s.edges, addr, func(e edge, a uint64) int { return cmp.Compare(e.addr, a) })
	if !found {
		s.edges = slices.Insert(s.edges, i, edge{addr, s.before(i)})
	}
	return i
}

// drop deletes edge i if the count does not change there.
func (s *SortedCount) drop(i int) {
	if s.edges[i].n == s.before(i) {
		s.edges = slices.Delete(s.edges, i, i+1)
	}
}

// Shift takes O(n).
func (s *SortedCount) Shift(r l1.Range, d int) (moved uint64) {
	i := s.index(r.Start)
	k := s.index(r.End)
	for j := i; j < k; j++ {
		e := &s.edges[j]
		if e.n+d < 0 {
			refuse(r)
		}
		if e.n == 0 || e.n+d == 0 {
			moved += s.edges[j+1].addr - e.addr
		}
		e.n += d
	}
	s.drop(k)
	s.drop(i)
	return moved
}

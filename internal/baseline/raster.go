package baseline

import (
	"sync"

	"github.com/cbl1/cbl1/l1"
)

// Cell is the number of bytes that a Raster counts together.
const Cell = 16

// A Raster counts ranges in an array with a number for each 16 bytes: the simplest way of all, and
// the fastest for short ranges. The ends of ranges must be multiples of 16. The zero Raster is
// empty and ready to use.
type Raster struct {
	_ [0]sync.Mutex // lets vet report copies

	cells []int32 // how many ranges cover it
	bytes uint64
}

// Add counts a range and returns the number of bytes that became covered. O(len).
func (t *Raster) Add(r l1.Range) (grew uint64) {
	cells := t.of(r)
	for i := range cells {
		if cells[i] == 0 {
			grew += Cell
		}
		cells[i]++
	}
	t.bytes += grew
	return grew
}

// Remove takes back what one Add has counted and returns the number of bytes that
// ceased to be covered. It panics if a byte of r is not covered, and is of no use then.
// O(len).
func (t *Raster) Remove(r l1.Range) (freed uint64) {
	cells := t.of(r)
	for i := range cells {
		if cells[i]--; cells[i] == 0 {
			freed += Cell
		} else if cells[i] < 0 {
			refuse(r)
		}
	}
	t.bytes -= freed
	return freed
}

// Bytes returns the number of covered bytes. O(1).
func (t *Raster) Bytes() uint64 { return t.bytes }

// of returns the cells of r.
func (t *Raster) of(r l1.Range) []int32 {
	if r.Start%Cell != 0 || r.End%Cell != 0 {
		panic("baseline: a range that is not in the raster")
	}
	if n := int(r.End / Cell); n > len(t.cells) {
		t.cells = append(t.cells, make([]int32, n-len(t.cells))...)
	}
	return t.cells[r.Start/Cell : r.End/Cell]
}

// load counts many ranges at once.
func (t *Raster) load(l *loading) {
	n := int32(0)
	for i, e := range l.ends {
		if i > 0 && n > 0 {
			cells := t.of(l1.Range{Start: l.ends[i-1].addr, End: e.addr})
			for k := range cells {
				if cells[k] == 0 {
					t.bytes += Cell
				}
				cells[k] += n
			}
		}
		n += int32(e.d)
	}
}

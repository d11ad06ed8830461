package device

import (
	"iter"
	"sync/atomic"

	"github.com/cbl1/cbl1/l1"
)

// A Mesh is a handle to a rectangle of devices of one Spec. Handles may be copied
// and compared with ==. The zero Mesh is empty.
type Mesh struct {
	m *mesh
}

// A mesh is what a Mesh points to. The fleet's lock guards everything that changes
// but the atomic total.
type mesh struct {
	fleet      *Fleet
	spec       l1.Spec
	first      ID
	rows, cols int
	chips      []*chip // row by row; removed ones stay and count nothing
	all        Set

	registered atomic.Uint64 // = sum.Registered, published for lock-free reads

	sum    Totals // sums over the chips' Totals; Core and Peak are kept apart
	charge uint64 // sum over the chips
	peak   Peaks
}

// move takes a chip's share of the sums from one row of figures to the next.
func (m *mesh) move(from Totals, fromCharge uint64, to Totals, toCharge uint64) {
	// Unsigned differences wrap and come back: the sums themselves are below 2^63.
	m.sum.Registered += to.Registered - from.Registered
	m.sum.Reserved += to.Reserved - from.Reserved
	m.sum.Logical += to.Logical - from.Logical
	m.sum.Programs += to.Programs - from.Programs
	m.charge += toCharge - fromCharge
	m.peak.Core = max(m.peak.Core, to.Core)
}

// Spec returns what every device of the mesh is.
func (m Mesh) Spec() l1.Spec {
	if m.m == nil {
		return l1.Spec{}
	}
	return m.m.spec
}

// Shape returns the number of rows and columns.
func (m Mesh) Shape() (rows, cols int) {
	if m.m == nil {
		return 0, 0
	}
	return m.m.rows, m.m.cols
}

// Set returns the set of all devices that the mesh was made of.
func (m Mesh) Set() Set {
	if m.m == nil {
		return Set{}
	}
	return m.m.all
}

// Sub returns the devices of the rows x cols rectangle that starts at the given
// row and column. Errors: *MeshError if it does not lie in the mesh.
func (m Mesh) Sub(row, col, rows, cols int) (Set, error) {
	if m.m == nil {
		return Set{}, ErrNoFleet
	}
	if row < 0 || col < 0 || rows < 0 || cols < 0 || row > m.m.rows-rows || col > m.m.cols-cols {
		return Set{}, &MeshError{First: m.m.first, Rows: rows, Cols: cols, Reason: "does not lie in the mesh"}
	}
	m.m.fleet.mu.RLock()
	defer m.m.fleet.mu.RUnlock()
	var chips []*chip
	for r := row; r < row+rows; r++ {
		chips = append(chips, m.m.chips[r*m.m.cols+col:r*m.m.cols+col+cols]...)
	}
	return m.m.fleet.setOf(chips), nil
}

// All returns the devices of the mesh row by row.
func (m Mesh) All() iter.Seq[Device] {
	return func(yield func(Device) bool) {
		if m.m == nil {
			return
		}
		for _, c := range m.m.chips {
			if !yield(Device{c}) {
				return
			}
		}
	}
}

// Registered returns the sum of Device.Registered over the mesh, as whole
// operations left it: one atomic load, no lock, no allocation.
func (m Mesh) Registered() uint64 {
	if m.m == nil {
		return 0
	}
	return m.m.registered.Load()
}

// Totals returns all figures of one moment, summed over the devices; Core is that
// of the fullest core of all, and Peak has the peaks of these sums.
func (m Mesh) Totals() Totals {
	if m.m == nil {
		return Totals{}
	}
	m.m.fleet.mu.RLock()
	defer m.m.fleet.mu.RUnlock()
	t := m.m.sum
	for _, c := range m.m.chips {
		t.Core = max(t.Core, c.shown.Core)
	}
	t.Peak = m.m.peak
	return t
}

package device

import (
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/cbl1/cbl1/l1"
)

// A Mesh is a handle to a rectangle of devices of one Spec. Handles may be copied
// and compared with ==. The zero Mesh is empty.
type Mesh struct {
	m *mesh
}

// A mesh holds the data of a Mesh. The fleet's lock guards everything that changes
// except the atomic totals.
type mesh struct {
	fleet      *Fleet
	spec       *l1.Spec
	first      ID
	rows, cols int
	chips      []chip // row by row; removed ones stay, in cohorts that count nothing
	all        Set    // the zero Set if Set makes it anew on each call
	ids        []ID   // of the fleet at the time of AddMesh

	registered atomic.Uint64 // = sum.Registered, published for lock-free reads
	resident   atomic.Uint64 // = sum.Resident

	sum     Totals // sums over the devices; without Core and Peak
	charge  uint64 // sum over the devices
	load    uint64 // sum of cohort.load over the devices
	peak    Peaks
	touched bool // by the change under way
}

// Spec returns the board of every device of the mesh.
func (m Mesh) Spec() l1.Spec {
	if m.m == nil {
		return l1.Spec{}
	}
	return *m.m.spec
}

// Shape returns the number of rows and columns.
func (m Mesh) Shape() (rows, cols int) {
	if m.m == nil {
		return 0, 0
	}
	return m.m.rows, m.m.cols
}

// Set returns the set of all devices that the mesh was made of. Once one of them is
// removed from the fleet, calls with this set are refused.
func (m Mesh) Set() Set {
	if m.m == nil {
		return Set{}
	}
	return m.m.set()
}

// set returns the set of all devices that the mesh was made of.
func (m *mesh) set() Set {
	if m.all.s != nil {
		return m.all
	}
	return m.fleet.row(m.chips[0].slot, len(m.chips), m.spec, m.ids)
}

// Sub returns the devices of the rows x cols rectangle that starts at the given
// row and column, counted from 0. Errors: ErrMesh if it does not lie in the mesh;
// ErrNoFleet if m is the zero Mesh.
func (m Mesh) Sub(row, col, rows, cols int) (_ Set, err error) {
	defer named("Sub", &err)
	if m.m == nil {
		return Set{}, ErrNoFleet
	}
	if row < 0 || col < 0 || rows < 0 || cols < 0 || row > m.m.rows-rows || col > m.m.cols-cols {
		reason := fmt.Sprintf("has no %dx%d devices at row %d, column %d", rows, cols, row, col)
		return Set{}, noMesh(m.m.first, m.m.rows, m.m.cols, reason)
	}
	m.m.fleet.mu.RLock()
	defer m.m.fleet.mu.RUnlock()
	s := &set{fleet: m.m.fleet, n: rows * cols, ids: m.m.fleet.ids, spec: m.m.spec}
	for r := row; r < row+rows; r++ {
		for c := col; c < col+cols; c++ {
			s.slots = s.slots.With(m.m.chips[r*m.m.cols+c].slot)
		}
	}
	if s.n == 0 {
		return Set{}, nil
	}
	return Set{s}, nil
}

// All returns the devices of the mesh row by row; removed ones count nothing.
func (m Mesh) All() iter.Seq[Device] {
	return func(yield func(Device) bool) {
		if m.m == nil {
			return
		}
		for i := range m.m.chips {
			if !yield(Device{&m.m.chips[i]}) {
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

// Resident returns the sum of Device.Resident over the mesh, as whole operations left
// it: one atomic load, no lock, no allocation.
func (m Mesh) Resident() uint64 {
	if m.m == nil {
		return 0
	}
	return m.m.resident.Load()
}

// Totals returns all figures of one moment, summed over the devices. Core and
// TrackedCore belong to the fullest core of all. Peak holds the peaks of these sums.
func (m Mesh) Totals() Totals {
	if m.m == nil {
		return Totals{}
	}
	m.m.fleet.mu.RLock()
	defer m.m.fleet.mu.RUnlock()
	return m.m.totals()
}

// totals is Totals under the lock.
func (m *mesh) totals() Totals {
	t := m.sum
	for i := 0; i < len(m.chips); {
		c := m.chips[i].cohort.Load()
		if i += c.n; c.state != nil {
			t.Core = max(t.Core, c.state.totals.Core)
			t.TrackedCore = max(t.TrackedCore, c.trackedNow().Core)
		}
	}
	t.Peak = m.peak
	return t
}

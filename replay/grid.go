package replay

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Where a source saw what ran, devices have no grid in the fleet. What it says of a grid
// is often assumed, or comes late, and chips may differ in it while they run the same
// programs. A grid that the source knows is kept beside the fleet: runs outside are
// judged, and not registered. Buffers live where the source says.

// grid is the size of a compute grid.
type grid struct{ cols, rows int }

// gridless returns a Spec that refuses no core.
func gridless(spec l1.Spec) l1.Spec {
	spec.Cols, spec.Rows = 0, 0
	return spec
}

// placing returns the Spec for which programs are built for a device: the size of L1_SMALL does
// not change where they lie, and devices may differ in it.
func placing(spec l1.Spec) l1.Spec {
	spec.L1Small = 0
	return spec
}

// specOf returns the Spec that a device has in the fleet.
func (s *Session) specOf(e *event.Event) l1.Spec {
	if e.Role != "" || s.source != "" {
		return gridless(e.Spec)
	}
	return e.Spec
}

// learnGrid takes in the grid of new devices, or of one that is known better now, if it
// is not that of the fleet.
func (s *Session) learnGrid(e *event.Event, n int) {
	known := e.Role == "" && s.source != "" || e.Role != "" && e.From.Grid == event.FromFile
	if !known || e.Spec.Cols <= 0 || e.Spec.Rows <= 0 {
		return
	}
	if s.grids == nil {
		s.grids = map[device.ID]grid{}
	}
	for i := range n {
		s.grids[e.Device+device.ID(i)] = grid{e.Spec.Cols, e.Spec.Rows}
	}
}

// judged returns the Spec with which programs are judged on a device.
func (s *Session) judged(d device.Device) l1.Spec {
	spec := d.Spec()
	if g, ok := s.grids[d.ID()]; ok {
		spec.Cols, spec.Rows = g.cols, g.rows
	}
	return spec
}

// onGrid refuses a program, with device.ErrGrid, on a device whose grid lies beside the
// fleet.
func (s *Session) onGrid(id program.ID, on device.ID) error {
	def := s.programs[id]
	d, err := s.fleet.Device(on)
	if g, ok := s.grids[on]; ok && def != nil && err == nil {
		for _, cb := range def.cbs {
			for r := range cb.Cores.All() {
				if int(r.End.X) >= g.cols || int(r.End.Y) >= g.rows {
					spec := s.judged(d)
					err := fmt.Errorf("core %v %w of %dx%d", r.End, device.ErrGrid, spec.Cols, spec.Rows)
					return &device.Error{About: device.AboutDevice | device.AboutProgram, Device: on, Program: id, Err: err}
				}
			}
		}
	}
	return nil
}

// allOnGrid is onGrid for some devices.
func (s *Session) allOnGrid(id program.ID, set device.Set) error {
	if len(s.grids) == 0 {
		return nil
	}
	for on := range set.All() {
		if err := s.onGrid(id, on); err != nil {
			return err
		}
	}
	return nil
}

// judge judges a program on some devices as the fleet does, or beside the grids that
// it does not have.
func (s *Session) judge(p *program.Program, set device.Set) (fit.Verdict, error) {
	v, err := s.fleet.Check(p, set)
	if err != nil || s.allOnGrid(p.ID(), set) == nil {
		return v, err
	}
	var places []fit.Place
	for id := range set.All() {
		d, err := s.fleet.Device(id)
		if err != nil {
			return v, err
		}
		places = append(places, fit.Place{Device: id, Spec: s.judged(d), Hybrid: d.Hybrid(), Buffers: slices.Collect(d.Buffers())})
	}
	return fit.Check(p, places...), nil
}

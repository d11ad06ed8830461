package source

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Where a source saw what ran, devices have no grid in the fleet. Its grids are often assumed, or come late, and
// chips may differ in them while they run the same programs. A grid that the source knows is kept beside the
// fleet: runs outside are judged, and not registered. Buffers live where the source says.

// grid is the size of a compute grid.
type grid struct{ cols, rows int }

// Gridless returns a Spec that refuses no core.
func Gridless(spec l1.Spec) l1.Spec {
	spec.Cols, spec.Rows = 0, 0
	return spec
}

// Placing returns the Spec for which programs are built for a device: the size of L1_SMALL does
// not change where they lie, and devices may differ in it.
func Placing(spec l1.Spec) l1.Spec {
	spec.L1Small = 0
	return spec
}

// Grids are the grids that devices do not have in the fleet.
type Grids map[device.ID]grid

// learn stores the grid of n new devices, or of one that is known better now, if the fleet has another one. runs:
// the source saw what ran.
func (g *Grids) learn(e *event.Event, n int, runs bool) {
	known := e.Role == "" && runs || e.Role != "" && e.From.Grid == event.FromFile
	if !known || e.Spec.Cols <= 0 || e.Spec.Rows <= 0 {
		return
	}
	if *g == nil {
		*g = Grids{}
	}
	for i := range n {
		(*g)[e.Device+device.ID(i)] = grid{e.Spec.Cols, e.Spec.Rows}
	}
}

// Of returns the Spec with which programs are judged on a device.
func (g Grids) Of(d device.Device) l1.Spec {
	spec := d.Spec()
	if own, ok := g[d.ID()]; ok {
		spec.Cols, spec.Rows = own.cols, own.rows
	}
	return spec
}

// refuse refuses a program, with device.ErrGrid, on a device whose grid lies beside the
// fleet. A program that is not defined is not refused.
func (g Grids) refuse(def *Definition, f *device.Fleet, on device.ID) error {
	own, ok := g[on]
	if !ok || def == nil {
		return nil
	}
	if _, err := f.Device(on); err != nil {
		return nil // the fleet says it
	}
	grid := l1.Spec{Cols: own.cols, Rows: own.rows}
	beyond := func(p *program.Program) bool { return !grid.HasAll(p.Cores()) }
	if c := def.parts.one; c != nil && !slices.ContainsFunc(c.Programs, beyond) { // the usual case
		return nil
	}
	for _, cb := range def.cbs {
		for r := range cb.Cores.All() {
			if int(r.End.X) >= own.cols || int(r.End.Y) >= own.rows {
				err := fmt.Errorf("core %v %w of %dx%d", r.End, device.ErrGrid, own.cols, own.rows)
				return &device.Error{About: device.AboutDevice | device.AboutProgram, Device: on, Program: def.id, Err: err}
			}
		}
	}
	return nil
}

// refuseAny is refuse for some devices.
func (g Grids) refuseAny(def *Definition, f *device.Fleet, set device.Set) error {
	if len(g) == 0 {
		return nil
	}
	for on := range set.All() {
		if err := g.refuse(def, f, on); err != nil {
			return err
		}
	}
	return nil
}

// places returns what lives on some devices.
func (g Grids) places(f *device.Fleet, set device.Set) (out []fit.Place, err error) {
	for id := range set.All() {
		d, err := f.Device(id)
		if err != nil {
			return nil, err
		}
		out = append(out, fit.Place{Device: id, Spec: g.Of(d), Hybrid: d.Hybrid(), Buffers: slices.Collect(d.Buffers())})
	}
	return out, nil
}

// Common returns the cores that all devices of a set have.
func (g Grids) Common(f *device.Fleet, set device.Set) (l1.CoreSet, error) {
	var cols, rows int
	if spec, ok := set.Spec(); ok && len(g) == 0 && spec.Cols > 0 {
		return spec.Grid().Cores(), nil
	}
	for id := range set.All() {
		d, err := f.Device(id)
		if err != nil {
			return l1.CoreSet{}, err
		}
		spec := g.Of(d)
		switch {
		case spec.Cols == 0:
			return l1.CoreSet{}, fmt.Errorf("device %d: its grid is not known: name the cores", id)
		case cols != 0 && cmp.Or(cmp.Compare(cols, spec.Cols), cmp.Compare(rows, spec.Rows)) != 0:
			return l1.CoreSet{}, fmt.Errorf("device %d: its grid is %dx%d, that of another one %dx%d: name the cores", id, spec.Cols, spec.Rows, cols, rows)
		}
		cols, rows = spec.Cols, spec.Rows
	}
	return l1.Spec{Cols: cols, Rows: rows}.Grid().Cores(), nil
}

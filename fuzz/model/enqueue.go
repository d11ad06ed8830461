package model

import (
	"maps"

	"github.com/cbl1/cbl1/program"
)

// Enqueue registers a program where it is new, checks it, and dispatches it: on all devices or
// none. It returns the devices on which it was new.
func (f *Fleet) Enqueue(p *program.Program, ids []uint64) (added []uint64, err error) {
	fresh, err := f.admit(p, ids)
	if err != nil {
		return nil, err
	}
	devices, _ := f.find(ids)
	if len(devices) == 0 {
		return nil, nil
	}
	r := f.programs[p.ID()]
	if r == nil {
		r = &registration{program: p, picture: Paint(p), on: map[*device]bool{}}
	}
	var wrong complaints
	wrong.when(!judge(r.program, devices).Fits(), ErrFit)
	wrong.when(f.floods(devices, r.writes()), ErrOverflow)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	f.programs[p.ID()] = r
	for _, d := range fresh {
		r.on[d] = true
		added = append(added, d.id)
	}
	for _, d := range devices {
		maps.Copy(d.left, r.writes())
	}
	f.settle()
	return added, nil
}

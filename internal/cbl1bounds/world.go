package main

import (
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A world is a mesh of devices in one row.
type world struct {
	*device.Fleet
	spec    l1.Spec
	mesh    device.Mesh
	all     device.Set
	devices []device.Device
	each    []device.Set
}

// devices returns a world of devices with 8x8 cores.
func devices(n int) *world { return worldOf(n, 8, 8) }

// grid returns a world of one device with so many cores, a multiple of 16.
func grid(cores int) *world { return worldOf(1, cores/16, 16) }

func worldOf(n, cols, rows int) *world {
	w := &world{Fleet: device.NewFleet(), spec: l1.N150()}
	w.spec.Cols, w.spec.Rows = cols, rows
	w.mesh = must(w.AddMesh(0, 1, n, w.spec))
	w.all = w.mesh.Set()
	for d := range w.mesh.All() {
		w.devices, w.each = append(w.devices, d), append(w.each, d.Set())
	}
	return w
}

// must returns v. The histories are legal.
func must[V any](v V, err error) V {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(fmt.Sprintf("cbl1bounds: %v", err))
	}
}

// put returns a program with one range on some cores.
func (w *world) put(id int, cores l1.CoreRangeSet, from, to int) *program.Program {
	r := l1.Range{Start: uint64(from), End: uint64(to)}
	return must(program.NewBuilder(program.ID(id)).Range(cores, r).Build(w.spec))
}

// everywhere returns a program with one range on all cores.
func (w *world) everywhere(id, from, to int) *program.Program {
	return w.put(id, w.spec.Grid(), from, to)
}

// one returns the i-th core alone, down the columns.
func (w *world) one(i int) l1.CoreRangeSet {
	x, y := uint8(i/w.spec.Rows), uint8(i%w.spec.Rows)
	return l1.Rect(x, y, x, y)
}

func (w *world) add(p *program.Program, s device.Set) { must(w.Register(p, s)) }

// nested registers n programs, each below the next one.
func (w *world) nested(n int, s device.Set) {
	for i := range n {
		w.add(w.everywhere(i, 0, 64*(i+1)), s)
	}
}

// apart registers n programs side by side: each has two boundaries.
func (w *world) apart(n int, s device.Set) {
	for i := range n {
		w.add(w.everywhere(i, 128*i, 128*i+64), s)
	}
}

// parted registers another program on each of the first n cores: so many classes.
func (w *world) parted(n int, s device.Set) {
	for i := range n {
		w.add(w.put(i, w.one(i), 0, 64*(i+1)), s)
	}
}

// own registers another program on each device.
func (w *world) own() {
	for i, s := range w.each {
		w.add(w.everywhere(i, 0, 64*(i+1)), s)
	}
}

// turns registers a program and takes it off, n times.
func (w *world) turns(n int, p *program.Program, s device.Set) (play func(), calls int) {
	return func() {
		for range n {
			w.add(p, s)
			check(w.Unregister(p.ID(), s))
		}
	}, 2 * n
}

// times does something n times.
func times(n int, do func()) (play func(), calls int) {
	return func() {
		for range n {
			do()
		}
	}, n
}

// fresh is the id of a program that no world has.
const fresh = 1 << 20

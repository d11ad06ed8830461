package main

import (
	"fmt"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
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

// worldOf returns a world of n devices with so many cores.
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

// parted registers another program on each of the first n cores: so many classes.
func (w *world) parted(n int, s device.Set) {
	for i := range n {
		w.add(w.put(i, w.one(i), 0, 64*(i+1)), s)
	}
}

// turn registers a program and takes it off: two calls.
func (w *world) turn(p *program.Program, s device.Set) func() {
	return func() {
		w.add(p, s)
		check(w.Unregister(p.ID(), s))
	}
}

const top = 1 << 20 // where buffers begin

// buffer returns an L1 buffer on some cores.
func (w *world) buffer(id int, cores l1.CoreSet, from, to int) fit.Buffer {
	return fit.Buffer{ID: fit.BufferID(id), Kind: fit.KindL1, Cores: cores, Range: l1.Range{Start: uint64(from), End: uint64(to)}}
}

// buffers allocates n buffers on all cores, side by side.
func (w *world) buffers(n int, s device.Set) {
	for i := range n {
		check(w.Allocate(w.buffer(i, w.spec.Grid().Cores(), top+64*i, top+64*i+64), s))
	}
}

// freed allocates a buffer and frees it: two calls.
func (w *world) freed(b fit.Buffer, s device.Set) func() {
	return func() {
		check(w.Allocate(b, s))
		must(w.Free(b.ID, s))
	}
}

// traced is a command trace of n programs, which is replayed.
func (w *world) traced(n int, steps, bytes growth) call {
	var id device.TraceID
	return call{
		line: tracing, steps: steps, bytes: bytes, calls: n,
		before: func() { id = must(w.BeginTrace(w.all)) },
		play: func() {
			for i := range n {
				check(w.Record(id, program.ID(i)))
			}
			check(w.EndTrace(id))
			check(w.Replay(id))
		},
	}
}

// use goes through all of a list.
func use[V any](list func(yield func(V) bool)) {
	for range list {
	}
}

// fresh is the id of a program that no world has.
const fresh = 1 << 20

package main

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// buffer returns an L1 buffer on some cores.
func (w *world) buffer(id int, cores l1.CoreSet, from, to int) fit.Buffer {
	return fit.Buffer{ID: fit.BufferID(id), Kind: fit.KindL1, Cores: cores, Range: l1.Range{Start: uint64(from), End: uint64(to)}}
}

const top = 1 << 20 // where buffers begin

// buffers allocates n buffers on all cores, side by side.
func (w *world) buffers(n int, s device.Set) {
	for i := range n {
		check(w.Allocate(w.buffer(i, w.spec.Grid().Cores(), top+64*i, top+64*i+64), s))
	}
}

// buffersOfOwn allocates n other buffers on each device.
func (w *world) buffersOfOwn(n int) {
	for d, s := range w.each {
		for i := range n {
			id := d*n + i
			check(w.Allocate(w.buffer(id, w.spec.Grid().Cores(), top+64*id, top+64*id+64), s))
		}
	}
}

// bufferOnEach allocates another buffer on each of the first n cores.
func (w *world) bufferOnEach(n int) {
	for i := range n {
		check(w.Allocate(w.buffer(i, w.one(i).Cores(), top, top+64*i+64), w.all))
	}
}

// freeing allocates a buffer and frees it, n times.
func (w *world) freeing(n int, b fit.Buffer, s device.Set) (play func(), calls int) {
	return func() {
		for range n {
			check(w.Allocate(b, s))
			must(w.Free(b.ID, s))
		}
	}, 2 * n
}

// memory are the changes of buffers.
func memory() []history {
	const line = "Allocate, Free"
	return []history{
		{line, "beside buffers", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.buffers(n, w.all)
			return w.freeing(64, w.buffer(fresh, w.spec.Grid().Cores(), top-64, top), w.all)
		}, log(), constant()},
		{line, "beside classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.bufferOnEach(n)
			return w.freeing(16, w.buffer(fresh, w.spec.Grid().Cores(), top-64, top), w.all)
		}, linear(), linear()},
		{line, "on devices alike", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			w.buffers(4, w.all)
			return w.freeing(8, w.buffer(fresh, w.spec.Grid().Cores(), top-64, top), w.all)
		}, linear(), linear()},
		{line, "on devices that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.buffersOfOwn(1)
			return w.freeing(4, w.buffer(fresh, w.spec.Grid().Cores(), top-64, top), w.all)
		}, linear(), linear()},
		{line, "of one id on devices that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			for i, s := range w.each {
				check(w.Allocate(w.buffer(fresh, w.spec.Grid().Cores(), top, top+64*i+64), s))
			}
			return func() { must(w.Free(fresh, w.all)) }, 1
		}, linear(), linear()},
		{line, "on one device after the other", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.buffers(n, w.each[0])
			return func() { w.buffers(n, w.each[1]) }, n
		}, log(), log()},
	}
}

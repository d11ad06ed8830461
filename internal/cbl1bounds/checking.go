package main

import "github.com/cbl1/cbl1/l1"

// recounting has the histories of CheckInvariants.
func recounting() []history {
	return []history{
		{"CheckInvariants", "of programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			return func() { check(w.CheckInvariants()) }, 1
		}, sorting(), linear()},
		{"CheckInvariants", "of boundaries", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.apart(n, w.all)
			return func() { check(w.CheckInvariants()) }, 1
		}, sorting(), linear()},
		{"CheckInvariants", "of classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return func() { check(w.CheckInvariants()) }, 1
		}, sorting(), sorting()},
		{"CheckInvariants", "of devices alike", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			w.nested(10, w.all)
			return func() { check(w.CheckInvariants()) }, 1
		}, linear(), linear()},
		{"CheckInvariants", "of devices that all have other buffers", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.buffersOfOwn(4)
			return func() { check(w.CheckInvariants()) }, 1
		}, sorting(), linear()},
	}
}

// judging has the judgements of programs beside the contents of devices.
func judging() []history {
	return []history{
		{"Check, Headroom, MayGrow", "beside buffers", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.buffers(n, w.all)
			p := w.everywhere(fresh, 0, 1<<20)
			return func() {
				_ = must(w.Check(p, w.all))
				must(w.Headroom(p, w.all))
			}, 1
		}, sorting(), linear()},
		{"Check, Headroom, MayGrow", "that fits beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			p := w.everywhere(fresh, 0, 64)
			return func() { _ = must(w.Check(p, w.all)) }, 1
		}, constant(), constant()},
		{"Check, Headroom, MayGrow", "on devices alike", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			w.buffers(4, w.all)
			p := w.everywhere(fresh, 0, 1<<20)
			return func() { _ = must(w.Check(p, w.all)) }, 1
		}, linear(), constant()},
		{"Check, Headroom, MayGrow", "beside other buffers on each device", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.buffersOfOwn(4)
			p := w.everywhere(fresh, 0, 1<<24)
			return func() { _ = must(w.Check(p, w.all)) }, 1
		}, sorting(), linear()},
		{"Check, Headroom, MayGrow", "beside buffers of cores that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.bufferOnEach(n)
			p := w.everywhere(fresh, 0, 1<<24)
			return func() {
				_ = must(w.Check(p, w.all))
				must(w.Headroom(p, w.all))
			}, 1
		}, product(), linear()},
	}
}

// leaving has the queries of the room that is left.
func leaving() []history {
	return []history{
		{"Room, CheckBuffer", "on cores that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			w.bufferOnEach(n)
			b := w.buffer(fresh, w.spec.Grid().Cores(), top-64, top)
			return func() {
				must(w.Room(l1.CoreSet{}, w.all))
				must(w.CheckBuffer(b, w.all))
			}, 1
		}, product(), product()},
		{"Headroom of all programs", "of cores that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			w.bufferOnEach(n)
			return func() { must(w.Headroom(nil, w.all)) }, 1
		}, product(), linear()},
		{"Room, CheckBuffer", "beside programs and buffers", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			w.buffers(n, w.all)
			return func() { must(w.Room(l1.CoreSet{}, w.all)) }, 1
		}, sorting(), sorting()},
		{"Place", "beside buffers", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.buffers(n, w.all)
			b := w.buffer(fresh, w.spec.Grid().Cores(), 0, 0)
			return func() {
				must(w.Place(b, 64, w.all))
				must(w.Free(fresh, w.all))
			}, 1
		}, sorting(), sorting()},
		{"Headroom of all programs", "of devices that all differ", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			return func() { must(w.Headroom(nil, w.all)) }, 1
		}, sorting(), linear()},
	}
}

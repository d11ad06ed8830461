package main

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
)

// here is the queried core.
func here() l1.Core { return l1.Core{X: 1, Y: 1} }

// totalling are questions for figures that are kept.
func totalling() []history {
	return []history{
		{"a total", "beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			return times(64, func() {
				_ = w.devices[1].Registered() + w.mesh.Registered() + w.devices[1].Resident() + w.mesh.Resident()
			})
		}, constant(), none()},
		{"a total", "of classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return times(64, func() { _ = w.devices[0].Registered() + w.mesh.Registered() })
		}, constant(), none()},
		{"a total", "of devices that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			return times(64, func() { _ = w.devices[n-1].Registered() + w.mesh.Registered() })
		}, constant(), none()},
		{"Totals", "of a device", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			return times(64, func() { w.devices[n-1].Totals() })
		}, constant(), none()},
		{"Totals", "of a mesh", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			return times(64, func() { w.mesh.Totals() })
		}, linear(), none()},
	}
}

// looking are questions for a core.
func looking() []history {
	return []history{
		{"Core, Regions", "beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			return times(64, func() { w.devices[0].Core(here()) })
		}, constant(), none()},
		{"Core, Regions", "beside classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return times(64, func() { w.devices[0].Core(here()) })
		}, constant(), none()},
		{"Core, Regions", "with regions", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.apart(n, w.all)
			return times(8, func() { use(w.devices[0].Regions(here())) })
		}, linear(), linear()},
		{"behind another device", "by programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(3) // the last one stays behind, and keeps the content there
			w.nested(n, w.each[0])
			w.nested(7*n/8, w.each[1]) // far from the contents that are kept on the way
			return func() { w.devices[1].Core(here()) }, 1
		}, sorting(), sorting()},
		{"behind another device", "by programs and asked before", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(3) // the last one stays behind, and keeps the content there
			w.nested(n, w.each[0])
			w.nested(7*n/8, w.each[1]) // far from the contents that are kept on the way
			w.devices[1].Core(here())
			return times(64, func() { w.devices[1].Core(here()) })
		}, constant(), none()},
		{"Programs, Owners", "of many", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			return times(4, func() {
				use(w.devices[1].Programs())
				use(w.devices[1].Owners(here(), 0))
				use(w.Programs())
			})
		}, sorting(), linear()},
	}
}

// laying are questions for all that lies in L1, laid over each other.
func laying() []history {
	return []history{
		{"Usage, Moment", "of buffers", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.buffers(n, w.all)
			d := w.devices[0]
			return func() {
				d.Usage(device.BasisRegistered)
				use(d.Moment().UsageGroups())
			}, 1
		}, sorting(), sorting()},
		{"Usage, Moment", "of programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			d := w.devices[0]
			return func() { d.Usage(device.BasisRegistered) }, 1
		}, sorting(), sorting()},
		{"Usage, Moment", "of cores that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			w.bufferOnEach(n)
			d := w.devices[0]
			return func() {
				d.Usage(device.BasisRegistered)
				d.Glance().Fullest()
				d.Glance().LeastHeadroom()
			}, 1
		}, product(), sorting()},
	}
}

// picturing are snapshots.
func picturing() []history {
	return []history{
		{"Snapshot", "of devices alike", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			w.nested(10, w.all)
			return func() { w.Snapshot() }, 1
		}, sorting(), linear()},
		{"Snapshot", "of devices that all differ", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			return func() { w.Snapshot() }, 1
		}, sorting(), linear()},
		{"Snapshot", "of programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			return func() { w.Snapshot() }, 1
		}, sorting(), linear()},
		{"Snapshot", "of classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return func() { w.Snapshot() }, 1
		}, sorting(), sorting()},
		{"Snapshot", "of regions", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.apart(n, w.all)
			return func() { w.Snapshot() }, 1
		}, sorting(), linear()},
	}
}

// use goes through all of a list.
func use[V any](list func(yield func(V) bool)) {
	for range list {
	}
}

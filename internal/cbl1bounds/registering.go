package main

import "github.com/cbl1/cbl1/program"

const change = "Register, Unregister, Replace"

// registering are the changes of devices that are alike.
func registering() []history {
	return []history{
		{change, "beside nested programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			return w.turns(64, w.everywhere(fresh, 0, 32*n), w.all)
		}, log(), constant()},
		{change, "of the largest of nested programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			return w.turns(64, w.everywhere(fresh, 0, 64*n+64), w.all)
		}, log(), constant()},
		{change, "beside boundaries", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.apart(n, w.all)
			return w.turns(64, w.everywhere(fresh, 64*n, 64*n+320), w.all)
		}, log(), constant()},
		{change, "by another size beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			two := [2]*program.Program{w.everywhere(fresh, 0, 32*n), w.everywhere(fresh, 0, 16*n)}
			w.add(two[0], w.all)
			i := 0
			return times(64, func() { i++; must(w.Replace(fresh, two[i%2])) })
		}, log(), constant()},
		{change, "on classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return w.turns(16, w.everywhere(fresh, 0, 64*n+64), w.all)
		}, linear(), linear()},
		{change, "on devices alike", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			return w.turns(16, w.everywhere(fresh, 0, 64), w.all)
		}, linear(), linear()},
		{change, "on one of many devices", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			return w.turns(16, w.everywhere(fresh, 0, 64), w.each[n-1])
		}, constant(), constant()},
		{change, "on devices that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			return w.turns(8, w.everywhere(fresh, 32, 64*n), w.all)
		}, linear(), linear()},
	}
}

// coming are devices that come and go.
func coming() []history {
	return []history{
		{"AddMesh, Remove", "of devices", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			return func() {
				m := must(w.AddMesh(1, 1, n, w.spec))
				w.nested(4, m.Set())
				check(w.Remove(m.Set()))
			}, 1
		}, linear(), linear()},
		{"AddMesh, Remove", "beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			return func() { check(w.Remove(w.each[0])) }, 1
		}, linear(), linear()},
		{"AddMesh, Remove", "of devices that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			w.buffersOfOwn(1)
			return func() { check(w.Remove(w.all)) }, 1
		}, linear(), linear()},
	}
}

// parting are classes that are cut, joined and compared.
func parting() []history {
	return []history{
		{"cutting a class", "of programs side by side", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.apart(n, w.all)
			p := w.put(fresh, w.one(9), 64*n, 64*n+320)
			return func() { w.add(p, w.all) }, 1
		}, log(), linear()},
		{"joining classes", "beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.apart(n, w.all)
			return w.turns(64, w.put(fresh, w.one(9), 64*n, 64*n+320), w.all)
		}, log(), linear()},
		{"joining classes", "beside classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n-1, w.all)
			return w.turns(4*n, w.put(fresh, w.one(n-1), 0, 64), w.all)
		}, constant(), constant()},
		{"the fullest core", "that loses bytes beside classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return w.turns(4*n, w.put(fresh, w.one(0), 0, 64*n+64), w.all)
		}, linear(), constant()},
		{"high-water marks of cores", "that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			i := 0
			return times(8*n, func() { // each time another core, and more than it ever had
				p := w.put(fresh, w.one(i%n), 0, 128*n+64*i)
				i++
				w.add(p, w.all)
				w.UnregisterAll(fresh)
			})
		}, edges(), edges()},
	}
}

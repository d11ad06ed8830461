package main

// sharing are the changes of devices one after the other.
func sharing() []history {
	return []history{
		{"after another device", "with programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.each[0])
			return func() { w.nested(n, w.each[1]) }, n
		}, constant(), constant()},
		{"after another device", "with classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := worldOf(2, n/16, 16)
			w.parted(n, w.all)
			p := w.everywhere(fresh, 0, 64*n+64)
			w.add(p, w.each[0])
			return func() { w.add(p, w.each[1]) }, 1
		}, constant(), constant()},
		{"in another direction", "with programs", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			p, q := w.everywhere(fresh, 0, 64), w.everywhere(fresh+1, 0, 64)
			return func() { // they part and meet, as often as there are programs
				for range n {
					w.add(p, w.each[0])
					w.add(q, w.each[1])
					w.UnregisterAll(fresh)
					w.UnregisterAll(fresh + 1)
				}
			}, 4 * n
		}, log(), linear()},
		{"the most for one call", "in another direction", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			w.add(w.everywhere(fresh, 0, 64), w.each[0])
			p := w.everywhere(fresh+1, 0, 64)
			return func() { w.add(p, w.each[1]) }, 1
		}, sorting(), linear()},
		{"in another direction", "with classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := worldOf(2, n/16, 16)
			w.parted(n, w.all)
			w.add(w.put(fresh, w.one(0), 0, 64), w.each[0])
			p := w.put(fresh+1, w.one(1), 0, 64)
			return func() { w.add(p, w.each[1]) }, 1
		}, linear(), linear()},
		{"in another direction", "from where devices passed", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(3) // the last one stays behind, and keeps the content there
			w.nested(n, w.each[0])
			w.nested(7*n/8, w.each[1]) // far from the contents that are kept on the way
			p := w.everywhere(fresh, 0, 64)
			return func() { w.add(p, w.each[1]) }, 1
		}, sorting(), sorting()},
		{"meeting by another way", "with programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(2)
			w.nested(n, w.all)
			p, q := w.everywhere(fresh, 0, 64), w.everywhere(fresh+1, 0, 64)
			w.add(p, w.each[0])
			w.add(q, w.each[1])
			w.add(q, w.each[0])
			return func() { w.add(p, w.each[1]) }, 1
		}, linear(), linear()},
	}
}

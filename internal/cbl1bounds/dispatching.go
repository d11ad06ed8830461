package main

import "github.com/cbl1/cbl1/program"

// dispatching has the changes of resident programs.
func dispatching() []history {
	const line = "Dispatch, Enqueue, Replay"
	return []history{
		{line, "in turn beside programs", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			i := 0
			return times(64, func() { i++; check(w.Dispatch(program.ID(i%2), w.all)) })
		}, constant(), constant()},
		{line, "of programs that fit beside buffers", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(1)
			w.buffers(n, w.all)
			two := [2]*program.Program{w.everywhere(0, 200_000, 200_064), w.everywhere(1, 200_000, 200_128)}
			for range 2 {
				for _, p := range two {
					must(w.Enqueue(p, w.all))
				}
			}
			i := 0
			return times(64, func() { i++; must(w.Enqueue(two[i%2], w.all)) })
		}, constant(), constant()},
		{line, "on devices alike", [2]int{512, 4096}, func(n int) (func(), int) {
			w := devices(n)
			w.nested(2, w.all)
			i := 0
			return times(16, func() { i++; check(w.Dispatch(program.ID(i%2), w.all)) })
		}, linear(), constant()},
		{line, "of ever new programs over cores that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			for i := range n {
				check(w.Dispatch(program.ID(i), w.all))
			}
			i := 0
			return times(16, func() {
				i++
				w.add(w.put(fresh+i, w.one(i), 0, 32), w.all)
				check(w.Dispatch(program.ID(fresh+i), w.all))
			})
		}, linear(), linear()},
		{line, "on devices that all differ", [2]int{64, 512}, func(n int) (func(), int) {
			w := devices(n)
			w.own()
			for i, s := range w.each {
				check(w.Dispatch(program.ID(i), s))
			}
			p := w.everywhere(fresh, 0, 64)
			w.add(p, w.all)
			return func() { check(w.Dispatch(fresh, w.all)) }, 1
		}, linear(), linear()},
	}
}

// tracing are command traces.
func tracing() []history {
	const line = "Record, EndTrace"
	return []history{
		{line, "of programs", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(1)
			w.nested(n, w.all)
			return w.traced(n), n
		}, log(), log()},
		{line, "of programs on cores of their own", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			return w.traced(n), n
		}, linear(), linear()},
	}
}

// traced records n programs in a trace, and replays it.
func (w *world) traced(n int) func() {
	id := must(w.BeginTrace(w.all))
	return func() {
		for i := range n {
			check(w.Record(id, program.ID(i)))
		}
		check(w.EndTrace(id))
		check(w.Replay(id))
	}
}

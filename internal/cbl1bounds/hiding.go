package main

import (
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// far registers n programs that lie side by side on seven columns, and reach far on the last.
func (w *world) far(n int) {
	for i := range n {
		low, far := uint64(64*i), uint64(900_000+64*i)
		w.add(must(program.NewBuilder(program.ID(i)).
			Range(l1.Rect(0, 0, 6, 7), l1.Range{Start: low, End: low + 32}).
			Range(l1.Rect(7, 0, 7, 7), l1.Range{End: far}).Build(w.spec)), w.all)
	}
}

// hiding are the searches for what gaps uncover.
func hiding() []history {
	return []history{
		{"searching hidden programs", "that reach far on other cores", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(1)
			w.far(n)
			return w.turns(8*n, w.everywhere(fresh, 0, 1_000_000), w.all)
		}, log(), log()},
		{"searching hidden programs", "that leave a gap each", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(1)
			w.add(w.everywhere(fresh, 0, 1_000_000), w.all)
			w.apart(n, w.all)
			w.UnregisterAll(fresh)
			return w.turns(8*n, w.everywhere(fresh, 0, 1_000_000), w.all)
		}, log(), log()},
		{"the most for one call", "with hidden programs", [2]int{128, 1024}, func(n int) (func(), int) {
			w := devices(1)
			w.add(w.everywhere(fresh, 0, 1_000_000), w.all)
			w.far(n)
			return func() { w.UnregisterAll(fresh) }, 1
		}, sorting(), linear()},
		{"the most for one call", "with hidden programs on classes", [2]int{64, 512}, func(n int) (func(), int) {
			w := grid(n)
			w.parted(n, w.all)
			w.add(w.everywhere(fresh, 0, 1_000_000), w.all)
			for i := range 100 {
				w.add(w.everywhere(fresh+1+i, 64*n+128*i, 64*n+128*i+64), w.all)
			}
			return func() { w.UnregisterAll(fresh) }, 1
		}, linear(), linear()},
	}
}

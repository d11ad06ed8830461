package classes

import (
	"sync"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/program"
)

// A live set holds the programs of a content, by the marks of their first groups. A
// search for a gap visits the farthest-reaching programs first. Their order is made
// when a class searches, or when the set is copied, and dropped after many changes
// without a search. So each program in it is paid for by a change. A copy of the
// order costs nothing: nodes are copied when they change.
type live struct {
	marks
	n int

	mu     sync.Mutex          // a copy writes to the original, also for those who only read
	order  *btree.BTreeG[rank] // nil until it is needed
	idle   int                 // changes since the order was needed
	looked int                 // programs that searches visited; tests count them
}

// rank is the place of a program in the order of a live set. The reach is copied
// here, so that most comparisons do not read the program.
type rank struct {
	reach uint64
	r     *Holder
}

const (
	// liveDegree is the degree of the trees, measured: smaller nodes make changes
	// after a copy cheaper.
	liveDegree = 16
	// fewPrograms is how many programs are ordered for nothing.
	fewPrograms = 16
	// worthOrdering is how many changes without a search, for each program, an order
	// is kept.
	worthOrdering = 4
)

func byReach(a, b rank) bool {
	if a.reach != b.reach {
		return a.reach < b.reach
	}
	return a.r.Serial < b.r.Serial
}

func (l *live) put(r *Holder) {
	l.marks.put(r.mark)
	l.n++
	if l.change() {
		l.order.ReplaceOrInsert(rank{r.reach, r})
	}
}

func (l *live) drop(r *Holder) {
	l.marks.drop(r.mark)
	l.n--
	if l.change() {
		l.order.Delete(rank{r.reach, r})
	}
}

// change reports whether there is an order that has to follow a change.
func (l *live) change() bool {
	if l.idle++; l.idle > worthOrdering*(l.n+fewPrograms) {
		l.order = nil
	}
	return l.order != nil
}

// sort makes the order, if there is none. o is the roster of the programs.
func (l *live) sort(o *Roster) {
	l.idle = 0
	if l.order != nil {
		return
	}
	l.order = btree.NewG(liveDegree, byReach)
	l.looked += l.n
	for number := range l.Bits.All() {
		r := o.At(number)
		l.order.ReplaceOrInsert(rank{r.reach, r})
	}
}

// clone returns an independent copy. o is the roster of the programs.
func (l *live) clone(o *Roster) *live {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := &live{marks: marks{l.Bits.Clone(), l.Hash}, n: l.n}
	if l.n > fewPrograms {
		l.sort(o)
		out.order = l.order.Clone()
	}
	return out
}

// search calls yield for each program of an ordered set, the farthest-reaching first,
// until it returns false. It writes to l: see looked.
func (l *live) search(yield func(*Holder) bool) {
	l.order.Descend(func(at rank) bool {
		l.looked++
		return yield(at.r)
	})
}

// reach returns the end of the highest range of a footprint.
func reach(f program.Footprint) (end uint64) {
	for i := range f.NumGroups() {
		g := f.Group(i)
		end = max(end, endOf(g))
	}
	return end
}

// endOf returns the end of the highest range of a group.
func endOf(g program.Group) uint64 { return g.Range(g.NumRanges() - 1).End }

package classes

import (
	"sync"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/program"
)

// A live set is the programs of a content, by the marks of their first groups. Where a gap opens
// on a class that has many of them, the farthest-reaching are looked at first. The order of how
// far they reach is made when it is needed: when a class searches, or when the set is copied. It is
// given back after many changes without a search. So each program in it is paid for by a change, and a
// copy of it costs nothing: what is changed afterwards is copied then.
type live struct {
	marks
	n int

	mu     sync.Mutex              // a copy writes to the original, also for those who only read
	order  *btree.BTreeG[reaching] // nil while nobody needs it
	idle   int                     // changes since the order was needed
	looked int                     // programs that were looked at; tests count them
}

// reaching is a program in a live set. How far it reaches stands beside it, so that most
// comparisons do not look at the program.
type reaching struct {
	reach uint64
	r     *Holder
}

const (
	// liveDegree is that of the trees, measured: smaller ones copy less behind a copy.
	liveDegree = 16
	// fewPrograms is how many programs are ordered for nothing.
	fewPrograms = 16
	// worthOrdering is how many changes without a search, for each program, an order is kept.
	worthOrdering = 4
)

func byReach(a, b reaching) bool {
	if a.reach != b.reach {
		return a.reach < b.reach
	}
	return a.r.Serial < b.r.Serial
}

func (l *live) put(r *Holder) {
	l.marks.put(r.mark)
	l.n++
	if l.change() {
		l.order.ReplaceOrInsert(reaching{r.reach, r})
	}
}

func (l *live) drop(r *Holder) {
	l.marks.drop(r.mark)
	l.n--
	if l.change() {
		l.order.Delete(reaching{r.reach, r})
	}
}

// change reports whether there is an order that has to follow a change.
func (l *live) change() bool {
	if l.idle++; l.idle > worthOrdering*(l.n+fewPrograms) {
		l.order = nil
	}
	return l.order != nil
}

// sort makes the order, if there is none. o is whose numbers the programs have.
func (l *live) sort(o *Roster) {
	l.idle = 0
	if l.order != nil {
		return
	}
	l.order = btree.NewG(liveDegree, byReach)
	l.looked += l.n
	for number := range l.Bits.All() {
		r := o.At(number)
		l.order.ReplaceOrInsert(reaching{r.reach, r})
	}
}

// clone returns an independent copy. o is whose numbers the programs have.
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

// search calls yield for each program of a set that is in order, the farthest-reaching first, until
// it returns false. It writes to l: see looked.
func (l *live) search(yield func(*Holder) bool) {
	l.order.Descend(func(at reaching) bool {
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

package device

import (
	"sync"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/program"
)

// A live set is the programs of a content by how far they reach, and then by when they
// came: where a gap opens, the farthest-reaching are looked at first. A copy of it costs
// nothing, and what is changed afterwards is copied then.
type live struct {
	mu     sync.Mutex // a copy writes to the original, also for those who only read
	tree   *btree.BTreeG[reaching]
	looked int // programs that searches have looked at; tests count them
}

// reaching is a program in a live set. How far it reaches stands beside it, so that most
// comparisons do not look at the program.
type reaching struct {
	reach uint64
	r     *registration
}

// liveDegree is that of the trees, measured: smaller ones copy less behind a copy.
const liveDegree = 16

func byReach(a, b reaching) bool {
	if a.reach != b.reach {
		return a.reach < b.reach
	}
	return a.r.serial < b.r.serial
}

func newLive() *live { return &live{tree: btree.NewG(liveDegree, byReach)} }

func (l *live) put(r *registration)  { l.tree.ReplaceOrInsert(reaching{r.reach, r}) }
func (l *live) drop(r *registration) { l.tree.Delete(reaching{r.reach, r}) }
func (l *live) len() int             { return l.tree.Len() }

// clone returns an independent copy.
func (l *live) clone() *live {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &live{tree: l.tree.Clone()}
}

// search calls yield for each program, the farthest-reaching first, until it returns
// false. It writes to l: see looked.
func (l *live) search(yield func(*registration) bool) {
	l.tree.Descend(func(at reaching) bool {
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

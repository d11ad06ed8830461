package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// overlay lists the cores that hold something else than on the old side, grouped by their old and new contents:
// the largest change comes first. A core in no group holds nothing.
func overlay(old, new []answer.CoreGroup) []Group {
	nothing := &answer.CoreGroup{}
	held := map[l1.Core]Pair[*answer.CoreGroup]{}
	var order []l1.Core
	for i := range old {
		for c := range old[i].Cores.All() {
			held[c] = Pair[*answer.CoreGroup]{&old[i], nothing}
			order = append(order, c)
		}
	}
	for i := range new {
		for c := range new[i].Cores.All() {
			p, ok := held[c]
			if !ok {
				p.Old = nothing
				order = append(order, c)
			}
			p.New = &new[i]
			held[c] = p
		}
	}
	type join struct{ old, new string }
	keys := map[*answer.CoreGroup]string{}
	key := func(g *answer.CoreGroup) string {
		if keys[g] == "" {
			keys[g] = fmt.Sprint(g.Registered, g.AlivePeak, g.Regions)
		}
		return keys[g]
	}
	var changes [][]l1.Core
	at := map[join]int{}
	for _, c := range order {
		if k := (join{key(held[c].Old), key(held[c].New)}); k.old != k.new {
			cores := fold.At(at, &changes, k)
			*cores = append(*cores, c)
		}
	}
	out := []Group{}
	for _, cores := range changes {
		out = append(out, groupOf(held[cores[0]], l1.CoreSetOf(cores...)))
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(distance(b.Registered), distance(a.Registered)), cmp.Compare(distance(b.AlivePeak), distance(a.AlivePeak)))
	})
	return out
}

// overlayPeaks lists the cores that held something else at the peak of their device. It returns nil if a side does
// not know the contents of other cores at that moment.
func overlayPeaks(old, new *deviceRow) (out []LaidGroup) {
	if old.laid == nil || new.laid == nil {
		return nil
	}
	out = []LaidGroup{}
	for _, g := range overlay(old.laid, new.laid) {
		out = append(out, LaidGroup{g.Cores, g.Count, g.Registered})
	}
	return out
}

func groupOf(p Pair[*answer.CoreGroup], cores l1.CoreSet) Group {
	g := Group{
		Cores: cores, Count: cores.Len(), Registered: Pair[uint64]{p.Old.Registered, p.New.Registered},
		AlivePeak: Pair[uint64]{p.Old.AlivePeak, p.New.AlivePeak}, End: Pair[uint64]{end(p.Old.Regions), end(p.New.Regions)},
	}
	g.State = stateOf(g.Registered.Old, g.Registered.New, false)
	if g.State == Moved {
		g.State = stateOf(g.AlivePeak.Old, g.AlivePeak.New, false)
	}
	return g
}

func end(regions []l1.Range) uint64 {
	if len(regions) == 0 {
		return 0
	}
	return regions[len(regions)-1].End
}

func distance(p Pair[uint64]) uint64 { return max(p.Old, p.New) - min(p.Old, p.New) }

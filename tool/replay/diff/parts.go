package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff/internal/align"
)

// parts lists the differences between two lists of residents: the largest change comes first. Residents of one
// operation are matched in their order, whatever lies between them.
func (c *comparison) parts(old, new []resident) []Resident {
	old, new = sorted(old), sorted(new)
	out := []Resident{}
	type change struct {
		state    State
		kind     fit.Kind
		op       answer.Name
		cb       event.Opt[int]
		old, new uint64
	}
	known := map[change]int{}
	for _, p := range c.aligner.Align(residentItems(old), residentItems(new)) {
		var one Resident
		var key change
		var x, y resident
		if p.New != align.None {
			y = new[p.New]
			one.New, key.new = y.extent(), y.size
			x = y
		}
		if p.Old != align.None {
			x = old[p.Old]
			one.Old, key.old = x.extent(), x.size
		}
		one.State = pairState(p, x.size, y.size, x == y)
		if one.State == Same {
			continue
		}
		one.Kind, one.Op, one.CB, one.Times = x.kind, x.op, x.cb, 1
		key.state, key.kind, key.op, key.cb = one.State, x.kind, x.op, x.cb
		row := fold.At(known, &out, key)
		if row.Times++; row.Times == 1 {
			*row = one
		}
	}
	slices.SortStableFunc(out, func(a, b Resident) int { return cmp.Compare(size(b.Change()), size(a.Change())) })
	return out
}

// Change returns the bytes by which each of the parts grew; it is negative if they shrank. A missing part has 0
// bytes.
func (p Resident) Change() int64 {
	return grown(p.Old, p.New, func(e *Extent) uint64 { return e.Bytes })
}

func (x resident) extent() *Extent {
	return &Extent{event.Opt[uint64]{V: x.r.Start, OK: x.known}, x.size}
}

// sorted orders residents by their names, and keeps the order within a name.
func sorted(all []resident) []resident {
	out := slices.Clone(all)
	for i := range out {
		out[i].name = out[i].kind.Name() + " " + strconv.Quote(string(out[i].op)) + " " + strconv.Itoa(out[i].cb.Or(align.None))
	}
	slices.SortStableFunc(out, func(a, b resident) int { return strings.Compare(a.name, b.name) })
	return out
}

func residentItems(all []resident) (out []align.Item) {
	for _, x := range all {
		out = append(out, align.NewItem(x.name, "|"+strconv.Quote(x.inside), fmt.Sprintf("|%d", x.size), fmt.Sprintf("|%t %d-%d", x.known, x.r.Start, x.r.End)))
	}
	return out
}

package render

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A folded is a row, or several that have the same key.
type folded[T any] struct {
	first T
	count int
}

// foldRows counts rows with equal keys, in order of the first ones.
func foldRows[T any, K comparable](rows iter.Seq[T], key func(T) K) (out []folded[T]) {
	at := map[K]int{}
	for row := range rows {
		one := fold.At(at, &out, key(row))
		if one.count == 0 {
			one.first = row
		}
		one.count++
	}
	return out
}

// writePrograms writes a table of programs per device, equal devices folded.
func writePrograms(page *page, r *answer.Result) {
	folds := foldDevices(r.Devices, namedDevice, func(d *answer.Device) string {
		var key strings.Builder
		for p := range programsOf(r, d) {
			fmt.Fprintf(&key, "%+v\n", p.WithoutNodes())
		}
		return key.String()
	})
	for _, f := range folds {
		rows := foldRows(programsOf(r, f.first), answer.ProgramDetail.WithoutNodes)
		slices.SortStableFunc(rows, func(a, b folded[answer.ProgramDetail]) int { return -cmp.Compare(a.first.Core, b.first.Core) })
		if len(rows) == 0 {
			continue
		}
		writeProgramTable(page, f.where(), rows)
	}
}

// writeProgramTable leaves out columns that would say the same in every row.
func writeProgramTable(page *page, where string, rows []folded[answer.ProgramDetail]) {
	repeated := slices.ContainsFunc(rows, func(p folded[answer.ProgramDetail]) bool { return p.count > 1 })
	shared := slices.ContainsFunc(rows, func(p folded[answer.ProgramDetail]) bool { return p.first.Logical != p.first.Bytes })

	title := fmt.Sprintf("programs of %s, largest per core first; CBs are local+global", where)
	head := []string{"<nodes"}
	if repeated {
		title += "; nodes are those of the first of equal ones"
		head = append(head, "times")
	}
	head = append(head, "CBs", "cores", "per core", "sum")
	if shared {
		head = append(head, "logical")
	}
	head = append(head, "end", "<operation")
	t := headed(head...)
	for _, row := range rows {
		p := row.first
		cells := []any{nodeRange(p)}
		if repeated {
			cells = append(cells, row.count)
		}
		cells = append(cells, fmt.Sprintf("%d+%d", p.LocalCBs, p.GlobalCBs), p.Cores, p.Core, p.Bytes)
		if shared {
			cells = append(cells, p.Logical)
		}
		t.named(func(n int) string {
			if p.Overlapping {
				return opName(p.Op, n) + " (CBs share bytes)"
			}
			return opName(p.Op, n)
		}, append(cells, p.HighestEnd)...)
	}
	page.table(title, t)
}

func nodeRange(p answer.ProgramDetail) string {
	switch {
	case p.First == p.Last && p.T != "":
		return fmt.Sprintf("%d (t %s)", p.First, p.T)
	case p.First == p.Last:
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// programsOf returns the programs of a device that are shown.
func programsOf(r *answer.Result, d *answer.Device) iter.Seq[answer.ProgramDetail] {
	return func(yield func(answer.ProgramDetail) bool) {
		for _, p := range d.ProgramsDetail.All() {
			if r.Only.HasOp(p.Op) && !yield(p) {
				return
			}
		}
	}
}

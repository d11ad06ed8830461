package report

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/replay"
)

// A programRow is a program, or several that differ in their nodes alone.
type programRow struct {
	replay.ProgramDetail // of the first one
	count                int
}

// foldPrograms puts equal programs together: the largest on a core first, equally
// large ones by their first node.
func foldPrograms(programs iter.Seq[replay.ProgramDetail]) []programRow {
	var rows []programRow
	at := map[replay.ProgramDetail]int{}
	for p := range programs {
		key := p
		key.First, key.Last, key.T = 0, 0, ""
		if i, ok := at[key]; ok {
			rows[i].count++
			continue
		}
		at[key] = len(rows)
		rows = append(rows, programRow{p, 1})
	}
	slices.SortStableFunc(rows, func(a, b programRow) int { return -cmp.Compare(a.Core, b.Core) })
	return rows
}

// writePrograms writes a table of programs per device, equal devices folded.
func writePrograms(page *page, r *replay.Result) {
	folds := foldDevices(r.Devices, func(d *replay.Device) string {
		var key strings.Builder
		for p := range programsOf(r, d) {
			p.First, p.Last, p.T = 0, 0, ""
			fmt.Fprintf(&key, "%+v\n", p)
		}
		return key.String()
	})
	for _, f := range folds {
		rows := foldPrograms(programsOf(r, f.first))
		if len(rows) == 0 {
			continue
		}
		writeProgramTable(page, f.where(), rows)
	}
}

// writeProgramTable leaves out columns that would say the same in every row.
func writeProgramTable(page *page, where string, rows []programRow) {
	repeated := slices.ContainsFunc(rows, func(p programRow) bool { return p.count > 1 })
	shared := slices.ContainsFunc(rows, func(p programRow) bool { return p.Logical != p.Bytes })

	title := fmt.Sprintf("programs of %s, largest per core first; CBs are local+global", where)
	head := []string{"nodes"}
	if repeated {
		title += "; nodes are those of the first of equal ones"
		head = append(head, "times")
	}
	head = append(head, "CBs", "cores", "per core", "sum")
	if shared {
		head = append(head, "logical")
	}
	head = append(head, "end", "operation")
	t := table{left: map[int]bool{0: true, len(head) - 1: true}, most: 60}
	t.add(head...)
	for _, p := range rows {
		cells := []string{nodeRange(p.ProgramDetail)}
		if repeated {
			cells = append(cells, grouped(p.count))
		}
		cells = append(cells, fmt.Sprintf("%d+%d", p.LocalCBs, p.GlobalCBs), grouped(p.Cores), grouped(p.Core), grouped(p.Bytes))
		if shared {
			cells = append(cells, grouped(p.Logical))
		}
		t.named(func(n int) string {
			if p.Overlapping {
				return opName(p.Op, n) + " (CBs share bytes)"
			}
			return opName(p.Op, n)
		}, append(cells, grouped(p.HighestEnd))...)
	}
	page.table(title, t, "")
}

func nodeRange(p replay.ProgramDetail) string {
	switch {
	case p.First == p.Last && p.T != "":
		return fmt.Sprintf("%d (t %s)", p.First, p.T)
	case p.First == p.Last:
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

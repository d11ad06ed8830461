package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A coreRow is a group of cores, or several that differ in the number of programs
// alone.
type coreRow struct {
	answer.CoreGroup
	fewest, most int // programs
}

func foldCores(groups []answer.CoreGroup) []coreRow {
	var rows []coreRow
	at := map[string]int{}
	for _, g := range groups {
		row := fold.At(at, &rows, fmt.Sprint(g.Registered, g.AlivePeak, g.Regions))
		if row.Cores.IsEmpty() {
			row.fewest = g.Programs
		}
		g.Cores = row.Cores.Union(g.Cores)
		row.CoreGroup, row.fewest, row.most = g, min(row.fewest, g.Programs), max(row.most, g.Programs)
	}
	slices.SortStableFunc(rows, func(a, b coreRow) int {
		return -cmp.Or(cmp.Compare(a.Registered, b.Registered), cmp.Compare(a.AlivePeak, b.AlivePeak))
	})
	return rows
}

// writeCores writes a table of groups of cores per device, equal devices folded.
func writeCores(page *page, r *answer.Result) {
	folds := foldDevices(r.Devices, namedDevice, func(d *answer.Device) string { return fmt.Sprint(d.CoreGroups) })
	for _, f := range folds {
		rows := foldCores(f.first.CoreGroups)
		if len(rows) == 0 {
			continue
		}
		t := headed("registered", "alive peak", "highest end", "regions", "programs", "cores", "<which")
		for _, g := range rows {
			var end uint64
			if n := len(g.Regions); n > 0 {
				end = g.Regions[n-1].End
			}
			programs := grouped(g.most)
			if g.fewest < g.most {
				programs = grouped(g.fewest) + ".." + programs
			}
			t.add(g.Registered, g.AlivePeak, end, len(g.Regions), programs, g.Cores.Len(), g.Cores)
		}
		page.table(fmt.Sprintf("cores of %s, fullest first; bytes are those of each core", f.where()), t)
	}
}

// coreRanges lists the rectangles of a set as tt-metal writes them.
func coreRanges(cores l1.CoreSet) string {
	const most = 4
	var out []string
	ranges := cores.Ranges()
	for r := range ranges.All() {
		if len(out) == most {
			return strings.Join(out, ", ") + fmt.Sprintf(", %s (%d ranges)", shown.Ellipsis, ranges.Len())
		}
		out = append(out, r.String())
	}
	return strings.Join(out, ", ")
}

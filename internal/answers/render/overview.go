package render

import (
	"cmp"
	"io"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/answers/compare"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// OverviewJSON writes all that a page shows of some captures, judged on some terms, and, unless it is nil, of a
// comparison, as one line of JSON in ASCII. Devices that are equal but for their nodes are
// there once, and so are programs. Its rows are those of the other documents; how they are
// put together may change with each version. A list has at
// most so many rows, and says how many it leaves out: of programs, the largest on a core stay. Where devices differ,
// so few moments of each stay, however many rows they have.
// Results should come of Options with Buffers, Groups, Timeline and Moments; what is not there is
// left out.
func OverviewJSON(w io.Writer, results []*replay.Result, terms replay.Terms, d *compare.Diff, most, few int) error {
	out := jsonOverview{Captures: []jsonCapture{}}
	for _, r := range results {
		out.Captures = append(out.Captures, newOverview(r, terms, most, few))
	}
	if d != nil {
		out.Diff = newDiffOverview(d, most)
	}
	return writeJSON(w, out)
}

type jsonOverview struct {
	Captures []jsonCapture     `json:"captures"`
	Diff     *jsonDiffOverview `json:"diff"`
}

type jsonCapture struct {
	Log          bool                 `json:"log"` // nodes are events
	Report       replay.ReportHead    `json:"report"`
	Check        replay.CheckDocument `json:"check"`
	Alike        []jsonAlike          `json:"alike"`
	Programs     []jsonProgramRow     `json:"programs"`
	ProgramsMore int                  `json:"programs_more"`
	Placed       [][]jsonPlaced       `json:"placed"`
	Meshes       []replay.MeshLayout  `json:"mesh_layouts"`

	Laid      []jsonLaid          `json:"laid"`      // what lay on some cores, each once
	LaidOn    []jsonCores         `json:"laid_on"`   // the cores of Laid, each once
	Residents []replay.L1Resident `json:"residents"` // in Laid, each once
}

// jsonAlike are devices that are equal but for their nodes.
type jsonAlike struct {
	Label      string              `json:"label"`
	IDs        []event.Opt[uint64] `json:"ids"`
	Chip       replay.Sizes        `json:"chip"`
	Figures    *replay.Device      `json:"figures"`
	L1         *replay.DeviceL1    `json:"l1"`
	Groups     []int               `json:"peak_groups"` // numbers of Laid
	GroupsMore int                 `json:"peak_groups_more"`
	Timeline   []replay.Sample     `json:"timeline"`
	Moments    []jsonLaidMoment    `json:"moments"`
}

// A jsonLaidMoment is a moment with the numbers of its groups in Laid.
type jsonLaidMoment struct {
	replay.LaidMoment
	Groups []int `json:"groups"`
}

// jsonProgramRow is a program, or several that differ in their nodes alone, on some of the
// devices in alike.
type jsonProgramRow struct {
	replay.ProgramDetail
	Times  int   `json:"times"`
	On     []int `json:"alike"`
	Placed *int  `json:"placed"`
}

// jsonPlaced is a buffer that a program places.
type jsonPlaced struct {
	replay.ProgramBuffer
	Count int `json:"count"` // of Cores
}

// jsonDiffOverview is a comparison without what is too much of it.
type jsonDiffOverview struct {
	compare.Diff
	Answer string   `json:"words"`
	Labels []string `json:"labels"` // of its devices
	// Figures says in words which figures there are.
	Figures map[string]string `json:"figure_words"`
	More    []int             `json:"programs_more"`
}

func newOverview(r *replay.Result, terms replay.Terms, most, few int) jsonCapture {
	o := overview{
		r: r, most: most, few: few, lists: map[*replay.ProgramBuffer]int{}, known: map[string]int{}, laid: newLaidTable(),
		l1: map[event.Opt[uint64]]*replay.DeviceL1{}, lines: map[event.Opt[uint64]]replay.Timeline{}, same: newSights(),
	}
	for i := range r.L1 {
		o.l1[r.L1[i].ID] = &r.L1[i]
	}
	for _, line := range r.Timeline {
		o.lines[line.Device] = line
	}
	out := jsonCapture{
		Log: r.Log, Report: r.ReportHead(), Check: r.Check(r.Judge(terms)), Meshes: replay.List(r.Layouts),
	}
	out.Report.Live.List, out.Report.Live.More = cut(out.Report.Live.List, most, out.Report.Live.More)
	out.Check.Failures, out.Check.More = cut(out.Check.Failures, min(most, 64), out.Check.More)
	folds := o.fold()
	out.Alike = o.alike(folds)
	out.Programs, out.ProgramsMore = o.programs(folds)
	out.Placed = o.placed(out.Programs)
	out.Laid, out.LaidOn, out.Residents = o.laid.groups, o.laid.cores, o.laid.residents
	return out
}

// cut keeps the first rows of a list, and counts the others.
func cut[T any, N int | int64](list []T, most int, more N) ([]T, N) {
	n := min(len(list), most)
	return list[:n], more + N(len(list)-n)
}

// An overview is one in the making.
type overview struct {
	r     *replay.Result
	most  int
	few   int // moments of a device that stay
	l1    map[event.Opt[uint64]]*replay.DeviceL1
	lines map[event.Opt[uint64]]replay.Timeline
	lists map[*replay.ProgramBuffer]int // by their first rows, which programs may share
	known map[string]int                // by what they say
	all   [][]replay.ProgramBuffer      // what programs place, each list once, from number 1
	same  *sights                       // of what lay on devices
	laid  *laidTable
}

// alike are the rows of devices, each row some that are equal.
func (o *overview) alike(folds []fold[replay.Device]) []jsonAlike {
	out := []jsonAlike{}
	residents, few := o.most, 1
	if len(folds) > 1 { // many devices share the rows
		few = o.few
	}
	for _, f := range folds {
		row := jsonAlike{Label: f.where(), Chip: o.r.SpecOf(f.first.ID).Sizes(), Groups: []int{}, Moments: []jsonLaidMoment{}}
		for _, d := range f.names {
			row.IDs = append(row.IDs, d.id)
		}
		if len(o.r.Devices) > 0 {
			figures := *f.first
			figures.ProgramsDetail = nil // they have a table of their own
			figures = figures.Document(replay.Filter{})
			row.Figures = &figures
		}
		if on := o.l1[f.first.ID]; on != nil {
			l1 := on.Document(o.r.SpecOf(on.ID))
			row.L1 = &l1
			if on.Peak != nil {
				groups := on.Peak.Composed().Groups
				for i, g := range groups {
					if residents -= len(g.Residents); residents < 0 {
						row.GroupsMore = len(groups) - i
						break
					}
					row.Groups = append(row.Groups, o.laid.group(g))
				}
			}
		}
		line := o.lines[f.first.ID]
		row.Timeline = append([]replay.Sample{}, line.Thin(o.most/max(len(folds), 1)).Samples...)
		for i, s := range row.Timeline {
			row.Timeline[i].Op = clipped(s.Op)
		}
		for _, m := range line.ThinMoments(2*o.most/max(len(folds), 1), few) {
			m.Op = clipped(m.Op)
			row.Moments = append(row.Moments, jsonLaidMoment{m, o.laid.numbers(m.Groups)})
		}
		out = append(out, row)
	}
	return out
}

// clipped shortens a name that stands at many moments to what a page shows of it.
func clipped(op replay.Name) replay.Name { return replay.Name(shown.Clip(string(op), 160)) }

// programs are those of all devices, the largest on a core first.
func (o *overview) programs(folds []fold[replay.Device]) (out []jsonProgramRow, more int) {
	type key struct {
		placedProgram
		times int
	}
	type shown struct {
		key
		on []int
	}
	var rows []shown
	at := map[key]int{}
	for i, f := range folds {
		for _, one := range foldRows(o.placedPrograms(f.first), placedProgram.withoutNodes) {
			row := folding(at, &rows, key{one.first.withoutNodes(), one.count})
			if len(row.on) == 0 {
				row.key = key{one.first, one.count}
			}
			row.on = append(row.on, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b shown) int { return -cmp.Compare(a.Core, b.Core) })
	rows, more = cut(rows, o.most, 0)
	out = []jsonProgramRow{}
	for _, row := range rows {
		out = append(out, jsonProgramRow{row.ProgramDetail, row.times, row.on, nil})
		if row.placed > 0 {
			out[len(out)-1].Placed = &row.placed
		}
	}
	return out, more
}

// placed has what the programs in some rows place, and makes the rows name their places in
// it.
func (o *overview) placed(rows []jsonProgramRow) [][]jsonPlaced {
	out := [][]jsonPlaced{}
	at := map[int]int{}
	for _, row := range rows {
		if row.Placed == nil {
			continue
		}
		number := *row.Placed
		i, ok := at[number]
		if !ok {
			i = len(out)
			at[number], out = i, append(out, newPlaced(o.all[number-1]))
		}
		*row.Placed = i
	}
	return out
}

func newPlaced(list []replay.ProgramBuffer) []jsonPlaced {
	out := []jsonPlaced{}
	for _, b := range list {
		out = append(out, jsonPlaced{b, b.Cores.Len()})
	}
	return out
}

func newDiffOverview(d *compare.Diff, most int) *jsonDiffOverview {
	out := &jsonDiffOverview{Diff: *d, Answer: diffAnswer(d), Labels: []string{}, Figures: map[string]string{}, More: []int{}}
	out.Devices = slices.Clone(d.Devices)
	for i := range out.Devices {
		one := &out.Devices[i]
		out.Labels = append(out.Labels, deviceWhere(d, *one))
		for _, figure := range one.Figures {
			out.Figures[figure.Name] = figureText(figure.Name)
		}
		more := 0
		one.Changes, more = cut(one.Changes, most/len(d.Devices), more)
		out.More = append(out.More, more)
	}
	return out
}

package report

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/cbl1/cbl1/compare"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// OverviewJSON writes all that a page shows of some captures, judged on some terms, and, unless it is nil, of a
// comparison, as one line of JSON in ASCII. Devices that are equal but for their nodes are
// there once, and so are programs. Its rows are those of the other documents; how they are
// put together may change with each version. A list has at
// most so many rows, and says how many it leaves out: of programs, the largest on a core stay.
// Results should come of Options with Buffers, Groups, Timeline and Moments; what is not there is
// left out.
func OverviewJSON(w io.Writer, results []*replay.Result, terms replay.Terms, d *compare.Diff, most int) error {
	out := jsonOverview{Captures: []jsonCapture{}}
	for _, r := range results {
		out.Captures = append(out.Captures, newOverview(r, terms, most))
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
	Log          bool             `json:"log"`    // nodes are events
	Report       jsonReport       `json:"report"` // without devices
	Check        jsonCheck        `json:"check"`
	Alike        []jsonAlike      `json:"alike"`
	Programs     []jsonProgramRow `json:"programs"`
	ProgramsMore int              `json:"programs_more"`
	Placed       [][]jsonPlaced   `json:"placed"`
	Meshes       []jsonMeshLayout `json:"mesh_layouts"`
}

// jsonAlike are devices that are equal but for their nodes.
type jsonAlike struct {
	Label      string           `json:"label"`
	IDs        []*uint64        `json:"ids"`
	Chip       jsonChip         `json:"chip"`
	Figures    *jsonDevice      `json:"figures"`
	L1         *jsonL1          `json:"l1"`
	Groups     []jsonOnCore     `json:"peak_groups"`
	GroupsMore int              `json:"peak_groups_more"`
	Timeline   []jsonSample     `json:"timeline"`
	Moments    []jsonLaidMoment `json:"moments"`
}

// A jsonLaidMoment is what lay where after a node.
type jsonLaidMoment struct {
	Counter uint64       `json:"counter"`
	T       json.Number  `json:"t,omitempty"`
	Op      replay.Name  `json:"op"`
	Groups  []jsonOnCore `json:"groups"`
}

type jsonSample struct {
	Counter    uint64      `json:"counter"`
	T          json.Number `json:"t,omitempty"`
	Op         replay.Name `json:"op"`
	Registered uint64      `json:"registered_bytes"`
	Resident   uint64      `json:"resident_bytes"`
	Tracked    uint64      `json:"tracked_bytes"`
	Core       uint64      `json:"tracked_core_bytes"`
	Headroom   *uint64     `json:"headroom_bytes"`
}

// jsonProgramRow is a program, or several that differ in their nodes alone, on some of the
// devices in alike.
type jsonProgramRow struct {
	jsonProgram
	Times  int   `json:"times"`
	On     []int `json:"alike"`
	Placed *int  `json:"placed"`
}

// jsonPlaced is a buffer that a program places.
type jsonPlaced struct {
	Kind   string  `json:"kind"`
	CB     int     `json:"cb"`
	Global bool    `json:"global"`
	Cores  string  `json:"cores"`
	Count  int     `json:"count"`
	Size   uint64  `json:"size_bytes"`
	Start  *uint64 `json:"start"`
	End    *uint64 `json:"end"`
}

// jsonDiffOverview is a comparison without what is too much of it.
type jsonDiffOverview struct {
	jsonDiff
	Answer string   `json:"words"`
	Labels []string `json:"labels"` // of its devices
	// Figures says in words which figures there are.
	Figures map[string]string `json:"figure_words"`
	More    []int             `json:"programs_more"`
}

type jsonMeshLayout struct {
	First uint64 `json:"first"`
	Rows  int    `json:"rows"`
	Cols  int    `json:"cols"`
}

func newOverview(r *replay.Result, terms replay.Terms, most int) jsonCapture {
	o := overview{
		r: r, most: most, lists: map[*replay.ProgramBuffer]int{}, known: map[string]int{},
		l1: map[event.Opt[uint64]]*replay.DeviceL1{}, lines: map[event.Opt[uint64]]replay.Timeline{}, same: newSights(),
	}
	for i := range r.L1 {
		o.l1[r.L1[i].ID] = &r.L1[i]
	}
	for _, line := range r.Timeline {
		o.lines[line.Device] = line
	}
	out := jsonCapture{
		Log: r.Log, Report: newReport(r), Check: newCheckDocument(check{r.Judge(terms), r}), Meshes: []jsonMeshLayout{},
	}
	out.Report.Live.List, out.Report.Live.More = cut(out.Report.Live.List, most, out.Report.Live.More)
	out.Check.Failures, out.Check.More = cut(out.Check.Failures, min(most, 64), out.Check.More)
	folds := o.fold()
	out.Alike = o.alike(folds)
	out.Programs, out.ProgramsMore = o.programs(folds)
	out.Placed = o.placed(out.Programs)
	for _, m := range r.Layouts {
		out.Meshes = append(out.Meshes, jsonMeshLayout(m))
	}
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
	l1    map[event.Opt[uint64]]*replay.DeviceL1
	lines map[event.Opt[uint64]]replay.Timeline
	lists map[*replay.ProgramBuffer]int // by their first rows, which programs may share
	known map[string]int                // by what they say
	all   [][]replay.ProgramBuffer      // what programs place, each list once, from number 1
	same  *sights                       // of what lay on devices
}

// alike are the rows of devices, each row some that are equal.
func (o *overview) alike(folds []fold) []jsonAlike {
	out := []jsonAlike{}
	residents := o.most
	for _, f := range folds {
		row := jsonAlike{Label: f.where(), Chip: newChip(o.r.SpecOf(f.first.ID)), Groups: []jsonOnCore{}, Timeline: []jsonSample{}, Moments: []jsonLaidMoment{}}
		for _, d := range f.devices {
			row.IDs = append(row.IDs, optional(d.ID))
		}
		if len(o.r.Devices) > 0 {
			figures := newDevice(f.first)
			row.Figures = &figures
		}
		if on := o.l1[f.first.ID]; on != nil {
			l1 := newL1Row(o.r, on)
			row.L1 = &l1
			if on.Peak != nil {
				groups := on.Peak.Composed().Groups
				for i, g := range groups {
					if residents -= len(g.Residents); residents < 0 {
						row.GroupsMore = len(groups) - i
						break
					}
					row.Groups = append(row.Groups, newOnCore(g))
				}
			}
		}
		for _, s := range o.lines[f.first.ID].Thin(o.most / max(len(folds), 1)).Samples {
			row.Timeline = append(row.Timeline, jsonSample{s.At, s.T, clipped(s.Op), s.Registered, s.Resident, s.Tracked, s.Core, optional(s.Headroom)})
		}
		for _, m := range o.lines[f.first.ID].ThinMoments(2 * o.most / max(len(folds), 1)) {
			one := jsonLaidMoment{m.At, m.T, clipped(m.Op), []jsonOnCore{}}
			for _, g := range m.Groups {
				one.Groups = append(one.Groups, newOnCore(g))
			}
			row.Moments = append(row.Moments, one)
		}
		out = append(out, row)
	}
	return out
}

// clipped shortens a name that stands at many moments to what a page shows of it.
func clipped(op replay.Name) replay.Name { return replay.Name(shown.Clip(string(op), 160)) }

// programs are those of all devices, the largest on a core first.
func (o *overview) programs(folds []fold) (out []jsonProgramRow, more int) {
	type shown struct {
		placedProgram
		times int
		on    []int
	}
	type key struct {
		placedProgram
		times int
	}
	var rows []*shown
	at := map[key]*shown{}
	for i, f := range folds {
		for _, one := range foldRows(o.placedPrograms(f.first), placedProgram.withoutNodes) {
			own := key{one.first.withoutNodes(), one.count}
			row := at[own]
			if row == nil {
				row = &shown{placedProgram: one.first, times: one.count}
				at[own], rows = row, append(rows, row)
			}
			row.on = append(row.on, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b *shown) int { return -cmp.Compare(a.Core, b.Core) })
	rows, more = cut(rows, o.most, 0)
	out = []jsonProgramRow{}
	for _, row := range rows {
		out = append(out, jsonProgramRow{newProgram(row.ProgramDetail), row.times, row.on, nil})
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
		row := jsonPlaced{Kind: b.Kind.Name(), CB: b.Number, Global: b.Global, Cores: b.Cores.String(), Count: b.Cores.Len(), Size: b.Size}
		if !b.Range.IsEmpty() {
			row.Start, row.End = &b.Range.Start, &b.Range.End
		}
		out = append(out, row)
	}
	return out
}

func newDiffOverview(d *compare.Diff, most int) *jsonDiffOverview {
	short := *d
	out := &jsonDiffOverview{jsonDiff: jsonDiff{DiffSchema, &short}, Answer: diffAnswer(d), Labels: []string{}, Figures: map[string]string{}, More: []int{}}
	short.Devices = slices.Clone(d.Devices)
	for i := range short.Devices {
		one := &short.Devices[i]
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

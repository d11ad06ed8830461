package render

import (
	"cmp"
	"io"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// An Overview has all that a page shows of some captures, and of a comparison. Its rows are rows of
// the other documents. Devices that are equal but for their nodes are one row, and so are programs.
type Overview struct {
	captures []*overview
	diff     *diff.Document
}

// NewOverview returns the overview of some captures, judged on some terms, and of a comparison unless
// it is nil. Results should come of Options with Buffers, Groups, Timeline and Moments. Other parts are
// left out. Cost: the programs, samples and moments of all devices that differ.
func NewOverview(results []*answer.Result, terms answer.Terms, d *diff.Document) *Overview {
	out := &Overview{diff: d}
	for _, r := range results {
		out.captures = append(out.captures, newOverview(r, terms))
	}
	return out
}

// An Excerpt is the part of an Overview that a page shows.
type Excerpt struct{ doc pageDocument }

// Excerpt returns a part of the overview. A list has at most the given number of rows, and says how many it leaves out:
// of programs, the largest on a core stay. A device has at most the given number of moments. The moments of all
// devices name 8 residents for each row, and of devices that differ one is there for 8 rows, those with the highest
// peaks.
func (o *Overview) Excerpt(rows, moments int) Excerpt {
	out := pageDocument{Captures: []pageCapture{}}
	for _, c := range o.captures {
		out.Captures = append(out.Captures, c.document(rows, moments))
	}
	if o.diff != nil {
		out.Diff = newPageDiff(o.diff, rows)
	}
	return Excerpt{out}
}

// JSON writes the excerpt as one line of JSON in ASCII. Its form may change with each version.
func (e Excerpt) JSON(w io.Writer) error { return writeJSON(w, e.doc) }

// Rows returns how many rows and numbers of rows the excerpt has, about: its cost in bytes and time follows it.
func (e Excerpt) Rows() (n int) {
	for _, c := range e.doc.Captures {
		n += len(c.Programs) + len(c.Residents) + len(c.Check.Failures) + len(c.Report.Live.List)
		for _, list := range c.Placed {
			n += len(list)
		}
		for _, g := range c.Laid {
			n += 1 + len(g.Residents)/8
		}
		for _, d := range c.Alike {
			n += 4 + len(d.Timeline) + len(d.Moments) + len(d.Groups)/8
		}
	}
	return n
}

type pageDocument struct {
	Captures []pageCapture `json:"captures"`
	Diff     *pageDiff     `json:"diff"`
}

type pageCapture struct {
	Log          bool                     `json:"log"` // nodes are events
	Report       answer.ReportHead        `json:"report"`
	Check        answer.CheckDocument     `json:"check"`
	Alike        []pageDevice             `json:"alike"`
	AlikeMore    int                      `json:"alike_more"`
	Programs     []pageProgram            `json:"programs"`
	ProgramsMore int                      `json:"programs_more"`
	Placed       [][]answer.ProgramBuffer `json:"placed"`
	Meshes       []answer.MeshLayout      `json:"mesh_layouts"`
	Stale        []string                 `json:"stale_words"` // at the peak of the fullest device

	Laid      []pageLaid          `json:"laid"`      // what lay on some cores, each once
	Residents []answer.L1Resident `json:"residents"` // in Laid, each once
}

// A pageDevice stands for devices that are equal but for their nodes.
type pageDevice struct {
	Label      string              `json:"label"`
	IDs        []event.Opt[uint64] `json:"ids"`
	Chip       answer.Sizes        `json:"chip"`
	Figures    *answer.Device      `json:"figures"`
	L1         *answer.DeviceL1    `json:"l1"`
	Groups     []int               `json:"peak_groups"` // numbers of Laid
	GroupsMore int                 `json:"peak_groups_more"`
	Timeline   []answer.Sample     `json:"timeline"`
	Moments    []pageMoment        `json:"moments"`
}

// A pageMoment is a moment with the numbers of its groups in Laid.
type pageMoment struct {
	answer.LaidMoment
	Groups []int `json:"groups"`
}

// A pageProgram is a program, or several that differ in their nodes alone, on some of the devices in Alike.
type pageProgram struct {
	answer.ProgramDetail
	Times  int            `json:"times"`
	On     []int          `json:"alike"`
	Placed event.Opt[int] `json:"placed"` // number in Placed of the capture
}

// A pageDiff is a comparison with at most so many programs of each device.
type pageDiff struct {
	diff.Document
	Answer  string            `json:"words"`
	Labels  []string          `json:"labels"`       // of its devices
	Figures map[string]string `json:"figure_words"` // by the names of figures
	More    []int             `json:"programs_more"`
}

// An overview is an Overview of one capture.
type overview struct {
	r     *answer.Result
	check answer.CheckDocument // with at most 64 failures
	l1    map[event.Opt[uint64]]*answer.DeviceL1
	lines map[event.Opt[uint64]]answer.Timeline
	lists map[*answer.ProgramBuffer]int // by their first rows, which programs may share
	known map[string]int                // by what they say
	all   [][]answer.ProgramBuffer      // what programs place, each list once, from number 1
	same  *sights                       // of what lay on devices

	folds []deviceFold[answer.Device]
	rows  []pageProgram // of all devices, the largest on a core first; Placed is a number in all
}

func newOverview(r *answer.Result, terms answer.Terms) *overview {
	few := *r
	few.Checks.List, few.Checks.More = cut(r.Checks.List, 64, r.Checks.More)
	o := &overview{
		r: r, check: few.Check(r.Judge(terms)), lists: map[*answer.ProgramBuffer]int{}, known: map[string]int{},
		l1: map[event.Opt[uint64]]*answer.DeviceL1{}, lines: map[event.Opt[uint64]]answer.Timeline{}, same: newSights(),
	}
	for i := range r.L1 {
		o.l1[r.L1[i].ID] = &r.L1[i]
	}
	for _, line := range r.Timeline {
		o.lines[line.Device] = line
	}
	o.folds = o.fold()
	o.rows = o.programs()
	return o
}

func (o *overview) document(most, moments int) pageCapture {
	out := pageCapture{
		Log: o.r.Log, Report: o.r.ReportHead(), Check: o.check, Alike: []pageDevice{}, Meshes: answer.List(o.r.Layouts), Stale: []string{},
	}
	for _, n := range staleNotes(o.r) {
		out.Stale = append(out.Stale, n.text)
	}
	out.Report.Live.List, out.Report.Live.More = cut(out.Report.Live.List, most, out.Report.Live.More)
	out.Check.Failures, out.Check.More = cut(out.Check.Failures, most, out.Check.More)
	laid := newLaidTable()
	residents, named := most, 8*most
	folds := o.highest(most / 8)
	number := make(map[int]int, len(folds)) // in Alike
	for at, i := range folds {
		f := o.folds[i]
		row := o.device(f, laid, &residents)
		line := o.lines[f.first.ID]
		for _, s := range line.Thin(most / len(folds)).Samples {
			s.Op = clipped(s.Op)
			row.Timeline = append(row.Timeline, s)
		}
		for _, m := range line.ThinMoments(max(0, min(moments, named))) {
			if named -= 1 + m.Residents(); named >= 0 {
				m.Op = clipped(m.Op)
				row.Moments = append(row.Moments, pageMoment{m, laid.numbers(m.Groups())})
			}
		}
		out.Alike, number[i] = append(out.Alike, row), at
	}
	out.AlikeMore = len(o.folds) - len(folds)
	out.Programs, out.ProgramsMore = cut(o.shownOn(number), most, 0)
	out.ProgramsMore += len(o.rows) - len(out.Programs) - out.ProgramsMore
	out.Programs, out.Placed = o.placed(out.Programs)
	out.Laid, out.Residents = laid.groups, laid.residents
	return out
}

// cut keeps the first rows of a list, and counts the others.
func cut[T any, N int | int64](list []T, most int, more N) ([]T, N) {
	n := min(len(list), most)
	return list[:n], more + N(len(list)-n)
}

// highest returns the numbers of the folds with the highest peaks, at most so many but one at least, in their order.
func (o *overview) highest(most int) []int {
	all := make([]int, len(o.folds))
	for i := range all {
		all[i] = i
	}
	peak := func(i int) uint64 {
		if on := o.l1[o.folds[i].first.ID]; on != nil && on.Peak != nil {
			return on.Peak.Bytes
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(peak(b), peak(a)) })
	all, _ = cut(all, max(most, 1), 0)
	slices.Sort(all)
	return all
}

// shownOn returns the programs of folds that have a number, with these numbers.
func (o *overview) shownOn(number map[int]int) (rows []pageProgram) {
	for _, row := range o.rows {
		var on []int
		for _, i := range row.On {
			if at, ok := number[i]; ok {
				on = append(on, at)
			}
		}
		if row.On = on; len(on) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// device returns the row of some devices, without what happened over time. Their peaks may name so
// many more residents in all.
func (o *overview) device(f deviceFold[answer.Device], laid *laidTable, residents *int) pageDevice {
	row := pageDevice{
		Label: f.where(), Chip: o.r.SpecOf(f.first.ID).Sizes(), Groups: []int{}, Timeline: []answer.Sample{}, Moments: []pageMoment{},
	}
	for _, d := range f.names {
		row.IDs = append(row.IDs, d.id)
	}
	if len(o.r.Devices) > 0 {
		figures := *f.first
		figures.ProgramsDetail = nil // they have a table of their own
		figures = figures.Document(answer.Filter{})
		row.Figures = &figures
	}
	on := o.l1[f.first.ID]
	if on == nil {
		return row
	}
	l1 := on.Document(o.r.SpecOf(on.ID))
	row.L1 = &l1
	if on.Peak == nil {
		return row
	}
	l1.Peak.Residents = []answer.L1Resident{} // those of a group
	for i, g := range l1.Peak.Groups {
		if *residents -= len(g.Residents); *residents < 0 {
			row.GroupsMore = len(l1.Peak.Groups) - i
			break
		}
		row.Groups = append(row.Groups, laid.group(g))
	}
	return row
}

// clipped shortens a name that stands at many moments to what a page shows of it.
func clipped(op answer.Name) answer.Name { return answer.Name(shown.Clip(string(op), 160)) }

// programs returns the programs of all devices, the largest on a core first.
func (o *overview) programs() (rows []pageProgram) {
	type key struct {
		placedProgram
		times int
	}
	at := map[key]int{}
	for i, f := range o.folds {
		for _, one := range foldRows(o.placedPrograms(f.first), placedProgram.withoutNodes) {
			row := fold.At(at, &rows, key{one.first.withoutNodes(), one.count})
			if len(row.On) == 0 {
				row.ProgramDetail, row.Times = one.first.ProgramDetail, one.count
				row.Placed = event.Opt[int]{V: one.first.placed, OK: one.first.placed > 0}
			}
			row.On = append(row.On, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b pageProgram) int { return -cmp.Compare(a.Core, b.Core) })
	return rows
}

// placed returns the rows, each with the number of its list of buffers, and these lists.
func (o *overview) placed(from []pageProgram) (rows []pageProgram, lists [][]answer.ProgramBuffer) {
	rows, lists = append([]pageProgram{}, from...), [][]answer.ProgramBuffer{}
	at := map[int]int{}
	for i := range rows {
		n := &rows[i].Placed
		if n.OK {
			list := fold.At(at, &lists, n.V)
			*list, n.V = o.all[n.V-1], at[n.V]
		}
	}
	return rows, lists
}

func newPageDiff(d *diff.Document, most int) *pageDiff {
	out := &pageDiff{Document: *d, Answer: diffAnswer(d), Labels: []string{}, Figures: map[string]string{}, More: []int{}}
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

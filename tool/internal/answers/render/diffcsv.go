package render

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// A csvDiff is a figure of the verdict on both sides, or one thing that differs: a figure of a chip or of a device,
// a range on its fullest core, a group of its cores, a program, a buffer of a program, or a buffer that lives at the end.
type csvDiff struct {
	OldFile   *string           `json:"old_file"`
	NewFile   *string           `json:"new_file"`
	OldAnswer answer.Answer     `json:"old_answer"`
	NewAnswer answer.Answer     `json:"new_answer"`
	OldUntold []answer.Code     `json:"old_untold"`
	NewUntold []answer.Code     `json:"new_untold"`
	OldAccept []answer.Code     `json:"old_accepted"`
	NewAccept []answer.Code     `json:"new_accepted"`
	Rank      event.Opt[uint64] `json:"rank"`
	Devices   int               `json:"devices"`
	OldDevice event.Opt[uint64] `json:"old_device"`
	NewDevice event.Opt[uint64] `json:"new_device"`
	About     string            `json:"about"`
	State     diff.State        `json:"state"`
	Name      string            `json:"name"`
	Op        answer.Name       `json:"op"`
	CB        event.Opt[int]    `json:"cb"`
	Times     int               `json:"times"`
	Old       csvSide           `json:"old"`
	New       csvSide           `json:"new"`
	Change    int64             `json:"change"`
}

// A csvSide is the value of one side; empty if the side lacks the row.
type csvSide struct {
	Counter *uint64           `json:"counter"`
	Cores   *l1.CoreSet       `json:"cores"`
	Start   event.Opt[uint64] `json:"start"`
	Value   *uint64           `json:"value"`
}

// diffCSV has the rows of diffRows.
func diffCSV(d *diff.Document) flatTable {
	return flatTable{empty: []column{{"", csvDiff{}}}, rows: func(yield func([]column) bool) {
		for _, row := range diffRows(d) {
			if !yield([]column{{"", row}}) {
				return
			}
		}
	}}
}

// diffRows returns the rows of the verdict, then one for each thing that differs, capture by capture and device
// by device.
func diffRows(d *diff.Document) (rows []csvDiff) {
	old, now := d.Sides.Old, d.Sides.New
	both := csvDiff{
		OldAnswer: old.Answer, NewAnswer: now.Answer, OldUntold: old.Untold, NewUntold: now.Untold, OldAccept: old.Accepted, NewAccept: now.Accepted,
	}
	for _, f := range []diff.Figure{
		{Name: "runs_failed", Old: uint64(old.Failed), New: uint64(now.Failed)}, {Name: "tracked_core_peak_bytes", Old: peakBytes(old), New: peakBytes(now)},
	} {
		row := both.figure("verdict", f)
		if f.Old == f.New {
			row.State = diff.Same
		}
		rows = append(rows, row)
	}
	for _, c := range d.Captures {
		row := both
		row.Rank, row.OldFile, row.NewFile = c.Rank, nameOf(c.Old), nameOf(c.New)
		rows = append(rows, row.figures("chip", c.ChipFigures())...)
		rows = append(rows, row.parts("left", c.Left)...)
	}
	for _, one := range d.Devices {
		id := one.IDs[0]
		c := d.Captures[id.Capture]
		row := both
		row.Rank, row.OldFile, row.NewFile = id.Rank, nameOf(c.Old), nameOf(c.New)
		row.Devices, row.OldDevice, row.NewDevice = len(one.IDs), id.Old, id.New
		rows = append(rows, row.ofDevice(one)...)
	}
	return rows
}

func nameOf(f *diff.File) *string {
	if f == nil {
		return nil
	}
	return &f.Name
}

// ofDevice returns the rows about a device, which begin as this one does.
func (row csvDiff) ofDevice(d diff.Device) []csvDiff {
	rows := append(row.figures("figure", d.Figures), row.parts("at_peak", d.AtPeak)...)
	for _, g := range d.Laid {
		rows = append(rows, row.cores("peak_group", "tracked_bytes", g.Cores, g.Tracked, ""))
	}
	for _, g := range d.Groups {
		rows = append(rows, row.cores("group", "registered_bytes", g.Cores, g.Registered, g.State))
	}
	for _, p := range d.Changes {
		rows = append(rows, row.program(p))
		for _, cb := range p.CBs {
			rows = append(rows, row.buffer(p, cb))
		}
	}
	return rows
}

// figures returns the rows of the figures that differ.
func (row csvDiff) figures(about string, all []diff.Figure) (rows []csvDiff) {
	for _, f := range all {
		if f.Old != f.New {
			rows = append(rows, row.figure(about, f))
		}
	}
	return rows
}

func (row csvDiff) figure(about string, f diff.Figure) csvDiff {
	row.About, row.Name, row.Times = about, f.Name, 1
	if row.State = diff.Grown; f.Change() < 0 {
		row.State = diff.Shrunk
	}
	row.Old.Value, row.New.Value, row.Change = &f.Old, &f.New, f.Change()
	return row
}

func (row csvDiff) parts(about string, all []diff.Resident) (rows []csvDiff) {
	for _, p := range all {
		row.About, row.State, row.Name, row.Op, row.CB, row.Times = about, p.State, p.Kind.Name(), p.Op, p.CB, p.Times
		row.Old, row.New, row.Change = sideOf(p.Old), sideOf(p.New), p.Change()
		rows = append(rows, row)
	}
	return rows
}

func sideOf(e *diff.Extent) csvSide {
	if e == nil {
		return csvSide{}
	}
	return csvSide{Start: e.Start, Value: &e.Bytes}
}

// cores is a row about a set of cores that hold more, fewer or other bytes each. Its state goes by these bytes
// unless there is one.
func (row csvDiff) cores(about, name string, cores l1.CoreSet, held diff.Pair[uint64], state diff.State) csvDiff {
	row = row.figure(about, diff.Figure{Name: name, Old: held.Old, New: held.New})
	if state != "" {
		row.State = state
	}
	row.Old.Cores, row.New.Cores = &cores, &cores
	return row
}

func (row csvDiff) program(p diff.Program) csvDiff {
	row.About, row.State, row.Name, row.Op, row.Times, row.Change = "program", p.State, "core_max_bytes", p.Op, p.Times, p.Change()
	if p.Old != nil {
		row.Old.Counter, row.Old.Value = &p.Old.Counter, &p.Old.Core
	}
	if p.New != nil {
		row.New.Counter, row.New.Value = &p.New.Counter, &p.New.Core
	}
	return row
}

func (row csvDiff) buffer(p diff.Program, cb diff.CB) csvDiff {
	row.About, row.State, row.Name, row.Op, row.Times, row.Change = "buffer", cb.State, cb.Kind.Name(), p.Op, p.Times, cb.Change()
	if old := cb.Old; old != nil {
		row.CB, row.Old.Cores, row.Old.Start, row.Old.Value = event.Some(old.Number), &old.Cores, old.Start, &old.Bytes
	}
	if now := cb.New; now != nil {
		row.CB, row.New.Cores, row.New.Start, row.New.Value = event.Some(now.Number), &now.Cores, now.Start, &now.Bytes
	}
	return row
}

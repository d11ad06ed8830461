package replay

import (
	"encoding/json"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
)

// A LaidMoment is what lay on every core of a device after a node, or line of a log, that
// changed it: what Options.GroupsAt says of that node.
type LaidMoment struct {
	At     uint64      `json:"counter"`
	T      json.Number `json:"t,omitempty"` // the simulator's time, as it was written; "" = none
	Op     Name        `json:"op"`          // that of the last Sample of the node
	Groups []LaidGroup `json:"groups"`

	laid Laid   // the name of Groups
	n    uint64 // of all nodes that changed the device, from 0
}

// moments are those of a Timeline in the making: each node's that changed the device, then
// every second one's, every fourth one's, so that they do not say too much.
type moments struct {
	list  []LaidMoment
	said  int    // residents in list
	taken uint64 // nodes
	step  uint64 // 0: not begun
	due   bool   // in replay.due
}

// dueMoments are the rows that the node at hand has changed.
type dueMoments struct {
	rows []*row
	at   event.Opt[uint64]
	t    json.Number
	op   Name
}

// owe notes that a device has changed. A moment of it may be kept when the node is over.
func (r *replay) owe(d *row, e *event.Event, op Name) {
	if r.opt.Moments == 0 {
		return
	}
	if !r.due.at.OK || e.Node >= r.due.at.V {
		r.due.at, r.due.t, r.due.op = event.Some(e.Node), json.Number(e.T), op
	}
	if !d.moments.due {
		d.moments.due = true
		r.due.rows = append(r.due.rows, d)
	}
}

// keepMoments takes down what lies on the devices that the last node has changed.
func (r *replay) keepMoments() {
	seen := map[device.MomentName][]device.UsageGroup{} // rows of devices that hold the same share them
	for _, d := range r.due.rows {
		d.moments.due = false
		one := LaidMoment{At: r.due.at.V, T: r.due.t, Op: r.due.op}
		d.moments.keep(r.opt.Moments, 1, one, func(one *LaidMoment) { d.lay(one, seen) })
	}
	r.due = dueMoments{rows: r.due.rows[:0]}
}

// lay fills in what lies on a device now.
func (d *row) lay(one *LaidMoment, seen map[device.MomentName][]device.UsageGroup) {
	now := d.dev.Moment()
	groups, ok := seen[now.Name()]
	if !ok {
		groups = slices.Collect(now.UsageGroups())
		seen[now.Name()] = groups
	}
	one.laid = Laid{moment: now.Name(), names: d.names, spec: d.dev.Spec()}
	runs := map[*program.Program]*ProgramRun{} // a program has many residents
	for _, g := range groups {
		one.Groups = append(one.Groups, laidGroup(g, func(r fit.Resident) L1Resident {
			if run := runs[r.Program]; run != nil {
				return L1Resident{ResidentRow: fit.NewResidentRow(r.Kind, r.Range), CB: event.Some(uint64(r.CB)), Program: run}
			}
			out := d.resident(r)
			runs[r.Program] = out.Program
			return out
		}))
	}
}

// Laid returns a name of what lay there. Moments of one Result with equal names have equal Groups but for nodes and times.
func (m LaidMoment) Laid() Laid { return m.laid }

// keep takes a moment in if it is its turn. most is how many residents and moments there may be in all. So few moments
// may have more residents.
func (m *moments) keep(most, few int, one LaidMoment, fill func(*LaidMoment)) {
	one.n = m.taken
	m.taken++
	m.step = max(m.step, 1)
	if one.n%m.step > 0 {
		return
	}
	fill(&one)
	m.list, m.said = append(m.list, one), m.said+one.residents()
	for max(m.said, len(m.list)) > most && len(m.list) > max(few, 1) {
		m.step *= 2
		m.list = slices.DeleteFunc(m.list, func(one LaidMoment) bool { return one.n%m.step > 0 })
		m.said = 0
		for _, one := range m.list {
			m.said += one.residents()
		}
	}
}

// residents returns how many things are named.
func (m LaidMoment) residents() (n int) {
	for _, g := range m.Groups {
		n += len(g.Residents)
	}
	return n
}

// ThinMoments returns every second moment, every fourth one and so on, so that they are at
// most so many and name at most so many residents. So few moments stay, whatever they name.
func (t Timeline) ThinMoments(most, few int) []LaidMoment {
	out := moments{}
	for _, one := range t.Moments {
		out.keep(most, few, one, func(*LaidMoment) {})
	}
	return out.list
}

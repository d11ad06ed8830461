package capture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// programs know which program runs on each unit.
type programs struct {
	*shared
	layouts  *layouts
	hits     hits
	open     openRuns
	alive    map[*unit]bool // with a run that no free has ended
	hidden   hiddenPrograms
	alike    map[device.ID]map[contentSum]bool // layouts.locals of what ran on each unit, if spread asks
	noInfer  bool                              // Options.NoInfer
	call     call                              // where the node at hand stands
	starting []event.Event                     // room for those of start, if there are few
}

func newPrograms(g *shared, noInfer bool) *programs {
	return &programs{
		shared: g, layouts: newLayouts(len(g.Known.Partly) > 0), hits: newHits(), open: newOpenRuns(g.units), alive: map[*unit]bool{},
		hidden: hiddenPrograms{ran: map[hiddenRun]bool{}}, noInfer: noInfer, alike: map[device.ID]map[contentSum]bool{},
	}
}

// place records a node that places a CB, dataflow buffer or scratchpad on a unit.
func (p *programs) place(n *graph.Node, u *unit) {
	if u.hidden {
		p.hidden.hide(hiddenRun{operation: p.call.key, on: u.id})
		u.now().shown = true
		return
	}
	if u.run == nil {
		u.run = &run{on: u}
	}
	cb := placedBy(n)
	if u.now().divides(u.run.cbs, cb) {
		p.divide(u, n.Counter)
	}
	u.since.shown = true
	if !u.run.alive() {
		p.alive[u] = true
	}
	u.run.add(n, cb, p.call)
	if u.run.opened == 0 {
		p.open.add(u.run)
	}
	if !n.Placed.Global && n.Placed.Cores.Len() == 0 {
		p.out.notes.add(noteUnattributed, int64(n.Counter), "")
	}
}

// free records a free with an id: the runs that it reaches end, and others are announced.
func (p *programs) free(at uint64, id device.ID) {
	a, m := p.units.announcement(id), p.Known.Members
	a.at, a.programs = at, 1
	p.endRuns(at, p.living(id))
	left := len(p.alive)
	if p.alive[p.units.byID[event.NoDevice]] {
		left--
	}
	if left > 0 && !p.Known.Placed[id] && !m.IsChip[id] && !m.IsMesh(id) { // no node says which of them it ends
		p.out.notes.add(noteMeshUnknown, int64(at), fmt.Sprintf("id %d", id))
	}
}

// living returns units that an id reaches, with all among them on which a run is alive. It visits the units that the id
// reaches or the units with such a run, whichever are fewer.
func (p *programs) living(id device.ID) (out []*unit) {
	if id != event.NoDevice && 1+len(p.Known.Members.Chips[id]) < len(p.alive) {
		return p.units.reached(id)
	}
	for u := range p.alive {
		if p.Known.Members.Reaches(id, u.id) {
			out = append(out, u)
		}
	}
	return out
}

// end records a free by the end of a program: the run of the unit ends.
func (p *programs) end(at uint64, u *unit) {
	if u == nil {
		return
	}
	l := u.now()
	l.over = l.over || l.shown
	p.endRuns(at, []*unit{u})
}

// endRuns ends the runs that are alive on some units.
func (p *programs) endRuns(at uint64, on []*unit) {
	var ended []device.ID
	for _, u := range on {
		if p.alive[u] {
			ended = append(ended, u.id)
			p.endRun(u)
		}
	}
	p.emitFreed(ended, at)
}

func (p *programs) endRun(u *unit) {
	delete(p.alive, u)
	u.run.end()
}

// A start is a program that one unit began to run.
type start struct {
	what startKey
	unit *unit
	on   event.RunDevice
	key  hitKey // of a program that the capture shows

	first  uint64         // counter of the first node that the capture shows of it
	others [][]program.ID // workloads that may have begun instead of the one that this is the first program of
}

// maxStarts bounds the room for events that is used again.
const maxStarts = 1 << 8

// A startKey is the common part of starts that are one event.
type startKey struct {
	program             program.ID
	op                  string
	inferred, continues bool
	unsettled           bool   // it may be several programs
	aborted             bool   // an exception ended its operation
	outside             bool   // the grid
	persistent          bool   // its unit has persistent pages
	others              string // workloads that may have begun instead, in words
	othersUnsettled     bool   // some of them may be more programs
}

// complete writes some open runs, and before each the programs of its workload that ended
// where the next began.
func (p *programs) complete(at uint64, some []*run) {
	var all [][]*run
	most := 0
	for _, r := range some {
		parts := r.parts()
		all, most = append(all, parts), max(most, len(parts))
	}
	for i := range most {
		p.completeParts(all, i, at)
	}
	for _, r := range some {
		p.open.remove(r)
	}
}

// completeParts writes the programs with one number of some workloads. A program ends
// where another one of its workload follows.
func (p *programs) completeParts(all [][]*run, i int, at uint64) {
	var starts []start
	var ended []device.ID
	for _, parts := range all {
		if i >= len(parts) {
			continue
		}
		r := parts[i]
		what := startKey{op: r.call.path, continues: r.emitted > 0, unsettled: p.unsettles(r)}
		if r.inOp {
			what.aborted = p.Known.Aborted[r.call.start]
		}
		if what.program = p.define(r); p.out.err != nil {
			return
		}
		if !r.local && r.facts.start > 0 { // all its local buffers have addresses
			p.Known.Bottom.Program(r.on.id, r.facts.start-1)
		}
		r.emitted = len(r.cbs)
		on := r.where()
		starts = append(starts, start{what, r.on, on, hitKey{r.call.key, r.call.runs}, r.first, nil})
		if !what.aborted && !p.hidden.covers(r.call.key, r.on.id) {
			p.hits.remember(r, remembered{what.program, r.first, on.CBFirst, on.CBLast, what.unsettled})
		}
		if i+1 < len(parts) {
			ended = append(ended, r.on.id)
		}
	}
	p.start(p.spread(starts), at)
	p.emitFreed(ended, at)
}

// spread adds starts on chips that show nothing behind the frees of their mesh, and had the program before: a capture
// shows a known program on the chips alone that are new to it, without its global buffers.
func (p *programs) spread(starts []start) []start {
	if len(p.Known.Partly) == 0 || p.noInfer {
		return starts
	}
	also := map[*unit]bool{}
	for _, s := range starts {
		of := s.unit.now()
		shown, ok := p.Known.Partly[of.at]
		if !ok || s.what.continues || of.most() == 0 || !slices.Contains(shown, s.unit.id) {
			continue
		}
		for _, chip := range p.Known.Members.Chips[of.of.by] {
			u := p.units.byID[chip]
			if u == nil || also[u] || slices.Contains(shown, chip) || len(u.now().programs) > len(of.programs) || p.hidden.covers(s.key.operation, chip) {
				continue
			}
			r, ok := p.hits.ran[s.key][chip].find(func(r remembered) bool { return p.layouts.locals[r.program] == p.layouts.locals[s.what.program] })
			switch also[u] = true; {
			case ok:
				one := p.startOf(r, chip, of.at, s.what.op)
				one.what.aborted = s.what.aborted
				starts = append(starts, one)
			case p.alike[chip][p.layouts.locals[s.what.program]]: // by an operation that looks like another one
				p.out.unlessPlan.add(hiddenNotShown, int64(of.at), s.what.op)
			default:
				delete(also, u)
			}
		}
	}
	return starts
}

// completeBefore writes the programs of a workload that ended before the run of a unit, if there are any.
func (p *programs) completeBefore(u *unit, at uint64) {
	if u.run == nil || len(u.run.before) == 0 {
		return
	}
	before := u.run.before
	u.run.before = nil
	for i := range before {
		p.completeParts([][]*run{before}, i, at)
	}
	p.emitFreed([]device.ID{u.id}, at)
}

// emitFreed yields that the runs end that are alive on some units.
func (p *programs) emitFreed(ended []device.ID, at uint64) {
	if len(ended) > 0 {
		slices.SortFunc(ended, graph.CompareDevices)
		p.out.emit(&event.Event{Kind: event.KindCBsFreed, Node: at, Op: event.Some(p.call.path), Devices: event.Some(ended)})
	}
}

// define returns the program of a run, and writes its definition if it is a new one.
func (p *programs) define(r *run) program.ID {
	id, cbs, err := p.layouts.of(r, p.Specs.Spec(), r.on.spec.CBBase)
	if err != nil {
		p.out.err = cmp.Or(p.out.err, error(&event.InputError{Node: int64(r.first), Reason: err.Error(), Err: err}))
	}
	if cbs != nil {
		p.out.emit(&event.Event{Kind: event.KindProgram, Node: r.first, Program: id, CBs: cbs, AsWritten: true})
	}
	return id
}

// start writes the programs that began to run at one moment: one event for units with the
// same program and operation.
func (p *programs) start(all []start, node uint64) {
	slices.SortStableFunc(all, func(a, b start) int { return graph.CompareDevices(a.unit.id, b.unit.id) })
	at, first, events := map[startKey]int{}, []*unit(nil), p.starting[:0]
	for _, s := range all {
		if !s.unit.ran {
			first, s.unit.ran = append(first, s.unit), true
			p.units.ran++
		}
		s.what.persistent = p.Known.Lifts(s.unit.id)
		if len(p.Known.Partly) > 0 {
			if p.alike[s.unit.id] == nil {
				p.alike[s.unit.id] = map[contentSum]bool{}
			}
			p.alike[s.unit.id][p.layouts.locals[s.what.program]] = true
		}
		if s.what.outside = !p.layouts.inside(s.what.program, p.Grids.Of(s.unit.id)); !s.what.outside {
			s.unit.now().begin(firstRun{s.what.program, s.first}, s.what.inferred)
		}
		i, ok := at[s.what]
		if !ok {
			i, at[s.what] = len(events), len(events)
			events = append(events, event.Event{
				Kind: event.KindRun, Node: node, Op: event.Some(s.what.op), Program: s.what.program,
				Inferred: s.what.inferred, Continues: s.what.continues, Unsettled: s.what.unsettled,
				Candidates: s.others, CandidatesUnsettled: s.what.othersUnsettled, Aborted: s.what.aborted,
				Persistent: s.what.persistent,
			})
		}
		events[i].On = append(events[i].On, s.on)
	}
	for i := range events {
		p.out.emit(&events[i])
	}
	if clear(events); cap(events) <= maxStarts {
		p.starting = events
	}
	p.out.emitAbsent(p.Known.Members, first)
}

// divide ends the run of a unit before a node that begins another program. The run comes with the runs that
// follow, unless it came before.
func (p *programs) divide(u *unit, at uint64) {
	a, old := u.now(), u.run
	if a.found++; a.found == a.most() {
		for _, first := range a.unsettled { // each of these is one program
			if len(p.Known.Settled) < survey.MaxTensors {
				p.Known.Settled[first] = true
			}
		}
	}
	u.run = &run{on: u, divided: true}
	if old.open() {
		u.run.before = append(old.before, old)
		old.before = nil
		p.open.remove(old)
		return
	}
	p.emitFreed([]device.ID{u.id}, at)
}

// unsettles reports whether a run that is complete now may be several programs. Where the capture shows afterwards
// that it is one, the next reading knows it.
func (p *programs) unsettles(r *run) bool {
	a := r.on.now()
	if a.over || a.found >= a.most() || p.Known.Settled[r.first] {
		return false
	}
	if n := len(a.unsettled); n < maxAnnounced && (n == 0 || a.unsettled[n-1] != r.first) {
		a.unsettled = append(a.unsettled, r.first)
	}
	return true
}

// again returns what runs where an operation found its programs in the cache, one program after the other. A workload
// that ran behind fewer frees is followed by the next one of its call. all reports whether each free has its programs.
// first is the node that shows the first one.
func (p *programs) again(f *freeing, first uint64) (rounds [][]start, all bool) {
	key := hitKey{p.call.key, max(p.call.runs, 1)}
	if f == nil {
		if rounds, _ = p.ran(key, event.NoDevice, first); len(rounds) == 0 {
			key.runs = p.hits.last[key.operation]
			rounds, _ = p.ran(key, event.NoDevice, first)
		}
		return rounds, len(rounds) > 0
	}
	for used := 0; used < f.frees; key.runs++ {
		more, frees := p.ran(key, f.device, first+uint64(used))
		if frees == 0 {
			return rounds, false
		}
		f.runs, used, rounds = key.runs, used+frees, append(rounds, more...)
	}
	return rounds, true
}

// ran returns the last workload of an operation, or another one of its workloads, on the units that an id reaches, and
// behind how many frees it ran.
func (p *programs) ran(key hitKey, id device.ID, first uint64) (rounds [][]start, frees int) {
	if !p.Known.Members.IsChip[id] && !p.Known.Members.IsMesh(id) {
		id = event.NoDevice // all
	}
	for on, u := range p.hits.ran[key] {
		workloads := u.ended(p.units.byID[on])
		if len(workloads) == 0 || !p.Known.Members.Reaches(id, on) || p.hidden.covers(key.operation, on) {
			continue
		}
		last := workloads[len(workloads)-1]
		frees = max(frees, last.frees, 1)
		others, unsettled := otherThan(last, workloads)
		for i, r := range last.programs {
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			one := p.startOf(r, on, first, p.call.path)
			if i == 0 && len(others) > 0 {
				one.what.others, one.what.othersUnsettled, one.others = fmt.Sprint(others), unsettled, others
			}
			rounds[i] = append(rounds[i], one)
		}
	}
	return rounds, frees // in no order of units: start orders them
}

// ranMore reports whether the n-th group of frees of a call of an operation is known to have run a program on a mesh.
func (p *programs) ranMore(op operation, n int, mesh device.ID) bool {
	for on := range p.hits.ran[hitKey{op, n}] {
		if p.Known.Members.Reaches(mesh, on) {
			return true
		}
	}
	return false
}

// startOf returns the start of a remembered program on a unit. A node shows it, in the functions of a path.
func (p *programs) startOf(r remembered, on device.ID, at uint64, path string) start {
	where := event.RunDevice{Device: on, First: at, Last: at, CBFirst: r.cbFirst, CBLast: r.cbLast}
	what := startKey{program: r.program, op: path, inferred: true, unsettled: r.unsettled}
	return start{what: what, unit: p.units.byID[on], on: where, first: r.first}
}

// hidePrograms hides the programs that some units show now, up to the next free.
func (p *programs) hidePrograms(at uint64, on ...*unit) {
	for _, u := range on {
		p.hidden.hide(hiddenRun{operation: p.call.key, on: u.id})
		p.hideProgram(at, u)
	}
}

// hidePlaced hides the programs to which a node that cannot be read may add, of an id.
func (p *programs) hidePlaced(at uint64, id device.ID) {
	switch {
	case p.Known.Members.IsBoth(id): // a mesh's or a chip's
		p.hidePrograms(at, p.units.either(id)...)
		return
	case id != event.NoDevice:
		p.hidePrograms(at, p.units.byID[id])
		return
	}
	p.hidden.hide(hiddenRun{operation: p.call.key, any: true})
	if p.hidden.units == len(p.units.order) {
		return
	}
	for _, u := range p.units.order {
		p.hideProgram(at, u)
	}
}

// hideFree ends all runs that a hidden free may have reached, and hides the programs up to
// the next free.
func (p *programs) hideFree(at uint64, id device.ID) {
	if len(p.alive) > 0 || p.hidden.units < len(p.units.order) {
		p.hideUnits(at, p.units.either(id))
	}
}

// hideProgram hides the program of one unit. Its CBs that events have stay, and so do
// the programs of its workload before it.
func (p *programs) hideProgram(at uint64, u *unit) {
	since := u.now()
	since.shown = true
	if r := u.run; isOpen(u) {
		p.hidden.hide(hiddenRun{operation: r.call.key, on: u.id})
		p.open.remove(r)
		r.cbs = r.cbs[:r.emitted]
		p.completeBefore(u, at)
		if r.emitted == 0 && p.alive[u] {
			p.endRun(u)
		}
	}
	since.programs, since.executions = since.programs[:0], 0
	if !u.hidden {
		u.hidden = true
		p.hidden.units++
	}
}

// hideUnits ends the runs of some units and hides their next programs.
func (p *programs) hideUnits(at uint64, some []*unit) {
	p.complete(at, p.open.of(some...))
	p.endRuns(at, some)
	for _, u := range some {
		p.hideProgram(at, u)
	}
}

// hideExecution forgets which programs the next executions on some units run.
func (p *programs) hideExecution(on []*unit) {
	for _, u := range on {
		u.since.programs, u.since.executions = u.since.programs[:0], 0
	}
}

// lift ends the hiding on the units that a readable free reaches: their programs show again.
func (p *programs) lift(id device.ID) {
	if p.hidden.units == 0 {
		return
	}
	for _, u := range p.units.reached(id) {
		if u.hidden {
			u.hidden = false
			p.hidden.units--
		}
	}
}

// doubted returns the units that a free with the id of a mesh may have reached too, since a node
// that may name its chips cannot be read.
func (p *programs) doubted(id device.ID) (others []*unit) {
	m := p.Known.Members
	for _, u := range p.units.order {
		if !m.Reaches(id, u.id) && (m.IsChip[u.id] || !m.IsMesh(u.id)) {
			others = append(others, u)
		}
	}
	return others
}

package capture

import (
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
)

// maxWorkloads is how many different workloads of one operation are remembered for a unit,
// the latest ones: one more than replay judges, so that it sees that there are more.
const maxWorkloads = 65

// hits remember what each operation ran: an operation that finds its program in the cache shows no circular buffers.
type hits struct {
	ran  map[hitKey]map[device.ID]*unitWorkloads // by the id of the unit
	last map[operation]int                       // hitKey.runs of the last program
}

// A hitKey is an operation, and how many groups of frees its call had when it ran a program: each announces one more.
type hitKey struct {
	operation
	runs int
}

func newHits() hits {
	return hits{ran: map[hitKey]map[device.ID]*unitWorkloads{}, last: map[operation]int{}}
}

// unitWorkloads are the workloads that an operation ran on one unit. The names of functions and the text of
// arguments may stand for several workloads: the one that ran last is the last here.
type unitWorkloads struct {
	workloads []workloadRan // at least one; those before the last are different
}

// workloadRan are the programs that an operation ran on one unit behind one free.
type workloadRan struct {
	behind   uint64 // counter of the free
	frees    int    // of its group; 0 = there is no free
	programs []remembered
	lead     program.ID // the first of them, once the workload is not the last one
}

// remembered is a program that ran, and where the capture shows that.
type remembered struct {
	program         program.ID
	first           uint64 // counters of its nodes
	cbFirst, cbLast uint64
	unsettled       bool // it may be several programs
}

// remember records a run: another program behind the same free, one of them that went on,
// or what the operation ran anew.
func (h *hits) remember(r *run, what remembered) {
	key := hitKey{r.call.key, r.call.runs}
	if len(h.ran) >= maxOperations && h.ran[key] == nil {
		*h = newHits()
	}
	h.last[key.operation] = key.runs
	l := r.on.now()
	anew := workloadRan{behind: l.at, frees: l.most(), programs: []remembered{what}}
	if h.ran[key] == nil {
		h.ran[key] = map[device.ID]*unitWorkloads{}
	}
	old := h.ran[key][r.on.id]
	if old == nil {
		h.ran[key][r.on.id] = &unitWorkloads{[]workloadRan{anew}}
		return
	}
	last := &old.workloads[len(old.workloads)-1]
	if k := slices.IndexFunc(last.programs, func(o remembered) bool { return o.first == what.first }); k >= 0 {
		last.programs[k] = what
		return
	}
	if last.frees > 0 && anew.frees > 0 && last.behind == anew.behind && r.divided && len(last.programs) < maxAnnounced {
		last.programs = append(last.programs, what)
		return
	}
	old.add(anew)
}

// add records a workload that begins. The last one until now is kept once.
func (o *unitWorkloads) add(anew workloadRan) {
	n := len(o.workloads) - 1
	last := &o.workloads[n]
	last.lead = last.programs[0].program
	if i := slices.IndexFunc(o.workloads[:n], func(w workloadRan) bool { return w.lead == last.lead && last.same(w) }); i >= 0 {
		o.workloads = slices.Delete(o.workloads, i, i+1)
	}
	if o.workloads = append(o.workloads, anew); len(o.workloads) > maxWorkloads {
		o.workloads = slices.Delete(o.workloads, 0, 1)
	}
}

// same reports whether two workloads are the same programs in the same order.
func (l workloadRan) same(o workloadRan) bool {
	return slices.EqualFunc(l.programs, o.programs, func(a, b remembered) bool { return a.program == b.program && a.unsettled == b.unsettled })
}

// ended returns the workloads that an operation ran on a unit, the last one last. One that
// goes on is none of them: a program of it is not complete.
func (o *unitWorkloads) ended(on *unit) []workloadRan {
	if o == nil {
		return nil
	}
	n := len(o.workloads) - 1
	if last := o.workloads[n]; last.frees > 0 && last.behind == on.now().at && on.run != nil && on.run.open() && last.has(on.run) {
		return o.workloads[:n]
	}
	return o.workloads
}

// has reports whether a run behind the free of a workload is one of its programs. Another one may be there too, which a free of
// the chip parts from them.
func (l workloadRan) has(r *run) bool {
	return r.divided || slices.ContainsFunc(l.programs, func(p remembered) bool { return p.first == r.first })
}

// otherThan returns the workloads that are not a given one, by the ids of their programs, and
// whether one of them may be more programs than the capture distinguishes.
func otherThan(one workloadRan, workloads []workloadRan) (all [][]program.ID, unsettled bool) {
	for _, w := range workloads {
		if w.same(one) {
			continue
		}
		var ids []program.ID
		for _, r := range w.programs {
			ids = append(ids, r.program)
			unsettled = unsettled || r.unsettled
		}
		all = append(all, ids)
	}
	slices.SortFunc(all, slices.Compare)
	return all, unsettled
}

// find returns the first program of some kind.
func (o *unitWorkloads) find(is func(remembered) bool) (r remembered, ok bool) {
	if o == nil {
		return r, false
	}
	for _, w := range o.workloads {
		if i := slices.IndexFunc(w.programs, is); i >= 0 {
			return w.programs[i], true
		}
	}
	return r, false
}

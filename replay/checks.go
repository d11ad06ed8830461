package replay

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// maxRemembered bounds how many results of checks are remembered. Beyond it all are
// forgotten and found anew.
const maxRemembered = 1 << 14

// checks judge what is enqueued, beside the buffers that live then.
type checks struct {
	result Checks
	known  map[checkKey]int      // index in result.List of a failure, or one of the below
	failed map[[16]byte]int      // by how it failed: the index
	fits   map[checkKey]fittings // of programs that ran where others may have
	others map[candidatesKey]fittings
	specs  map[l1.Spec]*l1.Spec // with which programs were judged, each once
	slack  uint64               // of result.Tightest
	tight  tight

	waiting []launch // to be judged together
	moment  uint64   // of these: the node at which they were complete
}

// A checkKey is all that the answer of a check depends on. The mode of an allocator is not: devices are
// judged each for itself, and on which cores a buffer counts is in beside.
type checkKey struct {
	content *content
	beside  sum128
	spec    *l1.Spec // of checks.specs

	unsettled, persistent bool
	hybrid                bool // of the room beside it alone
}

// What a check found where it has no index.
const (
	fitted   = -1
	unlisted = -2
	untold   = -3 // it does not fit, but may be several programs
	ranged   = -4 // that depends on buffers in range lockstep
	hidden   = -5 // that depends on buffers whose place is not known
	lifted   = -6 // that depends on persistent pages below it
)

func newChecks() checks {
	return checks{
		known: map[checkKey]int{}, failed: map[[16]byte]int{}, fits: map[checkKey]fittings{}, others: map[candidatesKey]fittings{}, slack: math.MaxUint64,
		specs: map[l1.Spec]*l1.Spec{},
	}
}

// spec returns the Spec with which programs are judged on a device, the same memory for
// equal ones.
func (r *replay) spec(d device.Device) *l1.Spec {
	spec := r.session.judged(d)
	known := r.checks.specs[spec]
	if known == nil {
		known = &spec
		r.checks.specs[spec] = known
	}
	return known
}

// A launch is a run on the devices of a row at the moment when it is enqueued.
type launch struct {
	on      *row
	content *content
	run     ProgramRun
	spec    *l1.Spec // with the grid; of checks.specs

	candidates *candidates // what else its workload may be; nil if it is known, or told with another launch
	unsettled  bool        // it may be several programs
	persistent bool        // persistent pages lift its buffers
}

// uncertain reports whether addresses that the source placed are too low.
func (l launch) uncertain() bool { return l.persistent && l.content.resolved }

// doubts reports whether the refusals of a program are uncertain: their only cause is an L1
// buffer below the program, which may be a persistent page. tt-metal compares none of these.
func (l launch) doubts(p *program.Program, v fit.Verdict) bool {
	start := uint64(math.MaxUint64)
	for _, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Len() > 0 {
			start = min(start, cb.Range.Start)
		}
	}
	above := func(r *fit.Refusal) bool { return r.Kind != fit.RefusedClash || r.Limit >= start }
	return l.persistent && len(v.Clashes) == 0 && !slices.ContainsFunc(v.Refusals, above)
}

func (l launch) key() checkKey {
	return checkKey{l.content, l.on.beside, l.spec, l.unsettled, l.persistent, false}
}

// devices returns on how many devices a group of launches is.
func devices(group []launch) (n int64) {
	for _, l := range group {
		n += int64(l.on.members.Len())
	}
	return n
}

// part takes in that some devices of a row have another one now.
func (k *checks) part(d, other *row) {
	for i := 0; i < len(k.waiting); i++ {
		if l := k.waiting[i]; l.on == d {
			l.on = other
			i++
			k.waiting = slices.Insert(k.waiting, i, l)
		}
	}
}

// enqueue gathers the programs that an event enqueues: those of a run, of a call, or of a
// trace that is replayed.
func (r *replay) enqueue(e *event.Event) error {
	var all []launch
	var err error
	switch e.Kind {
	case event.KindRun:
		all, err = r.launchesOfRun(e)
	case event.KindEnqueue, event.KindDispatch:
		all, err = r.launchesOfCall(e)
	case event.KindReplay:
		all, err = r.launchesOfTrace(e)
	}
	if err != nil {
		return r.internal(e, err)
	}
	all = r.opt.Only.left(all)
	r.checks.moment = e.Node
	r.checks.waiting = append(r.checks.waiting, all...)
	return nil
}

// judge checks what was enqueued, unless the event that is next enqueues more at the same
// moment. What lives on the devices is what lived there then: runs do not change it.
func (r *replay) judge(next *event.Event) {
	k := &r.checks
	if len(k.waiting) == 0 || next.Kind == event.KindRun && next.Node == k.moment && next.Inferred == k.waiting[0].run.Inferred {
		return
	}
	all := k.waiting
	k.waiting = nil
	slices.SortStableFunc(all, func(a, b launch) int { return compareRows(a.on, b.on) })
	if r.opt.Runs {
		r.listRuns(all)
	}
	r.noteSmall(all)
	r.checkedRuns(all)
	all = r.settled(all)
	for _, group := range groupsOf(all, launch.key) {
		first, n := group[0], devices(group)
		why := AnomalyCount{Count: n, First: NodeAt(first.run.At), Detail: string(first.run.Op), Hidden: true}
		switch k.check(group) {
		case untold:
			why.Code = CodeUnsettled
		case ranged:
			why.Code = CodeRangeLockstep
		case hidden:
			why.Code, why.Count = CodePerCoreHidden, 0 // the buffers are counted
		case lifted:
			why.Code = CodePersistentL1
		default:
			continue
		}
		r.notes.add(why)
	}
}

// noteSmall notes programs that end in L1_SMALL. tt-metal compares them with all of L1.
func (r *replay) noteSmall(all []launch) {
	for _, l := range all {
		if spec := l.spec; spec.L1Small > 0 && l.content.end > spec.Usable().End {
			r.notes.add(AnomalyCount{Code: CodeSmallReached, Count: int64(l.on.members.Len()), First: NodeAt(l.run.At), Detail: string(l.run.Op)})
		}
	}
}

// groupsOf divides launches into those that are judged alike, by the first of each.
func groupsOf(all []launch, key func(launch) checkKey) (groups [][]launch) {
	if len(all) == 1 {
		return [][]launch{all}
	}
	at := make(map[checkKey]int, 1)
	for _, l := range all {
		by := key(l)
		i, ok := at[by]
		if !ok {
			i = len(groups)
			at[by] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

func (r *replay) launchesOfRun(e *event.Event) (all []launch, err error) {
	contents := contentsOf(r.session.launched)
	var others map[l1.Spec]*candidates // nil: it is known what ran
	if len(e.Candidates) > 0 {
		others = map[l1.Spec]*candidates{}
		for _, l := range r.session.launched {
			spec := placing(r.rows.Get(l.ids[0]).dev.Spec())
			if others[spec], err = r.session.candidatesOf(e, spec); err != nil {
				return nil, err
			}
		}
	}
	for _, at := range r.runsOn(e) {
		d, c := at.row, contents(at.on.Device)
		all = append(all, launch{d, c, d.named(c, at.on, e), r.spec(d.dev), others[placing(d.dev.Spec())], e.Unsettled, e.Persistent})
	}
	return all, nil
}

// launchesOfCall returns what a log enqueues or dispatches.
func (r *replay) launchesOfCall(e *event.Event) ([]launch, error) {
	set, err := r.session.set(e)
	if err != nil || set.Len() == 0 { // a dispatch on no device needs no program
		return nil, err
	}
	p, ok := r.session.fleet.Program(e.Program)
	if !ok {
		if p, _, err = r.session.place(e.Program, set); err != nil {
			return nil, err
		}
	}
	return r.launchesOf(p, set, e)
}

func (r *replay) launchesOf(p *program.Program, set device.Set, e *event.Event) (all []launch, err error) {
	c, err := r.contentOf(p)
	if err != nil {
		return nil, err
	}
	for _, d := range r.rows.of(set) {
		all = append(all, launch{d, c, r.loggedRun(d, p, e), r.spec(d.dev), nil, false, false})
	}
	return all, nil
}

// launchesOfTrace returns what the replay of a trace runs, or would have run: all that was
// recorded, as it was recorded.
func (r *replay) launchesOfTrace(e *event.Event) (all []launch, err error) {
	for _, happened := range r.told {
		if happened.Kind != device.EventTraceReplayed && happened.Kind != device.EventRefused {
			continue
		}
		seen := map[*program.Program]bool{}
		for _, p := range r.traces[happened.Trace] {
			if seen[p] {
				continue
			}
			seen[p] = true
			some, err := r.launchesOf(p, happened.Set, e)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

// check judges one content on devices on which the same lives, and returns where the
// answer is.
func (k *checks) check(group []launch) (found int) {
	n := devices(group)
	k.result.Runs += n
	if group[0].run.Inferred {
		k.result.Inferred += n
	}
	if group[0].spec.L1Size == 0 {
		k.result.Endless += n
	}
	key := group[0].key()
	found, ok := k.known[key]
	if !ok {
		found = k.find(group)
		if len(k.known) >= maxRemembered {
			clear(k.known)
		}
		k.known[key] = found
	} else if found >= 0 {
		k.result.List[found].Times += n
	}
	if found >= 0 || found == unlisted {
		k.result.Failed += n
	}
	return found
}

// find checks a content anew and returns where the answer is. What is known not to fit comes
// before what is not known.
func (k *checks) find(group []launch) (found int) {
	first := group[0]
	if first.uncertain() {
		return lifted
	}
	found = fitted
	clear := first.on.dev.Clear()
	place := sync.OnceValue(func() fit.Place { return first.place(int(devices(group))) })
	for _, one := range first.content.judged {
		if !fit.Clears(one, *first.spec, clear) {
			switch verdict := fit.Check(one, place()); {
			case verdict.CannotTell():
				if found = hidden; verdict.Doubts[0].Kind == fit.DoubtRange {
					found = ranged
				}
			case verdict.Fits():
			case first.doubts(one, verdict):
				found = lifted
				continue
			case first.unsettled:
				return untold
			default:
				return k.fail(group, verdict)
			}
		}
		if fit.LeastRoom(one, *first.spec, clear) >= k.slack {
			continue // it cannot be the tightest
		}
		for _, room := range fit.HeadroomOf(one, place()) {
			if room.Free < k.slack {
				k.slack = room.Free
				k.result.Tightest = &Tightest{Run: first.run, Enqueue: k.moment, T: first.run.T, Device: first.on.id, Headroom: room}
				k.tight = tight{one, place()}
			}
		}
	}
	return found
}

// fail lists a failure.
func (k *checks) fail(group []launch, v fit.Verdict) int {
	first := group[0]
	key := failureKey(string(first.run.Op), v)
	if i, ok := k.failed[key]; ok {
		if i >= 0 {
			k.result.List[i].Times += devices(group)
		}
		return i
	}
	index := unlisted
	if len(k.result.List) < MaxListed {
		index = len(k.result.List)
		c := FailedCheck{
			Run: first.run, Enqueue: k.moment, T: first.run.T, Device: first.on.id, Devices: int(devices(group)), Times: devices(group), Verdict: v,
			Buffers: map[fit.BufferID]BufferInfo{}, Synthesised: first.content.resolved,
		}
		c.explain(first.on)
		k.result.List = append(k.result.List, c)
	} else {
		k.result.More++
	}
	if len(k.failed) < maxRemembered {
		k.failed[key] = index
	}
	return index
}

// failureKey hashes what tells one failure from another: where, by how much, and the
// sizes of what is in the way.
func failureKey(op string, v fit.Verdict) (key [16]byte) {
	h := fnv.New128a()
	text := append([]byte(op), 0)
	for _, r := range v.Refusals {
		text = append(text, r.Error()...)
	}
	for _, c := range v.Clashes {
		text = append(text, c.Cores.String()...)
		for _, n := range []uint64{c.End, c.Limit, c.Bytes} {
			text = binary.LittleEndian.AppendUint64(text, n)
		}
		for _, r := range v.Above(c) {
			text = binary.LittleEndian.AppendUint64(append(text, byte(r.Kind)), r.Range.Start)
			text = binary.LittleEndian.AppendUint64(text, r.Range.End)
		}
	}
	h.Write(text) // never fails
	h.Sum(key[:0])
	return key
}

// explain gathers the buffers of a device that the verdict names.
func (c *FailedCheck) explain(d *row) {
	name := func(b *buffer) {
		c.Buffers[b.id] = b.info
		c.Synthesised = c.Synthesised || b.synthesised
	}
	for _, clash := range c.Verdict.Clashes {
		for _, r := range c.Verdict.Above(clash) {
			if b := d.live.of(r.Buffer.ID); b != nil {
				name(b)
			}
		}
	}
	for _, r := range c.Verdict.Refusals {
		for _, b := range d.live.all() {
			if (b.unsized || !b.span.IsEmpty()) && b.span.Start == r.Limit {
				name(b)
			}
		}
	}
}

package replay

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// checks judge enqueued programs, beside the buffers that live then.
type checks struct {
	result answer.Checks
	known  map[checkKey]found
	failed map[[16]byte]found // by how it failed
	others alternatives
	specs  map[l1.Spec]*l1.Spec // with which programs were judged, each once
	lately *l1.Spec             // of specs, the last one that was asked for
	slack  uint64               // of result.Tightest
	tight  tight
	named  int // buffers of the failures in result.List

	waiting []launch // to be judged together
	moment  uint64   // of these: the node at which they were complete
}

// A finding is the kind of answer of a check.
type finding int

const (
	fitted    finding = iota
	misfit            // it does not fit
	unlisted          // nor does this one, which is one too many for a list
	unsettled         // it does not fit, but may be several programs
	ranged            // that depends on buffers in range lockstep
	hidden            // that depends on buffers whose place is not known
	lifted            // that depends on persistent pages below it
)

// found is the answer of a check.
type found struct {
	finding
	at int // of a misfit: its place in the list
}

func newChecks() checks {
	return checks{
		known: map[checkKey]found{}, failed: map[[16]byte]found{}, slack: l1.MaxAddr / 2, // more is no figure: the size of L1 is not known

		others: alternatives{map[checkKey]fittings{}, map[candidatesKey]fittings{}},
		specs:  map[l1.Spec]*l1.Spec{},
	}
}

// specOf returns a Spec with which programs are judged, the same memory for equal ones.
func (k *checks) specOf(spec l1.Spec) *l1.Spec {
	if k.lately == nil || *k.lately != spec {
		known := k.specs[spec]
		if known == nil {
			known = new(spec)
			k.specs[spec] = known
		}
		k.lately = known
	}
	return k.lately
}

// part gives the new row of some devices the history of their old row.
func (k *checks) part(d, other *row) {
	for i := 0; i < len(k.waiting); i++ {
		if l := k.waiting[i]; l.on == d {
			l.on = other
			i++
			k.waiting = slices.Insert(k.waiting, i, l)
		}
	}
}

// enqueue adds programs that were enqueued at a node.
func (k *checks) enqueue(node uint64, all []launch) {
	k.moment = node
	k.waiting = append(k.waiting, all...)
}

// due returns the waiting programs, unless the next event enqueues more at the same moment. Runs change no
// buffers: the devices still have the buffers of that moment.
func (k *checks) due(next *event.Event) []launch {
	if len(k.waiting) == 0 || next.Kind == event.KindRun && next.Node == k.moment && next.Inferred == k.waiting[0].run.Inferred {
		return nil
	}
	all := k.waiting
	k.waiting = nil
	slices.SortStableFunc(all, func(a, b launch) int { return compareRows(a.on, b.on) })
	return all
}

// judge checks the programs that were enqueued at one moment.
func (k *checks) judge(all []launch, notes notes) {
	notes.noteSmall(all)
	doubted := k.others.unsettled(all, notes)
	all = slices.DeleteFunc(all, func(l launch) bool {
		if doubted(l) {
			k.count(l.run, int64(l.on.members.Len()))
			return true
		}
		return false
	})
	for _, group := range groupsOf(all, launch.key) {
		first, n := group[0], devices(group)
		why := answer.AnomalyCount{Count: n, First: answer.NodeNumber(first.run.At), Detail: string(first.run.Op), Hidden: true}
		switch k.check(group).finding {
		case unsettled:
			why.Code = answer.CodeUnsettled
		case ranged:
			why.Code = answer.CodeRangeLockstep
		case hidden:
			why.Code, why.Count = answer.CodePerCoreHidden, 0 // the buffers are counted
		case lifted:
			why.Code = answer.CodePersistentL1
		default:
			continue
		}
		notes.add(why)
	}
}

// noteSmall notes programs that end in L1_SMALL. tt-metal compares them with all of L1.
func (n notes) noteSmall(all []launch) {
	for _, l := range all {
		if spec := l.spec; spec.L1Small > 0 && l.content.End > spec.Usable().End {
			n.add(answer.AnomalyCount{
				Code: answer.CodeSmallReached, Count: int64(l.on.members.Len()), First: answer.NodeNumber(l.run.At), Detail: string(l.run.Op),
			})
		}
	}
}

// count counts a run on n devices.
func (k *checks) count(run answer.ProgramRun, n int64) {
	k.result.Runs += n
	if run.Inferred {
		k.result.Inferred += n
	}
}

// check judges one content on devices on which the same lives.
func (k *checks) check(group []launch) (is found) {
	n := devices(group)
	k.count(group[0].run, n)
	if group[0].spec.L1Size == 0 {
		k.result.Endless += n
	}
	key := group[0].key()
	is, ok := k.known[key]
	if !ok {
		is = k.find(group)
		if len(k.known) >= maxRemembered {
			clear(k.known)
		}
		k.known[key] = is
	} else if is.finding == misfit {
		k.result.List[is.at].Times += n
	}
	if is.finding == misfit || is.finding == unlisted {
		k.result.Failed += n
	}
	return is
}

// find checks a content anew. A known misfit comes before an unknown.
func (k *checks) find(group []launch) (is found) {
	first := group[0]
	if first.uncertain() {
		return found{finding: lifted}
	}
	clear := first.on.dev.Clear()
	place := sync.OnceValue(func() fit.Place { return first.place(int(devices(group))) })
	for _, one := range first.content.Judged {
		if !fit.Clears(one, *first.spec, clear) {
			switch verdict := fit.Check(one, place()); {
			case verdict.CannotTell():
				if is.finding = hidden; verdict.Doubts[0].Kind == fit.DoubtRange {
					is.finding = ranged
				}
			case verdict.Fits():
			case first.doubts(one, verdict):
				is.finding = lifted
				continue
			case first.unsettled:
				return found{finding: unsettled}
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
				k.result.Tightest = &answer.TightestRun{Run: first.run, Enqueue: k.moment, T: first.run.T, Device: first.on.id, Headroom: room}
				k.tight = tight{one, place()}
			}
		}
	}
	return is
}

// maxNamed is how many buffers the failures of a list name together, about: 1,000 failures beside 2,000 buffers took
// 1.1 GB.
const maxNamed = 1 << 16

// fail lists a failure.
func (k *checks) fail(group []launch, v fit.Verdict) found {
	first := group[0]
	key := failureKey(string(first.run.Op), v)
	if is, ok := k.failed[key]; ok {
		if is.finding == misfit {
			k.result.List[is.at].Times += devices(group)
		}
		return is
	}
	is := found{finding: unlisted}
	if len(k.result.List) < answer.MaxListed && k.named < maxNamed {
		is = found{misfit, len(k.result.List)}
		c := answer.FailedCheck{
			Run: first.run, Enqueue: k.moment, T: first.run.T, Device: first.on.id, Devices: int(devices(group)), Times: devices(group), Verdict: v,
			Buffers: map[fit.BufferID]answer.BufferInfo{}, Synthesised: first.content.From.Resolved,
		}
		explain(&c, &first.on.memory)
		k.named += len(c.Buffers)
		k.result.List = append(k.result.List, c)
	} else {
		k.result.More++
	}
	if len(k.failed) < maxRemembered {
		k.failed[key] = is
	}
	return is
}

// failureKey hashes the differences between failures: where, by how much, and the sizes in the way.
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

// explain gathers the buffers in a memory that the verdict names.
func explain(c *answer.FailedCheck, in *memory) {
	name := func(b *buffer) {
		c.Buffers[b.id] = b.info
		c.Synthesised = c.Synthesised || b.synthesised
	}
	for _, clash := range c.Verdict.Clashes {
		for _, r := range c.Verdict.Above(clash) {
			if b := in.live.Of(r.Buffer.ID); b != nil {
				name(b)
			}
		}
	}
	for _, r := range c.Verdict.Refusals {
		for _, b := range in.live.All() {
			if (b.unsized || !b.span.IsEmpty()) && b.span.Start == r.Limit {
				name(b)
			}
		}
	}
}

// maxGrown is how many buffers of the tightest program are tried, the first ones.
const maxGrown = 64

// tight keeps the tightest run and its place until the end: the growth of its buffers is worked out once.
type tight struct {
	one   *program.Program
	place fit.Place
}

// grow works out by how much the buffers of the tightest run may grow. They do not where
// addresses are recorded that tt-metal's placement does not explain.
func (k tight) grow(to *answer.TightestRun) error {
	if to == nil {
		return nil
	}
	one, ok := fit.Replaced(k.one)
	if !ok {
		return nil
	}
	usable := k.place.Spec.Usable().Len() // of the base that is assumed
	small := k.place.Spec.L1Small
	k.place.Spec = one.Spec()
	k.place.Spec.L1Small = small
	for i, cb := range one.CBs() {
		if i >= maxGrown {
			break
		}
		bytes, ok, err := fit.MayGrow(one, i, k.place)
		if err != nil {
			return err
		}
		if ok {
			to.Grow = append(to.Grow, answer.CBRoom{Kind: fit.Kind(cb.Kind), CB: i, Bytes: min(bytes, usable)})
		}
	}
	return nil
}

package replay

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
)

// An Enqueued is a program that was enqueued, beside what lay lowest then. Runs are the same
// if they are of one operation, place the same, and have the same lowest address beside
// them. Everything said of them is said of the first.
type Enqueued struct {
	Run     ProgramRun
	Device  event.Opt[uint64] // the first device
	Devices int               // on which it was enqueued then
	Times   int64             // how often it was enqueued like this, the first time included

	// OneOf is how many workloads may have run instead of this one, itself included; 0 if it is
	// known what ran. The programs of all of them are listed: one of the workloads ran. Of
	// more than 64 some are not.
	OneOf int

	// Programs are what it places: circular buffers as one program, dataflow buffers and
	// scratchpads as another, where it has any. Synthesised: some have no address in the
	// source and were placed.
	Programs    []*program.Program
	Synthesised bool

	// Lowest are the L1 buffers that lay lowest on the device, all at one address: what
	// tt-metal compares the region of the run with. LowestSynthesised: one of them has no
	// address in the source and was placed.
	Lowest            []BufferInfo
	LowestSynthesised bool
}

// maxRuns is how many distinct runs a Result lists at most.
const maxRuns = 1 << 16

// runs are the places of runs in a Result.
type runs map[runKey]int

// A runKey is what tells one run from another.
type runKey struct {
	op      Name
	content *content
	lowest  uint64
	any     bool // something lay in L1
	oneOf   int
}

// A listing is what is listed of one moment, on devices where the same lives.
type listing struct {
	launch
	devices, oneOf int
}

// A listingKey is what tells the listings of one moment apart.
type listingKey struct {
	checkKey
	oneOf int
}

// listRuns lists what was enqueued at one moment: what is taken to have run, and behind it
// the programs that may have run instead.
func (r *replay) listRuns(all []launch) {
	oneOf := map[workload]int{}
	for _, l := range all {
		if l.candidates != nil {
			oneOf[l.workload()] = max(oneOf[l.workload()], 1) + l.candidates.several
		}
	}
	var list []listing
	at := map[listingKey]int{}
	alike := map[candidatesKey]int{} // devices with the same candidates, where the same lives
	for _, l := range all {
		one := listingKey{l.key(), oneOf[l.workload()]}
		i, ok := at[one]
		if !ok {
			i = len(list)
			at[one] = i
			list = append(list, listing{l, 0, one.oneOf})
		}
		list[i].devices += l.on.members.Len()
		if l.candidates != nil {
			alike[l.candidatesKey()] += l.on.members.Len()
		}
	}
	for _, l := range all {
		devices := alike[l.candidatesKey()]
		if l.candidates == nil || devices == 0 {
			continue
		}
		delete(alike, l.candidatesKey())
		several := oneOf[l.workload()]
		for _, c := range slices.Concat(l.candidates.workloads...) {
			l.content = c
			if one := (listingKey{l.key(), several}); !contains(at, one) {
				at[one] = len(list)
				list = append(list, listing{l, devices, several})
			}
		}
	}
	for _, l := range list {
		r.listRun(l)
	}
}

func contains[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}

// listRun lists a run, or counts it where the same is listed already.
func (r *replay) listRun(l listing) {
	low := l.on.lowest()
	key := runKey{op: l.run.Op, content: l.content, any: len(low.list) > 0, oneOf: l.oneOf}
	if key.any {
		key.lowest = low.list[0].Address.V
	}
	if i, ok := r.runs[key]; ok {
		r.result.Runs[i].Times++
		return
	}
	if len(r.runs) == maxRuns {
		r.result.RunsMore++
		return
	}
	if r.runs == nil {
		r.runs = runs{}
	}
	r.runs[key] = len(r.result.Runs)
	r.result.Runs = append(r.result.Runs, Enqueued{
		Run: l.run, Device: l.on.id, Devices: l.devices, Times: 1, OneOf: l.oneOf, Programs: l.content.programs,
		Synthesised: l.content.resolved, Lowest: low.list, LowestSynthesised: low.synthesised,
	})
}

// A lowest is the L1 buffers that lie lowest on a device.
type lowest struct {
	known       bool
	list        []BufferInfo
	synthesised bool
}

// lowest returns the L1 buffers that lie lowest on a device. Cost: O(live buffers), once for all rows that part
// while nothing of them changes.
func (d *row) lowest() *lowest {
	if d.low == nil || d.low.known {
		return cmp.Or(d.low, &lowest{})
	}
	d.low.known = true
	var found []*buffer
	for _, b := range d.live.all() {
		if b.span.IsEmpty() || b.info.Kind != fit.KindL1 && b.info.Kind != fit.KindGlobalCB {
			continue
		}
		if len(found) > 0 && b.span.Start < found[0].span.Start {
			found = found[:0]
		}
		if len(found) == 0 || b.span.Start == found[0].span.Start {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *buffer) int { return cmp.Compare(a.id, b.id) })
	for _, b := range found {
		d.low.list = append(d.low.list, b.info)
		d.low.synthesised = d.low.synthesised || b.synthesised
	}
	return d.low
}

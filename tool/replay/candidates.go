package replay

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// maxCandidates is how many workloads are judged where one of them ran. With more of them the
// answer is CannotTell.
const maxCandidates = 64

// maxPrograms is how many programs the candidates of a run may have in all to be judged.
const maxPrograms = 1 << 12

// candidatesOf returns the workloads that may have run instead, on devices of a Spec.
func candidatesOf(e *event.Event, defs source.Definitions, spec l1.Spec) (*candidates, error) {
	c := &candidates{several: len(e.Candidates), unsettled: e.CandidatesUnsettled}
	if c.several >= maxCandidates {
		c.many = fmt.Sprintf("more than %d candidates", maxCandidates)
	}
	programs := 0
	for _, ids := range e.Candidates[:min(c.several, maxCandidates)] {
		if programs += len(ids); programs > maxPrograms {
			c.many = fmt.Sprintf("candidates of more than %d programs", maxPrograms)
			break
		}
		var workload []*source.Content
		for _, id := range ids {
			one, err := defs[id].Apart(spec)
			if err != nil {
				return nil, err
			}
			workload = append(workload, one)
		}
		c.workloads = append(c.workloads, workload)
	}
	return c, nil
}

// A batch is the programs of an operation that run on a device at one moment.
type batch struct {
	on *row
	at uint64 // the node at which it starts
}

func (l launch) batch() batch { return batch{l.on, l.run.At} }

// alternatives judge workloads that may be one of several.
type alternatives struct {
	fits   map[checkKey]fittings // of programs that ran where others may have
	others map[candidatesKey]fittings
}

// unsettled reports for each launch whether it cannot be judged. A workload may be one of several: if some of them
// fit and some do not, or they are too many, none of its launches can be judged.
func (k *alternatives) unsettled(all []launch, notes notes) func(launch) bool {
	if !slices.ContainsFunc(all, func(l launch) bool { return l.candidates != nil }) {
		return func(launch) bool { return false }
	}
	groups := map[batch][]launch{}
	for _, l := range all {
		groups[l.batch()] = append(groups[l.batch()], l)
	}
	clear(k.others) // other events have other candidates
	settled := map[batch]bool{}
	return func(l launch) bool {
		of := l.batch()
		if _, known := settled[of]; !known {
			settled[of] = k.clear(groups[of], notes)
		}
		return !settled[of]
	}
}

// clear reports whether a workload can be judged, and notes where it may be another one.
func (k *alternatives) clear(group []launch, notes notes) bool {
	ambiguous, detail := false, ""
	for _, l := range group {
		if l.candidates != nil {
			ambiguous, detail = true, cmp.Or(detail, l.candidates.many)
		}
	}
	if !ambiguous {
		return true
	}
	notes.noteAll(answer.CodeAmbiguous, int64(group[0].run.At), "", group[0].on.members.Len())
	if detail == "" {
		if !k.differ(group) {
			return true
		}
		detail = "some fit and some do not"
	}
	if note := notes[answer.CodeAmbiguous]; !note.Hidden {
		note.Hidden, note.First, note.Detail = true, answer.NodeNumber(group[0].run.At), detail
	}
	return false
}

// differ reports whether the alternatives of a workload disagree: one fails, and another one fits. An
// alternative that may be more programs than are known, and does not fit, may do either.
func (k *alternatives) differ(group []launch) bool {
	var found fittings
	found.add(k.together(slices.Values(group)))
	unsure := false
	for _, l := range group {
		if l.candidates == nil {
			continue
		}
		others := k.fittings(l)
		found.fit, found.fail = found.fit || others.fit, found.fail || others.fail
		unsure = unsure || l.candidates.unsettled && others.fail
	}
	return found.fail && (found.fit || unsure)
}

// fittings say whether there are workloads that fit, and some that do not. One that may do
// either counts as both.
type fittings struct{ fit, fail bool }

func (f *fittings) add(o fittings) { f.fit, f.fail = f.fit || o.fit, f.fail || o.fail }

// together judges launches of one workload, which fits if all of them do.
func (k *alternatives) together(all iter.Seq[launch]) fittings {
	out := fittings{fit: true}
	for l := range all {
		one := k.fitting(l)
		out.fit, out.fail = out.fit && one.fit, out.fail || one.fail
	}
	return out
}

// A candidatesKey is all that the answers about candidates depend on.
type candidatesKey struct {
	of     *candidates
	beside sum128
	spec   *l1.Spec // of checks.specs
}

func (l launch) candidatesKey() candidatesKey {
	return candidatesKey{l.candidates, l.on.memory.beside, l.spec}
}

// fittings judges the candidates of a launch, once for all devices that are alike.
func (k *alternatives) fittings(l launch) (found fittings) {
	key := l.candidatesKey()
	if found, known := k.others[key]; known {
		return found
	}
	for _, workload := range l.candidates.workloads {
		found.add(k.together(func(yield func(launch) bool) {
			for _, c := range workload {
				other := l
				other.content = c
				if !yield(other) {
					return
				}
			}
		}))
	}
	k.others[key] = found
	return found
}

// fitting says whether a launch fits, or may do either. Nothing is counted.
func (k *alternatives) fitting(l launch) fittings {
	key := l.key()
	fits, known := k.fits[key]
	if known {
		return fits
	}
	if l.uncertain() {
		return fittings{fit: true, fail: true}
	}
	place := l.place(1)
	fits.fit = true
	for _, p := range l.content.Programs {
		v := fit.Check(p, place)
		fits.fit, fits.fail = fits.fit && (v.Fits() || v.CannotTell() || l.doubts(p, v)), fits.fail || !v.Fits()
	}
	if len(k.fits) >= maxRemembered {
		clear(k.fits)
	}
	k.fits[key] = fits
	return fits
}

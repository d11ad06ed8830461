package replay

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
)

// maxCandidates is how many programs are judged where one of them ran. Of more the answer is
// cannot tell.
const maxCandidates = 64

// A workload is what an operation runs on a device at one moment, program by program.
type workload struct {
	on *row
	at uint64 // the node at which it starts
}

func (l launch) workload() workload { return workload{l.on, l.run.At} }

// settled returns the launches that can be judged. A workload may be one of several: if
// some of them fit and some do not, or they are too many, nobody can tell of any of its
// launches. They are counted here.
func (r *replay) settled(all []launch) []launch {
	groups := map[workload][]launch{}
	for _, l := range all {
		groups[l.workload()] = append(groups[l.workload()], l)
	}
	told := map[workload]bool{}
	return slices.DeleteFunc(all, func(l launch) bool {
		of := l.workload()
		if _, known := told[of]; !known {
			told[of] = r.clear(groups[of])
		}
		if told[of] {
			return false
		}
		n := int64(len(l.on.members))
		r.checks.result.Runs += n
		if l.run.Inferred {
			r.checks.result.Inferred += n
		}
		if r.opt.Runs {
			r.listRun([]launch{l})
		}
		return true
	})
}

// clear reports whether a workload can be judged, and notes where it may be another one.
func (r *replay) clear(group []launch) bool {
	most := 0
	for _, l := range group {
		if most = max(most, len(l.candidates)); len(l.candidates) > 0 {
			r.notes.noteAll(CodeAmbiguous, int64(l.run.At), "", len(l.on.members))
		}
	}
	detail := "some fit and some do not"
	switch {
	case most >= maxCandidates:
		detail = fmt.Sprintf("more than %d candidates", maxCandidates)
	case most == 0 || !r.checks.differ(group):
		return true
	}
	if note := r.notes[CodeAmbiguous]; !note.Hidden {
		note.Hidden, note.First, note.Detail = true, int64(group[0].run.At), detail
	}
	return false
}

// differ reports whether what a workload may be does not all fit, or not all fail. A
// source gives every launch a candidate of each workload that differs there: if the launch
// fits nowhere, the workload does not. Which candidates belong together is not known, so
// of several that fit in different places nobody can tell.
func (k *checks) differ(group []launch) bool {
	fits, someFail, mayFit := true, false, true
	for _, l := range group {
		one := k.fitting(l)
		some := one
		fits = fits && one
		for _, c := range l.candidates {
			other := l
			other.content = c
			if k.fitting(other) {
				some = true
			} else {
				someFail = true
			}
		}
		mayFit = mayFit && some
	}
	if fits {
		return someFail
	}
	return mayFit
}

// fitting reports whether a launch fits. Nothing is counted.
func (k *checks) fitting(l launch) bool {
	key := l.key()
	fits, known := k.fits[key]
	if known {
		return fits
	}
	place := l.place(1)
	fits = !slices.ContainsFunc(l.content.programs, func(p *program.Program) bool { return !fit.Check(p, place).Fits() })
	if len(k.fits) >= maxRemembered {
		clear(k.fits)
	}
	k.fits[key] = fits
	return fits
}

// place returns what lives where a launch is judged, on so many devices that are alike.
func (l launch) place(devices int) fit.Place {
	return fit.Place{
		Device: l.on.slot, Devices: devices, Spec: l.spec, Hybrid: l.on.dev.Hybrid(), Buffers: slices.Collect(l.on.dev.Buffers()),
	}
}

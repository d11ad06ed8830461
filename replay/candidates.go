package replay

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/program"
)

// maxCandidates is how many programs are judged where any of them may have run. Where
// there are more, nobody can tell.
const maxCandidates = 64

// unclear reports whether nobody can tell if a launch fits: it may be one of several
// programs, and some of them fit and some do not, or they are too many. Then it is
// counted here, and not judged.
func (r *replay) unclear(l launch) bool {
	if len(l.candidates) == 0 {
		return false
	}
	r.notes.note(CodeAmbiguous, int64(l.run.At), "")
	note, detail := r.notes[CodeAmbiguous], "some fit and some do not"
	switch {
	case len(l.candidates) >= maxCandidates:
		detail = fmt.Sprintf("more than %d candidates", maxCandidates)
	case !r.checks.differ(l):
		return false
	}
	if !note.Hidden {
		note.Hidden, note.First, note.Detail = true, int64(l.run.At), detail
	}
	r.checks.result.Runs++
	if l.run.Inferred {
		r.checks.result.Inferred++
	}
	if r.opt.Runs {
		r.listRun([]launch{l})
	}
	return true
}

// differ reports whether what a launch may be does not all fit, or not all fail.
func (k *checks) differ(l launch) bool {
	fits := k.fitting(l)
	return slices.ContainsFunc(l.candidates, func(c *content) bool {
		other := l
		other.content = c
		return k.fitting(other) != fits
	})
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

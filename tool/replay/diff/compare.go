package diff

import (
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff/internal/align"
)

// Terms judge the sides of a comparison. The zero Terms accept no reason for doubt and have no limit.
type Terms struct {
	// Accept has the codes of accepted reasons for doubt, like answer.Terms.Accept.
	Accept []answer.Code
	// MaxGrowth is the most bytes by which the peak of the fullest core may grow, or a share of
	// the old peak; nil if there is no limit.
	MaxGrowth *answer.Budget
}

// Compare returns the differences between two sides. Captures are paired by rank, or by their order if ranks are
// not unique, and devices by id. A single capture on each side is compared with the other whatever its rank, and a
// single device whatever its id. A side without runs has no captures.
//
// Cost: O(programs) where the sides are much alike; for long sequences of programs that differ a lot, at most some
// hundred million steps.
func Compare(old, new []*Run, t Terms) *Document {
	c := comparison{terms: t, basis: basisOf(slices.Concat(old, new))}
	out := &Document{
		Schema: Schema, Equal: true, Basis: Precision{Programs: c.basis}, Captures: []Capture{}, Devices: []Device{},
	}
	out.Sides = Pair[Side]{c.side(old), c.side(new)}
	out.Equal = sameSides(out.Sides.Old, out.Sides.New)
	var both []devicePair
	for i, runs := range pairRuns(old, new) {
		one := c.capture(runs)
		out.Captures, out.Equal = append(out.Captures, one), out.Equal && one.Equal
		out.Basis.LeftMore = out.Basis.LeftMore || runs.Old != nil && runs.New != nil && !(runs.Old.leftAll && runs.New.leftAll)
		both = append(both, pairDevices(runs, i, one.Rank)...)
	}
	for _, f := range foldDevices(both) {
		d := c.device(f)
		out.Devices, out.Equal = append(out.Devices, d), out.Equal && d.Equal()
	}
	out.Basis.Rough = c.aligner.Rough
	if t.MaxGrowth != nil {
		out.Growth = c.growth(out.Sides, both)
	}
	return out
}

// A comparison is the state that one call of Compare shares.
type comparison struct {
	terms   Terms
	basis   ProgramBasis
	aligner align.Aligner
	keys    bufferKeys
}

// basisOf returns the best basis on which the programs of all runs can be compared.
func basisOf(runs []*Run) ProgramBasis {
	basis := ByBuffers
	for _, r := range runs {
		for _, d := range r.devices {
			switch {
			case !d.listed:
				return ByFigures
			case len(d.buffers) < d.programs.Len():
				basis = BySums
			}
		}
	}
	return basis
}

// side puts the runs of one side together.
func (c *comparison) side(runs []*Run) Side {
	out := Side{Files: len(runs), Answer: answer.Fits, Untold: []answer.Code{}, Accepted: []answer.Code{}}
	for _, r := range runs {
		out.Runs, out.Failed = out.Runs+r.runs, out.Failed+r.failed
		for _, code := range r.untold {
			list := &out.Untold
			if slices.Contains(c.terms.Accept, code) {
				list = &out.Accepted
			}
			if !slices.Contains(*list, code) {
				*list = append(*list, code)
			}
		}
		if t := r.tightest; t != nil && (out.Tightest == nil || t.Free < out.Tightest.Free) {
			one := *t
			one.Rank, out.Tightest = r.rank, &one
		}
		for _, d := range r.devices {
			if p := d.peak; p != nil && (out.Peak == nil || p.Bytes > out.Peak.Bytes) {
				one := p.Peak
				one.Rank, one.Device, out.Peak = r.rank, d.id, &one
			}
		}
	}
	slices.Sort(out.Untold)
	slices.Sort(out.Accepted)
	switch {
	case out.Failed > 0:
		out.Answer = answer.DoesNotFit
	case len(out.Untold) > 0:
		out.Answer = answer.CannotTell
	}
	return out
}

// sameSides reports whether two sides differ in nothing but counters of nodes, and the ids
// of devices that stand at a peak.
func sameSides(a, b Side) bool {
	return a.Files == b.Files && a.Answer == b.Answer && a.Runs == b.Runs && a.Failed == b.Failed &&
		slices.Equal(a.Untold, b.Untold) && slices.Equal(a.Accepted, b.Accepted) && samePeak(a.Peak, b.Peak) && sameTightest(a.Tightest, b.Tightest)
}

func samePeak(a, b *Peak) bool {
	return a == b || a != nil && b != nil && a.Bytes == b.Bytes && a.Core == b.Core && a.Op == b.Op
}

func sameTightest(a, b *TightestRun) bool {
	return a == b || a != nil && b != nil && a.Op == b.Op && a.End == b.End && a.Free == b.Free && a.Gap == b.Gap
}

// pairRuns pairs the captures of two sides.
func pairRuns(old, new []*Run) []Pair[*Run] {
	if len(old) == 1 && len(new) == 1 || !ranked(old) || !ranked(new) {
		return merge(old, new, inOrder)
	}
	byRank := func(a, b *Run) int { return answer.CompareIDs(a.rank, b.rank) }
	return merge(slices.SortedFunc(slices.Values(old), byRank), slices.SortedFunc(slices.Values(new), byRank), byRank)
}

// merge pairs equal members of two sorted lists. A member without a partner stands alone.
func merge[T any](old, new []*T, compare func(a, b *T) int) (out []Pair[*T]) {
	for len(old) > 0 || len(new) > 0 {
		var p Pair[*T]
		if len(new) == 0 || len(old) > 0 && compare(old[0], new[0]) <= 0 {
			p.Old = old[0]
		}
		if len(old) == 0 || len(new) > 0 && compare(old[0], new[0]) >= 0 {
			p.New = new[0]
		}
		if p.Old != nil {
			old = old[1:]
		}
		if p.New != nil {
			new = new[1:]
		}
		out = append(out, p)
	}
	return out
}

// inOrder compares any two members as equal.
func inOrder[T any](_, _ *T) int { return 0 }

// ranked reports whether the captures have distinct ranks.
func ranked(runs []*Run) bool {
	seen := map[uint64]bool{}
	for _, r := range runs {
		if !r.rank.OK || seen[r.rank.V] {
			return false
		}
		seen[r.rank.V] = true
	}
	return true
}

// capture compares what captures say as a whole.
func (c *comparison) capture(p Pair[*Run]) Capture {
	out := Capture{Old: fileOf(p.Old), New: fileOf(p.New), Left: []Resident{}}
	switch {
	case p.Old == nil:
		out.Rank, out.Chip = p.New.rank, Pair[Chip]{p.New.chip, p.New.chip}
	case p.New == nil:
		out.Rank, out.Chip = p.Old.rank, Pair[Chip]{p.Old.chip, p.Old.chip}
	default:
		out.Chip = Pair[Chip]{p.Old.chip, p.New.chip}
		if out.Rank = p.New.rank; !out.Rank.OK {
			out.Rank = p.Old.rank
		}
		out.Left = c.parts(leftOf(p))
		out.Equal = out.Chip.Old.same(out.Chip.New) && len(out.Left) == 0
	}
	return out
}

// leftOf returns what lives at the end of two captures. Where each has one device, its id
// does not matter.
func leftOf(p Pair[*Run]) (old, new []resident) {
	if len(p.Old.devices) != 1 || len(p.New.devices) != 1 {
		return p.Old.left, p.New.left
	}
	anywhere := func(all []resident) []resident {
		all = slices.Clone(all)
		for i := range all {
			all[i].inside = ""
		}
		return all
	}
	return anywhere(p.Old.left), anywhere(p.New.left)
}

func fileOf(r *Run) *File {
	if r == nil {
		return nil
	}
	return &File{r.file, r.nodes, r.log, r.saved}
}

// chipOf returns a chip as a Document has it. Reports that were saved before they named the source of
// L1_SMALL knew its size from an option alone.
func chipOf(c answer.Chip) Chip {
	out := Chip{
		c.Arch, c.ArchFrom, c.Base, c.BaseFrom, c.Align, c.L1Size.V, c.L1Small, c.Small,
	}
	switch {
	case out.SmallFrom != "":
	case c.L1Small > 0:
		out.SmallFrom = event.FromOption
	default:
		out.SmallFrom = event.FromAssumed
	}
	return out
}

// same reports whether two chips have equal sizes, whatever their sources are.
func (c Chip) same(o Chip) bool {
	c.ArchFrom, c.BaseFrom, c.SmallFrom = o.ArchFrom, o.BaseFrom, o.SmallFrom
	return c == o
}

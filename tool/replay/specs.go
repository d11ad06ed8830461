package replay

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// specs are the Specs of the devices of a source.
type specs struct {
	of     answer.Spec      // of the Result
	known  map[l1.Spec]bool // of the devices of a log
	uneven bool             // a device has another share of usable L1 than the Result's Spec
	again  bool             // a device came back as another one
}

// meet takes the first Spec of a log for its Result, and notes others that differ in what percentages depend on.
// Other sources say at the end what Spec they used.
func (s *specs) meet(d *row, notes notes) {
	spec := source.Gridless(d.facts.spec)
	if !d.declared() || s.known[spec] {
		return
	}
	if s.known == nil {
		s.known = map[l1.Spec]bool{}
		s.of = specFrom(spec, event.FromFile)
	}
	s.known[spec] = true
	s.compare(d, spec)
	if first := s.of; spec.CBBase != first.CBBase || spec.L1Size != first.L1Size {
		notes.note(answer.CodeSpecsDiffer, -1, "")
	}
}

// back records that a device comes back with a Spec. It stays with its first one here.
func (s *specs) back(d *row, spec l1.Spec) {
	s.compare(d, spec)
	s.again = s.again || spec.CBBase != d.facts.spec.CBBase || spec.L1Size != d.facts.spec.L1Size
}

// compare notes a device of a log with another share of usable L1 than the Result's Spec has.
func (s *specs) compare(d *row, spec l1.Spec) {
	if d.declared() && (spec.L1Size == 0 || spec.Usable().Len() != s.of.Usable().Len()) {
		s.uneven = true
	}
}

// own returns the Spec of a row, if it differs from the Result's. Devices that a source met differ from each other
// in their base and the size of L1_SMALL alone.
func (s *specs) own(d *row) *answer.Spec {
	of := s.of
	if d.declared() {
		of = specFrom(source.Gridless(d.facts.spec), event.FromFile)
		if of.Spec == s.of.Spec {
			return nil
		}
		return &of
	}
	says := d.facts.spec
	if says.L1Small == of.L1Small && d.facts.small == of.SmallFrom && says.CBBase == of.CBBase {
		return nil
	}
	of.L1Small, of.SmallFrom, of.CBBase = says.L1Small, d.facts.small, says.CBBase
	return &of
}

// specFrom returns a Spec whose parts come from one source.
func specFrom(spec l1.Spec, from event.Source) answer.Spec {
	return answer.Spec{Spec: spec, ArchFrom: from, BaseFrom: from, SmallFrom: from}
}

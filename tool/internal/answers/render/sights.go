package render

import (
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// sights give numbers to the texts of peaks and moments. Equal texts have equal numbers. Peaks and
// moments with the same name share one text, and only the first one is composed.
type sights struct {
	peaks   map[answer.Composition]int
	moments map[answer.Composition]int
	texts   map[string]int
}

func newSights() *sights {
	return &sights{map[answer.Composition]int{}, map[answer.Composition]int{}, map[string]int{}}
}

// peak returns the number of the text of a peak, without nodes. Each call needs the same function.
func (s *sights) peak(p *answer.L1Peak, text func(*answer.L1Peak) string) int {
	name, named := p.Laid()
	return s.laid(name, named, func() string { return text(p.Composed()) })
}

// laid returns the number of a text. Contents with a name share one text.
func (s *sights) laid(name answer.Composition, named bool, text func() string) int {
	if n, ok := s.peaks[name]; ok && named {
		return n
	}
	n, _ := fold.Number(s.texts, text())
	if named {
		s.peaks[name] = n
	}
	return n
}

// moment returns the number of the laidKey of a moment.
func (s *sights) moment(m answer.LaidMoment) int {
	n, ok := s.moments[m.Laid()]
	if !ok {
		n, _ = fold.Number(s.texts, laidKey(m.Groups()))
		s.moments[m.Laid()] = n
	}
	return n
}

package replay

import (
	"maps"
	"slices"
	"sort"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/internal/layered"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// programs are the programs of the devices of a row: their rows in Programs, and the live ones.
type programs struct {
	ran    bool                         // a run has an event
	detail layered.Map[program.ID, int] // of a log the row of a program, of runs its first row
	starts starts
	cores  l1.CoreSet // covered by a local circular buffer at any time

	held         layered.Map[program.ID, *source.Content] // of a log, alive until it is unregistered
	open         []*openRun                               // alive until its circular buffers are freed
	crest        *corepeaks.Marks                         // of the runs that were alive alone
	final        uint64                                   // bytes of the one that is alive alone in the end
	sizes, loose uint64                                   // of live programs: sums of sizes without cores, and of CBs that name none
}

// An openRun is a run that was not freed yet.
type openRun struct {
	content *source.Content
	row     int // in ProgramsDetail, -1 without
	on      event.RunDevice
	op      answer.Name
	counted bool
	outside bool // of the grid: not registered
}

// clone returns the same for another row.
func (p *programs) clone() programs {
	to := *p
	to.open = slices.Clone(p.open)
	for i, o := range to.open {
		own := *o
		to.open[i] = &own
	}
	to.detail, to.held, to.starts = p.detail.Clone(), p.held.Clone(), p.starts.clone()
	return to
}

// ended removes sizes that are not alive any more.
func (p *programs) ended(c *source.Content) {
	p.sizes, p.loose = p.sizes-min(p.sizes, c.Sizes), p.loose-min(p.loose, c.Loose)
}

// forget forgets the runs that are not alive any more.
func (p *programs) forget() {
	clear(p.open)
	p.open = p.open[:0]
}

// continued returns the row of the run that an event continues, -1 if there is none.
func (p *programs) continued(e *event.Event) int {
	if last := len(p.open) - 1; e.Continues && last >= 0 {
		return p.open[last].row
	}
	return -1
}

// Nearly every run of a capture is alive alone: it was freed before the next one came. It leaves only the
// high-water marks of its program:
//
//	cb cb execute free     alive: one program           crest
//	cb cb cb' cb' free     alive: one and another one   both in the fleet of live programs

// over returns peaks raised to the bytes of a program.
func over(peaks *corepeaks.Marks, f program.Footprint) *corepeaks.Marks {
	for g := range f.Groups() {
		peaks = peaks.RaiseOn(g.Cores(), g.Bytes())
	}
	return peaks
}

// passes raises the high-water marks by a run that was alive alone.
func (p *programs) passes(c *source.Content, f *answer.Device) {
	f.LogicalPeak = max(f.LogicalPeak, c.Logical[program.CircularBuffer])
	f.ResidentPeak, f.CorePeak = max(f.ResidentPeak, c.Detail.Bytes), max(f.CorePeak, c.Detail.Core)
	for _, of := range f.Others() {
		if counted := c.Counted[of.Kind]; counted != nil {
			taken := counted.Occupied(program.CircularBuffer)
			of.ResidentPeak = max(of.ResidentPeak, taken.Bytes())
			for g := range taken.Groups() {
				of.CorePeak = max(of.CorePeak, g.Bytes())
			}
		}
	}
	if !c.Places() {
		return
	}
	if x := &c.Crossed; !x.Known || x.From != p.crest {
		*x = source.Crossing{Known: true, From: p.crest, To: over(p.crest, c.Counted[program.CircularBuffer].Occupied(program.CircularBuffer))}
	}
	p.crest = c.Crossed.To
}

// starts finds the rows of runs by the node of their first circular buffer. While each row
// begins behind the one before, as in a capture, the rows themselves are looked through.
type starts struct {
	out map[uint64]int // nil while the rows are in order
}

// of returns the last row that a run was given with a first node.
func (s *starts) of(rows *answer.Programs, first uint64) (row int, ok bool) {
	if s.out != nil {
		row, ok = s.out[first]
		return row, ok
	}
	return sort.Find(rows.Len(), func(i int) int {
		switch at := rows.FirstOf(i); {
		case first < at:
			return -1
		case first > at:
			return 1
		}
		return 0
	})
}

// add stores a first node, before its row is added or changed.
func (s *starts) add(rows *answer.Programs, row int, first uint64) {
	n := rows.Len()
	inOrder := row < n && rows.FirstOf(row) == first || row == n && (n == 0 || rows.FirstOf(n-1) < first)
	if s.out == nil && inOrder {
		return
	}
	s.disorder(rows)
	s.out[first] = row
}

// disorder writes down where all rows begin: rows that come do not begin where their runs
// do, or not in order.
func (s *starts) disorder(rows *answer.Programs) {
	if s.out != nil {
		return
	}
	s.out = map[uint64]int{}
	for i := range rows.Len() {
		s.out[rows.FirstOf(i)] = i
	}
}

func (s *starts) clone() starts { return starts{maps.Clone(s.out)} }

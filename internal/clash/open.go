package clash

import (
	"fmt"
)

// ringNeed returns by how much the base of circular buffers must move up for a program to go
// through the ring, 0 if the message does not say it. Releases refuse a program as large as the
// ring, or larger.
func (m Message) ringNeed() uint64 {
	if m.lacks("size", "limit") || m.Size < m.Limit {
		return 0
	}
	return roundUp(max(m.Size-m.Limit, 1))
}

// smallNeed returns by how much L1_SMALL must grow, 0 if the message does not say it.
func (m Message) smallNeed() uint64 {
	s := m.Shortage
	if !s.HasBank {
		return 0
	}
	if least := s.least(); least > s.Bank {
		return roundUp(least - s.Bank)
	}
	return 0
}

// A Margin says how far sizes of open_device can change before a run of a capture does not fit.
type Margin struct {
	Run           // with the least room: Capture, Log, Event, T and Op of it
	Free   uint64 `json:"room"`   // between its circular buffers and the lowest L1 buffer above, or L1_SMALL
	Failed int64  `json:"failed"` // runs that do not fit as it is

	Small     uint64 `json:"l1_small"`      // the size of L1_SMALL; 0 = there is none, or it is not known
	SmallUsed bool   `json:"l1_small_used"` // a buffer lived there
}

// AddMargin adds the margin of a capture. Of several the least counts.
func (c *Comparison) AddMargin(m Margin) {
	for i := range c.matches {
		c.matches[i].takeMargin(&m)
	}
}

func (m *Match) takeMargin(o *Margin) {
	if o == nil || m.Margin != nil && (m.Margin.Failed > 0 || o.Failed == 0 && m.Margin.Free <= o.Free) {
		return
	}
	m.Margin = o
}

// addChange says by how much the parameter that would help can change. Without a margin no run was
// judged that takes any bytes.
func (e *Explanation) addChange(g *Margin) {
	m := e.Message
	memory := ""
	if m.Kind == OutOfMemory {
		memory = m.Shortage.Buffer
	}
	switch {
	case e.Damaged:
		return
	case m.Kind == KernelConfig && (m.What == "TENSIX" || m.What == ""):
		e.changeRoom(g, "worker_l1_size", "shrink", m.ringNeed())
	case memory == "L1_SMALL":
		e.changeRoom(g, "l1_small_size", "grow", m.smallNeed())
	case m.Kind == TraceRegion, memory == "TRACE":
		e.note("change", "trace_region_size takes DRAM alone: in L1 nothing changes")
	case m.Kind == Clash, memory == "L1":
		e.changeSmall(g)
	}
	if e.lowers() {
		e.note("change", "how far worker_l1_size can grow is not known: no capture has the kernels, which lie in the ring")
	}
}

// changeRoom says how far a parameter can change that takes room above circular buffers. Of need,
// 0 is not known.
func (e *Explanation) changeRoom(g *Margin, name, verb string, need uint64) {
	if g == nil {
		e.note("change", "how far %s can %s is not known: no run was judged that takes any bytes", name, verb)
		return
	}
	from := captureName(g.Run)
	if g.Failed > 0 {
		e.note("change", "runs of %s that do not fit as it is: %d; %s can %s by nothing", from, g.Failed, name, verb)
		return
	}
	fits := "how many are needed is not in the text"
	if need > 0 {
		fits = exact(need) + " are needed: the CBs of all runs still fit"
		if g.Free < need {
			fits = fmt.Sprintf("%s are needed: too little, by %s", exact(need), amount(need-g.Free))
		}
	}
	e.note("change", "of all runs of %s this one leaves the least room above its CBs, %s: %s. %s can %s by no more "+
		"than that, and %s", from, amount(g.Free), g.Run.text(), name, verb, fits)
}

// changeSmall says how far L1_SMALL can shrink.
func (e *Explanation) changeSmall(g *Margin) {
	if g == nil || g.Small == 0 {
		return
	}
	how := "by all of it, since no L1_SMALL buffer lives there"
	if g.SmallUsed {
		how = "by less than that, since L1_SMALL buffers live there"
	}
	e.note("change", "as far as %s shows, l1_small_size, %s, can shrink %s", captureName(g.Run), amount(g.Small), how)
}

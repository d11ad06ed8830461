package clash

import (
	"fmt"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// Messages about sizes that are chosen when a device is opened, and what the parameters of
// open_device do for the others.

const (
	noOption = "no parameter of open_device helps"
	// ring is the kernel config ring of a device that is opened without worker_l1_size. The
	// parameter moves its end, which is the base of circular buffers.
	ring = 69 << 10
	// baseAlign is the alignment of DRAM on Blackhole, and twice that on Wormhole.
	baseAlign = 64
)

// roundUp returns n rounded up to what the base and L1_SMALL are aligned to, on any chip.
func roundUp(n uint64) uint64 { return (n + baseAlign - 1) / baseAlign * baseAlign }

// noteOpen says which parameter of open_device makes room for a region.
func (e *Explanation) noteOpen() {
	switch m := e.Message; {
	case m.Kind == ServiceClash || m.Kind == Grow && roundUp(e.Over) > ring || e.Over > l1.ArchSpec(l1.Blackhole).L1Size:
		e.note("open", noOption)
	case m.Kind == Grow:
		e.note("open", "%s; l1_small_size does not matter", e.lowerBase())
	case roundUp(e.Over) > ring:
		e.note("open", "l1_small_size smaller by %s, if L1_SMALL has so much to spare: L1 buffers move up",
			exact(roundUp(e.Over)))
	default:
		e.note("open", "l1_small_size smaller by %s, if L1_SMALL has so much to spare: L1 buffers move up; or %s",
			exact(roundUp(e.Over)), e.lowerBase())
	}
}

// lowerBase advises a lower base of circular buffers.
func (e *Explanation) lowerBase() string {
	e.lower = true
	return fmt.Sprintf("worker_l1_size larger by %s lowers the base, if kernels leave so much of their ring", exact(roundUp(e.Over)))
}

// kernelConfig explains that a program does not go through the ring.
func (e *Explanation) kernelConfig() {
	m := e.Message
	where := "the kernel config ring"
	if m.What != "" {
		where += " of " + m.What
	}
	e.Summary = fmt.Sprintf("too large for %s: %s, there are %s",
		where, m.amountOf("size", m.Size), m.amountOf("limit", m.Limit))
	if m.lacks("size", "limit") {
		e.Summary = fmt.Sprintf("a program is too large for %s", where)
	}
	if e.judge(m.Size < m.Limit) {
		return
	}
	e.note("why", "the ring holds kernel binaries, runtime arguments, semaphores and the configuration of CBs of "+
		"each program, not the data of CBs")
	e.note("try", "fewer or smaller kernels, fewer runtime arguments; profiling and watching make kernels larger")
	switch {
	case m.What == "":
		e.note("open", "on TENSIX cores a smaller worker_l1_size, on others none; the text does not say which they are")
	case m.What != "TENSIX":
		e.note("open", noOption+": this ring has a fixed size (the watcher has TT_METAL_WATCHER_DISABLE_ETH for Ethernet cores)")
	case m.lacks("size", "limit"):
		e.note("open", "a smaller worker_l1_size: the base of CBs moves up, and the ring ends there")
	default:
		e.note("open", "worker_l1_size smaller by %s: the base of CBs moves up by as much, and the ring ends "+
			"there. 0, the default, is the maximum less %s",
			amount(roundUp(max(e.Over, 1))), exact(ring))
	}
	e.note("unknown", "which program it is: a capture has no kernels")
}

// traceRegion explains that traces need more than their region has.
func (e *Explanation) traceRegion() {
	m := e.Message
	e.Summary = fmt.Sprintf("too large for the trace region: all traces together take %s, there are %s",
		m.amountOf("size", m.Size), m.amountOf("limit", m.Limit))
	if e.judge(m.Size <= m.Limit) {
		return
	}
	e.note("why", "the trace region is DRAM, set aside when the device is opened; traces stay there until they are "+
		"released, each padded to whole pages")
	e.note("try", "release traces that are not replayed any more")
	if m.lacks("size") {
		e.note("open", "a larger trace_region_size")
	} else {
		e.note("open", "trace_region_size of %s or more, and more for traces that are captured later",
			shown.Plural(m.Size, "byte"))
		e.note("open", "releases since June 2026 give each bank its part, rounded up to 8,192 bytes; up to then "+
			"each bank gave the whole size. "+
			"Where 0 is the default, it sets nothing aside and traces lie in DRAM like other buffers")
	}
	e.note("unknown", "which traces there are: a capture does not tell them from other DRAM where the region is 0")
}

// unsafe explains the warning that a buffer may be written over.
func (e *Explanation) unsafe() {
	e.Summary = "a warning: a buffer was allocated while a trace can be replayed, and a later replay may write over it"
	e.note("why", "a trace keeps the addresses of what it used while it was captured; buffers that were freed then "+
		"may be somebody else's now. One line stands for all such allocations: it is printed once")
	e.note("likely", "persistent tensors, or programs that run for the first time, after begin_trace_capture; "+
		"wrong results without an error")
	e.note("try", "allocate what lives longer before the first capture, and run each program once before; free "+
		"what is allocated later before the next replay; or release the trace")
	e.note("open", noOption+": a larger trace_region_size holds traces, not the buffers that they use")
	e.note("unknown", "which buffer it is, and whether it was written over: TT_METAL_TRACE_ALLOC_TRACKING=1 tells "+
		"in newer releases")
}

// persistent explains that pages which outlive programs have no space.
func (e *Explanation) persistent() {
	m := e.Message
	e.noteCores()
	if m.Kind == PersistentSealed {
		e.Summary = "persistent L1 was asked for too late: a program that is alive has its CBs on this core already"
		e.note("why", "persistent pages lie at the bottom of L1, and CBs start above them: what is placed already "+
			"cannot move up")
		e.note("try", "allocate persistent L1 before the first program is placed on the core, or free the programs "+
			"there")
		e.note("open", noOption)
		return
	}
	e.Summary = fmt.Sprintf("no persistent L1 left: %s, in one piece that is free on all of the cores",
		m.amountOf("size", m.Size))
	if e.Over, _ = m.Over(); e.Over > 0 {
		e.Summary = fmt.Sprintf("can never fit: %s of persistent L1 were asked for, and there are %s, %s too little",
			amount(m.Size), amount(m.Region.Len()), amount(e.Over))
	}
	e.note("numbers", "%s, aligned to %s; all there is is %s",
		m.amountOf("size", m.Size), m.exactOf("page", m.Page), m.rangeOf())
	e.note("why", "persistent pages outlive programs and lie at the bottom of L1, each at one address on all of "+
		"its cores; CBs start above them")
	e.note("try", "free persistent pages that are not needed any more, or ask for smaller ones, or on other cores")
	if e.Over > 0 && roundUp(e.Over) <= ring {
		e.note("open", "%s", e.lowerBase())
	} else {
		e.note("open", noOption)
	}
	e.note("unknown", "which pages lie there: a capture does not show them")
}

// judge sets by how much a size is over its limit. It reports whether the numbers deny the
// message, which the explanation then says.
func (e *Explanation) judge(denied bool) bool {
	m := e.Message
	if m.lacks("size", "limit") {
		return false
	}
	e.Over, _ = m.Over()
	e.note("numbers", "%s are needed, %s are there: %s more", exact(m.Size), exact(m.Limit), amount(e.Over))
	if denied {
		e.Summary += ", but its numbers show that it fits"
		e.Notes, e.Over = nil, 0
		e.noteDamaged()
	}
	return denied
}

// amountOf and exactOf return a number of the message, as far as it has it.
func (m Message) amountOf(field string, n uint64) string {
	if m.lacks(field) {
		return "an unknown number of bytes"
	}
	return amount(n)
}

func (m Message) exactOf(field string, n uint64) string {
	if m.lacks(field) {
		return "an unknown number"
	}
	return exact(n)
}

func (m Message) rangeOf() string {
	if m.lacks("start", "stop") {
		return "not in the text"
	}
	return rangeText(m.Region)
}

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
	Run    Run    // with the least room: Capture, Log, Event, T and Op of it
	Free   uint64 // between its circular buffers and the lowest L1 buffer above, or L1_SMALL
	Failed int64  // runs that do not fit as it is

	Small     uint64 // the size of L1_SMALL; 0 = there is none, or it is not known
	SmallUsed bool   // a buffer lived there
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
	if e.lower {
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

// A MarginRow says how far sizes of open_device can change in a capture.
type MarginRow struct {
	Capture   string `json:"capture"`
	Op        string `json:"op,omitempty"`
	Event     uint64 `json:"counter"`       // of the run with the least room
	Free      uint64 `json:"room"`          // above its circular buffers
	Failed    int64  `json:"failed"`        // runs that do not fit as it is
	Small     uint64 `json:"l1_small"`      // 0: there is none, or its size is not known
	SmallUsed bool   `json:"l1_small_used"` // a buffer lived there
}

func (g *Margin) row() *MarginRow {
	if g == nil {
		return nil
	}
	return &MarginRow{g.Run.Capture, g.Run.Op, g.Run.Event, g.Free, g.Failed, g.Small, g.SmallUsed}
}

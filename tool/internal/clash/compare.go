package clash

import (
	"encoding/json"
	"math"
	"slices"
	"sync"

	"github.com/cbl1/cbl1/l1"
)

// A Match says which programs of a capture a message may be about.
type Match struct {
	Level Level    `json:"level"`
	Runs  int64    `json:"runs"`          // that agree at this level
	Ops   []string `json:"ops,omitempty"` // of these, each once, in their order; at most maxOps

	// The Run is the first of these or, where the lowest address differs, the first run
	// with the nearest address. Of MatchNone it is the run on these cores whose region
	// ends nearest, if there is any.
	*ProgramRun
	End uint64 `json:"end,omitempty"` // where its region ends on the cores of the message

	Buffers []CBRow        `json:"cbs,omitempty"`     // on these cores, the highest end first
	Tensors []LowestBuffer `json:"tensors,omitempty"` // that lay lowest in L1 when the program was enqueued

	Advice string `json:"advice,omitempty"` // of cbl1 check about the run

	Space  *Space  `json:"-"` // how the free bytes of L1 lay, for a message of the allocator; nil: not known
	Margin *Margin `json:"-"` // how far sizes of open_device can change; nil if nothing is known

	miss uint64 // by how much the lowest address differs; of MatchNone, the end
}

// maxOps is how many operations a Match names.
const maxOps = 4

// A Comparison looks for the programs of a capture that messages are about. It holds
// the best matches only, however long the capture.
type Comparison struct {
	given    l1.Spec
	messages []Message
	on       map[l1.CoreRange][]int // messages by their core range
	anywhere []int                  // messages whose text has no cores
	matches  []Match
	margins  map[string]*Margin // by the capture
	least    *Margin
}

// Compare returns a Comparison for the messages of found. For given see Explain.
// Messages without the end of a region, and those whose numbers make no sense, have no match.
func Compare(found Messages, given l1.Spec) *Comparison {
	c := &Comparison{
		given: given, messages: found.Messages,
		on: map[l1.CoreRange][]int{}, matches: make([]Match, len(found.Messages)), margins: map[string]*Margin{},
	}
	for i, m := range c.messages {
		_, ok := m.Over()
		if !ok && !m.lacks("limit") || !m.hasRegion() {
			continue
		}
		c.matches[i].Level = MatchNone
		for r := range m.Cores.All() { // one, in all releases seen
			c.on[r] = append(c.on[r], i)
		}
		if m.Cores.Len() == 0 {
			c.anywhere = append(c.anywhere, i)
		}
	}
	return c
}

// Add compares a run with the messages. Where it agrees with one, lowest is called
// for the L1 buffers that lay lowest on its device when it was enqueued. It must be
// called in the order of the capture.
func (c *Comparison) Add(run ProgramRun, lowest func() []LowestBuffer) {
	lowest = sync.OnceValue(lowest)
	agreed := map[int]bool{} // messages: a run agrees once, by its first entry
	for _, e := range run.Entries {
		for _, i := range slices.Concat(c.on[e.Cores], c.anywhere) {
			if c.messages[i].What == run.What && !agreed[i] && e.End > 0 {
				agreed[i] = c.add(i, e.End, &run, lowest)
			}
		}
	}
}

// add records a run whose region lies on the cores of a message. It reports whether the two
// agree.
func (c *Comparison) add(i int, end uint64, run *ProgramRun, lowest func() []LowestBuffer) bool {
	m := c.messages[i]
	says := m.Numbers["end"]
	found := Match{Level: MatchNone, ProgramRun: run, End: end, miss: max(end, says) - min(end, says)}
	switch {
	case end == says:
		found.Level = MatchExact
	case run.Synthesised && c.sameSize(says, end, run.Base):
		found.Level = MatchSize
	}
	if found.Level != MatchNone {
		found.Runs, found.Ops, found.Tensors = max(run.Times, 1), []string{run.Op}, lowest()
		if found.miss = found.missed(m); found.miss > 0 && found.Level == MatchExact {
			found.Level = MatchLowest
		}
	}
	c.matches[i].take(found)
	return found.Level != MatchNone
}

// missed returns the difference between the lowest address and the address in a message; 0 if
// the message has none.
func (m *Match) missed(msg Message) uint64 {
	switch {
	case msg.Kind != Clash || msg.lacks("limit"):
		return 0
	case len(m.Tensors) == 0:
		return math.MaxUint64
	}
	at, limit := m.Tensors[0].Address, msg.Numbers["limit"]
	return max(at, limit) - min(at, limit)
}

// take merges the match of a later run.
func (m *Match) take(o Match) {
	levels := []Level{MatchExact, MatchLowest, MatchSize, MatchNone}
	was, is := slices.Index(levels, m.Level), slices.Index(levels, o.Level)
	switch {
	case is < was || m.ProgramRun == nil:
		o.Space = m.Space
		*m = o
		return
	case is > was:
		return
	}
	if m.Runs += o.Runs; o.miss < m.miss {
		m.ProgramRun, m.End, m.Tensors, m.miss, m.Advice = o.ProgramRun, o.End, o.Tensors, o.miss, ""
	}
	for _, op := range o.Ops {
		if len(m.Ops) < maxOps && !slices.Contains(m.Ops, op) {
			m.Ops = append(m.Ops, op)
		}
	}
}

// sameSize reports whether the region of a run is as large as the one that a message says the end of,
// if that starts at a base that is given or known from any release.
func (c *Comparison) sameSize(says, end, base uint64) bool {
	known := bases(l1.Wormhole, l1.Blackhole)
	if c.given.CBBase != 0 {
		known = []uint64{c.given.CBBase}
	}
	return end > base && slices.ContainsFunc(known, func(from uint64) bool { return says > from && says-from == end-base })
}

// Advise sets the advice about the runs of a capture that match a message exactly, or but for the lowest address.
// advice describes the run at an event; "" if it is not known.
func (c *Comparison) Advise(capture string, advice func(event uint64) string) {
	for i := range c.matches {
		if m := &c.matches[i]; (m.Level == MatchExact || m.Level == MatchLowest) && m.Capture == capture && m.Advice == "" {
			m.Advice = advice(m.Event)
		}
	}
}

// Matches returns the match of each message. The zero Match stands for a message without a
// statement.
func (c *Comparison) Matches() []Match {
	out := slices.Clone(c.matches)
	for i := range out {
		m := &out[i]
		m.Margin = c.least
		switch _, ok := m.on(); {
		case !ok:
		case m.Space != nil && m.Space.Agrees:
			m.Margin = c.margins[m.Space.Capture]
		default:
			m.Margin = c.margins[m.Capture]
		}
	}
	return out
}

// A ProgramRun is a program that was enqueued while a capture was taken, as far as a message
// can be about it.
type ProgramRun struct {
	Capture  string      `json:"capture,omitempty"`  // the file
	Log      bool        `json:"-"`                  // the capture is an event log: it has events, not nodes
	Event    uint64      `json:"counter"`            // where in the capture: the node or event at which it began
	T        json.Number `json:"t,omitempty"`        // of that event of a log
	Op       string      `json:"op,omitempty"`       // functions that ran, outermost first
	Device   string      `json:"device,omitempty"`   // "device 3" or "8 devices"; "" if the capture does not say
	Inferred bool        `json:"inferred,omitempty"` // from the program cache: known by its earlier run
	OneOf    int         `json:"one_of,omitempty"`   // it is one of so many that may have run; 0: it ran

	// Base is where the buffers of the program start. Synthesised says that the capture
	// has no addresses of them: Ends then hold for this base, and tt-metal's may differ.
	Synthesised bool   `json:"synthesised,omitempty"`
	Base        uint64 `json:"base"`

	On      Device  `json:"-"` // the first device
	Times   int64   `json:"-"` // how often it was like this; 0 counts as 1
	What    string  `json:"-"` // Circular or Dataflow
	Entries []Entry `json:"-"`
	CBs     []CB    `json:"-"`
}

// An Entry is a core range that tt-metal validates, and where its region ends.
type Entry struct {
	Cores l1.CoreRange
	End   uint64
}

// A CB is a buffer of a Run.
type CB struct {
	Number int // its place in the program, from 0
	Cores  l1.CoreRangeSet
	Range  l1.Range // of each core; empty for one that lies in a tensor
}

// A LowestBuffer is a buffer in L1 that lay lowest when a program was enqueued.
type LowestBuffer struct {
	Address     uint64      `json:"address"`
	PerCore     uint64      `json:"per_core,omitempty"`    // bytes on the fullest core; 0 = not known
	Event       uint64      `json:"counter"`               // that allocated it
	T           json.Number `json:"t,omitempty"`           // of that event of a log
	Op          string      `json:"op"`                    // functions that ran then
	Layout      string      `json:"layout,omitempty"`      // as the capture spells it
	Synthesised bool        `json:"synthesised,omitempty"` // the capture does not have its address
	Cores       int         `json:"-"`                     // it lies on so many at least; 0 = not known
}

// A Level says how well a run of a capture agrees with a message.
type Level string

// The levels, best first.
const (
	MatchExact  Level = "exact"  // core range and region end, and for a clash the lowest address
	MatchLowest Level = "lowest" // core range and region end; the lowest address is another one
	MatchSize   Level = "size"   // core range and size of the region, whose addresses the capture does not have
	MatchNone   Level = "none"   // no run agrees
)

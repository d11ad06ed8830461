package clash

import (
	"math"
	"slices"

	"github.com/cbl1/cbl1/l1"
)

// A Match says which programs of a capture a message may be about.
type Match struct {
	Level Level
	Runs  int64    // that agree at this level
	Ops   []string // of these, each once, in their order; at most maxOps
	// Best is the first of these or, where the lowest address differs, the first run
	// with the nearest address. Of MatchNone it is the run on these cores whose region
	// ends nearest, if there is any.
	Best ProgramRun
	End  uint64 // where the region of Best ends on the cores of the message; 0 = there is no such run

	// Tensors holds the lowest tensors when Best was enqueued; empty if nothing was in L1.
	Tensors []LowestBuffer

	// Space says of a message of the allocator how the free bytes of L1 lay; nil if nothing is known.
	Space *Space

	Margin *Margin // how far sizes of open_device can change; nil if nothing is known

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
}

// Compare returns a Comparison for the messages of found. For given see Explain.
// Messages without the end of a region, and those whose numbers make no sense, have no match.
func Compare(found Found, given l1.Spec) *Comparison {
	c := &Comparison{
		given: given, messages: found.Messages,
		on: map[l1.CoreRange][]int{}, matches: make([]Match, len(found.Messages)),
	}
	for i, m := range c.messages {
		_, ok := m.Over()
		if !ok && !m.lacks("limit") || m.Kind != Grow && m.Kind != Clash && m.Kind != ServiceClash {
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
	var tensors []LowestBuffer
	known := false
	look := func() []LowestBuffer {
		if !known {
			tensors, known = lowest(), true
		}
		return tensors
	}
	agreed := map[int]bool{} // messages: a run agrees once, by its first entry
	for _, e := range run.Entries {
		for _, i := range slices.Concat(c.on[e.Cores], c.anywhere) {
			if m := c.messages[i]; m.What == run.What && !agreed[i] {
				agreed[i] = c.add(i, m, e.End, run, look)
			}
		}
	}
}

// add records a run whose region lies on the cores of a message. It reports whether the two
// agree.
func (c *Comparison) add(i int, m Message, end uint64, run ProgramRun, lowest func() []LowestBuffer) bool {
	found := Match{Level: MatchNone, Best: run, End: end, miss: max(end, m.End) - min(end, m.End)}
	switch {
	case end == m.End:
		found.Level = MatchExact
	case run.Synthesised && c.sameSize(m, end, run):
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
	at := m.Tensors[0].Address
	return max(at, msg.Limit) - min(at, msg.Limit)
}

// take merges a later match.
func (m *Match) take(o Match) {
	was, is := rank(m.Level), rank(o.Level)
	if is < was || m.End == 0 {
		o.Space, o.Margin = m.Space, m.Margin
		*m = o
		return
	}
	if is > was || o.End == 0 {
		return
	}
	if m.Runs += o.Runs; o.miss < m.miss {
		m.Best, m.End, m.Tensors, m.miss = o.Best, o.End, o.Tensors, o.miss
	}
	for _, op := range o.Ops {
		if len(m.Ops) < maxOps && !slices.Contains(m.Ops, op) {
			m.Ops = append(m.Ops, op)
		}
	}
}

// sameSize reports whether a run and a message have regions of the same size, if the region
// starts at a base that is given or known from any release.
func (c *Comparison) sameSize(m Message, end uint64, run ProgramRun) bool {
	if end <= run.Base {
		return false
	}
	known := bases(l1.Wormhole, l1.Blackhole)
	if c.given.CBBase != 0 {
		known = []uint64{c.given.CBBase}
	}
	return slices.ContainsFunc(known, func(base uint64) bool { return m.End > base && m.End-base == end-run.Base })
}

// Merge adds the results of another Comparison of the same messages, from a capture that
// follows.
func (c *Comparison) Merge(next *Comparison) {
	for i := range c.matches {
		c.matches[i].take(next.matches[i])
		c.matches[i].takeSpace(next.matches[i].Space)
		c.matches[i].takeMargin(next.matches[i].Margin)
	}
}

// Matches returns the match of each message. The zero Match stands for a message without a
// statement.
func (c *Comparison) Matches() []Match { return slices.Clone(c.matches) }

// rank is the place of a level, the best first.
func rank(level Level) int {
	switch level {
	case MatchExact:
		return 0
	case MatchLowest:
		return 1
	case MatchSize:
		return 2
	}
	return 3
}

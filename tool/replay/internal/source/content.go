package source

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// NumKinds is the number of kinds of buffers that programs have.
const NumKinds = int(program.Scratchpad) + 1

// A Content describes the buffers of a program, worked out once however often it runs.
type Content struct {
	ID       program.ID
	Programs []*program.Program         // registered and dispatched, in this order
	Judged   []*program.Program         // the same under the id that people know
	Counted  [NumKinds]*program.Program // by kind, as circular buffers; nil where there are none
	Nodes    [NumKinds]struct{ Local, Global int64 }
	Cores    l1.CoreSet           // covered by a local circular buffer
	End      uint64               // of the highest buffer that takes bytes, of any kind
	Sizes    uint64               // sum of the sizes of local circular buffers, without cores
	Loose    uint64               // of those that name no core
	Logical  [NumKinds]uint64     // of counted
	Detail   answer.ProgramDetail // but for First, Last and Op

	buffers []answer.ProgramBuffer // nil without Options.Buffers
	Crossed Crossing

	From   origin
	Beyond bool // one ends beyond L1
}

// An origin says where the addresses of a program come from.
type origin struct {
	Recorded    bool // a local circular buffer has an address of its own
	Synthesised bool // one was placed
	Placed      bool // any local buffer was
	Resolved    bool // by the source, not when it was registered
}

// Spec returns the Spec for which the programs are placed, the zero one if there are none.
func (c *Content) Spec() l1.Spec {
	if len(c.Programs) == 0 {
		return l1.Spec{}
	}
	return c.Programs[0].Spec()
}

// NewContent describes programs. placed says which buffers were placed, not recorded.
func NewContent(programs []*program.Program, placed func(p, cb int) bool) (*Content, error) {
	c := &Content{Programs: programs, Judged: programs}
	builders := [NumKinds]*program.Builder{}
	for n, p := range programs {
		size := p.Spec().L1Size
		for i, cb := range p.CBs() {
			c.add(cb, placed(n, i), size)
			if cb.Kind == program.CircularBuffer {
				continue
			}
			b := builders[cb.Kind]
			if b == nil {
				b = program.NewBuilder(p.ID())
				if p.AsWritten() {
					b.AsWritten()
				}
				builders[cb.Kind] = b
			}
			if cb.Global {
				b.CB(program.CB{Cores: cb.Cores, Global: true})
			} else {
				b.Range(cb.Cores, cb.Range)
			}
		}
	}
	if len(programs) == 0 {
		return c, nil
	}
	c.ID = programs[0].ID()
	for kind, b := range builders {
		if b == nil {
			continue
		}
		var err error
		if c.Counted[kind], err = b.Build(Gridless(programs[0].Spec())); err != nil {
			return nil, err
		}
		c.Logical[kind] = c.Counted[kind].Occupied(program.CircularBuffer).Logical()
	}
	if n := c.Nodes[program.CircularBuffer]; n.Local+n.Global > 0 {
		c.describe(programs[0])
	}
	return c, nil
}

// add adds one buffer. placed: it was placed, not recorded.
func (c *Content) add(cb program.PlacedCB, placed bool, size uint64) {
	local := cb.Kind == program.CircularBuffer && !cb.Global
	c.From.Placed = c.From.Placed || !cb.Global && placed
	c.From.Recorded = c.From.Recorded || local && !placed
	c.From.Synthesised = c.From.Synthesised || local && placed
	if cb.Global {
		c.Nodes[cb.Kind].Global++
	} else {
		c.Beyond = c.Beyond || size > 0 && !cb.Range.IsEmpty() && cb.Range.End > size
		if cb.Cores.Len() > 0 && !cb.Range.IsEmpty() {
			c.End = max(c.End, cb.Range.End)
		}
		c.Nodes[cb.Kind].Local++
	}
	if cb.Kind == program.CircularBuffer {
		c.takes(cb)
	}
}

// takes adds one circular buffer.
func (c *Content) takes(cb program.PlacedCB) {
	if cb.Global {
		c.Detail.GlobalCBs++
		return
	}
	c.Detail.LocalCBs++
	c.Sizes += cb.Size // a program of more than 2^63-1 bytes cannot be built
	if cb.On.IsEmpty() {
		c.Loose += cb.Size
		return
	}
	c.Cores = c.Cores.Union(cb.On)
	if cb.Size > 0 {
		c.Detail.HighestEnd = max(c.Detail.HighestEnd, cb.Range.End)
	}
}

// describe sums up the circular buffers of a program.
func (c *Content) describe(p *program.Program) {
	f := p.Occupied(program.CircularBuffer)
	c.Counted[program.CircularBuffer] = p
	c.Logical[program.CircularBuffer] = f.Logical()
	c.Detail.Logical, c.Detail.Bytes, c.Detail.Cores = f.Logical(), f.Bytes(), c.Cores.Len()
	for g := range f.Groups() {
		c.Detail.Core = max(c.Detail.Core, g.Bytes())
	}
	c.Detail.Overlapping = f.Bytes() < f.Logical()
}

// Mixed reports whether some addresses are recorded and some are not.
func (c *Content) Mixed() bool { return c.From.Recorded && c.From.Synthesised }

// Places reports whether the content has a circular buffer.
func (c *Content) Places() bool { return c.Counted[program.CircularBuffer] != nil }

// A Crossing remembers the last crest that a content was added to, and the result. A crest is the peaks of runs
// that were alive alone. So devices that run the same one by one end up with the same crest, and what changes
// nothing again costs nothing.
type Crossing struct {
	Known    bool
	From, To *corepeaks.Marks
}

// PlacedBuffers returns what the programs place, in their order. It is worked out once.
func (c *Content) PlacedBuffers() []answer.ProgramBuffer {
	if c.buffers != nil {
		return c.buffers
	}
	numbers := map[fit.Kind]int{}
	for _, p := range c.Programs {
		for _, cb := range p.CBs() {
			kind := fit.Kind(cb.Kind)
			c.buffers = append(c.buffers, answer.ProgramBuffer{Kind: kind, Number: numbers[kind], Global: cb.Global, Cores: cb.On, Size: cb.Size, Range: cb.Range})
			numbers[kind]++
		}
	}
	return c.buffers
}

// AllCores are all cores of a content's buffers, those without bytes of their own included.
func (c *Content) AllCores() (cores l1.CoreSet) {
	for _, p := range c.Programs {
		for _, cb := range p.CBs() {
			cores = cores.Union(cb.On)
		}
	}
	return cores
}

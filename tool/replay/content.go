package replay

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/corepeaks"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// numKinds is the number of kinds of buffers that programs have.
const numKinds = int(program.Scratchpad) + 1

// A content describes the buffers of a program, worked out once however often it runs.
type content struct {
	id       program.ID
	programs []*program.Program         // registered and dispatched, in this order
	judged   []*program.Program         // the same under the id that people know
	counted  [numKinds]*program.Program // by kind, as circular buffers; nil where there are none
	nodes    [numKinds]struct{ local, global int64 }
	cores    l1.CoreSet           // covered by a local circular buffer
	end      uint64               // of the highest buffer that takes bytes, of any kind
	sizes    uint64               // sum of the sizes of local circular buffers, without cores
	loose    uint64               // of those that name no core
	logical  [numKinds]uint64     // of counted
	detail   answer.ProgramDetail // but for First, Last and Op

	buffers []answer.ProgramBuffer // nil without Options.Buffers
	crossed crossing

	from   origin
	beyond bool // one ends beyond L1
}

// An origin says where the addresses of a program come from.
type origin struct {
	recorded    bool // a local circular buffer has an address of its own
	synthesised bool // one was placed
	placed      bool // any local buffer was
	resolved    bool // by the source, not when it was registered
}

// Spec returns the Spec for which the programs are placed, the zero one if there are none.
func (c *content) Spec() l1.Spec {
	if len(c.programs) == 0 {
		return l1.Spec{}
	}
	return c.programs[0].Spec()
}

// newContent describes programs. placed says which buffers were placed, not recorded.
func newContent(programs []*program.Program, placed func(p, cb int) bool) (*content, error) {
	c := &content{programs: programs, judged: programs}
	builders := [numKinds]*program.Builder{}
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
	c.id = programs[0].ID()
	for kind, b := range builders {
		if b == nil {
			continue
		}
		var err error
		if c.counted[kind], err = b.Build(gridless(programs[0].Spec())); err != nil {
			return nil, err
		}
		c.logical[kind] = c.counted[kind].Occupied(program.CircularBuffer).Logical()
	}
	if n := c.nodes[program.CircularBuffer]; n.local+n.global > 0 {
		c.describe(programs[0])
	}
	return c, nil
}

// add adds one buffer. placed: it was placed, not recorded.
func (c *content) add(cb program.PlacedCB, placed bool, size uint64) {
	local := cb.Kind == program.CircularBuffer && !cb.Global
	c.from.placed = c.from.placed || !cb.Global && placed
	c.from.recorded = c.from.recorded || local && !placed
	c.from.synthesised = c.from.synthesised || local && placed
	if cb.Global {
		c.nodes[cb.Kind].global++
	} else {
		c.beyond = c.beyond || size > 0 && !cb.Range.IsEmpty() && cb.Range.End > size
		if cb.Cores.Len() > 0 && !cb.Range.IsEmpty() {
			c.end = max(c.end, cb.Range.End)
		}
		c.nodes[cb.Kind].local++
	}
	if cb.Kind == program.CircularBuffer {
		c.takes(cb)
	}
}

// takes adds one circular buffer.
func (c *content) takes(cb program.PlacedCB) {
	if cb.Global {
		c.detail.GlobalCBs++
		return
	}
	c.detail.LocalCBs++
	c.sizes += cb.Size // a program of more than 2^63-1 bytes cannot be built
	if cb.On.IsEmpty() {
		c.loose += cb.Size
		return
	}
	c.cores = c.cores.Union(cb.On)
	if cb.Size > 0 {
		c.detail.HighestEnd = max(c.detail.HighestEnd, cb.Range.End)
	}
}

// describe sums up the circular buffers of a program.
func (c *content) describe(p *program.Program) {
	f := p.Occupied(program.CircularBuffer)
	c.counted[program.CircularBuffer] = p
	c.logical[program.CircularBuffer] = f.Logical()
	c.detail.Logical, c.detail.Bytes, c.detail.Cores = f.Logical(), f.Bytes(), c.cores.Len()
	for g := range f.Groups() {
		c.detail.Core = max(c.detail.Core, g.Bytes())
	}
	c.detail.Overlapping = f.Bytes() < f.Logical()
}

// mixed reports whether some addresses are recorded and some are not.
func (c *content) mixed() bool { return c.from.recorded && c.from.synthesised }

// places reports whether the content has a circular buffer.
func (c *content) places() bool { return c.counted[program.CircularBuffer] != nil }

// A crossing remembers the last crest that a content was added to, and the result. A crest is the peaks of runs
// that were alive alone. So devices that run the same one by one end up with the same crest, and what changes
// nothing again costs nothing.
type crossing struct {
	known    bool
	from, to *corepeaks.Marks
}

// placedBuffers returns what the programs place, in their order. It is worked out once.
func (c *content) placedBuffers() []answer.ProgramBuffer {
	if c.buffers != nil {
		return c.buffers
	}
	numbers := map[fit.Kind]int{}
	for _, p := range c.programs {
		for _, cb := range p.CBs() {
			kind := fit.Kind(cb.Kind)
			c.buffers = append(c.buffers, answer.ProgramBuffer{Kind: kind, Number: numbers[kind], Global: cb.Global, Cores: cb.On, Size: cb.Size, Range: cb.Range})
			numbers[kind]++
		}
	}
	return c.buffers
}

// allCores are all cores of a content's buffers, those without bytes of their own included.
func (c *content) allCores() (cores l1.CoreSet) {
	for _, p := range c.programs {
		for _, cb := range p.CBs() {
			cores = cores.Union(cb.On)
		}
	}
	return cores
}

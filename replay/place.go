package replay

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A definition is a program as a source states it, and as it was placed.
type definition struct {
	id        program.ID
	name, op  string
	asWritten bool // core ranges are not merged
	bases     []program.Base
	cbs       []event.CB
	whole     map[l1.Spec]*program.Program
	parts     map[l1.Spec]*content
}

// place returns a program as it is defined now, placed for the first of some devices.
// The fleet refuses it on others.
func (s *Session) place(id program.ID, set device.Set) (*program.Program, event.Code, error) {
	def := s.programs[id]
	if def == nil {
		return nil, event.CodeUndefined, fmt.Errorf("program %d: no event has defined it", id)
	}
	spec, same := set.Spec()
	if !same {
		for first := range set.All() {
			if d, err := s.fleet.Device(first); err == nil { // it was there just now
				spec = d.Spec()
			}
			break
		}
	}
	if p := def.whole[spec]; p != nil {
		return p, "", nil
	}
	b := def.builder(id)
	for _, cb := range def.cbs {
		cb.AddTo(b)
	}
	p, err := b.Build(spec)
	if err != nil {
		return nil, "", err
	}
	if def.whole == nil {
		def.whole = map[l1.Spec]*program.Program{}
	}
	def.whole[spec] = p
	return p, "", nil
}

// builder returns a Builder for the program, or for a part of it with an id of its own.
func (def *definition) builder(id program.ID) *program.Builder {
	b := program.NewBuilder(id).Name(def.name)
	if def.asWritten {
		b.AsWritten()
	}
	for _, base := range def.bases {
		b.Base(base.Cores, base.Address)
	}
	return b
}

// apart returns what a run of a program places: its circular buffers as one program,
// its dataflow buffers and scratchpads as another. An operation may run both, which no
// program can.
func (def *definition) apart(spec l1.Spec) (*content, error) {
	if c := def.parts[spec]; c != nil {
		return c, nil
	}
	var programs, judged []*program.Program
	var placed [][]bool
	for part, id := range []program.ID{def.id, apartID(def.id)} {
		if !slices.ContainsFunc(def.cbs, func(cb event.CB) bool { return isPart(cb, part) }) {
			continue
		}
		p, flags, err := def.part(part, id, spec)
		if err != nil {
			return nil, err
		}
		programs, placed, judged = append(programs, p), append(placed, flags), append(judged, p)
		if part > 0 {
			if judged[len(judged)-1], _, err = def.part(part, def.id, spec); err != nil {
				return nil, err
			}
		}
	}
	c, err := newContent(programs, func(p, cb int) bool { return placed[p][cb] })
	if err != nil {
		return nil, err
	}
	c.judged = judged
	c.resolved = c.placed
	if def.parts == nil {
		def.parts = map[l1.Spec]*content{}
	}
	def.parts[spec] = c
	return c, nil
}

// isPart reports whether a buffer belongs to part 0, circular buffers, or to part 1.
func isPart(cb event.CB, part int) bool { return (cb.Kind == program.CircularBuffer) == (part == 0) }

// part returns the circular buffers of a program, or its other buffers, as a program with
// an id of its own. The flags say which of them the source placed.
func (def *definition) part(part int, id program.ID, spec l1.Spec) (p *program.Program, flags []bool, err error) {
	b := def.builder(id)
	for _, cb := range def.cbs {
		if isPart(cb, part) {
			cb.AddTo(b)
			flags = append(flags, cb.Synthesised)
		}
	}
	p, err = b.Build(spec)
	return p, flags, err
}

// apartID is the id under which the dataflow buffers and scratchpads of a program that ran
// are registered, and the other way round. Nobody is shown it.
func apartID(id program.ID) program.ID { return ^id }

// idShown returns the id that a program has for people, and how it is defined: nil if it is
// not defined any more.
func idShown(id program.ID, programs map[program.ID]*definition) (program.ID, *definition) {
	if def := programs[apartID(id)]; programs[id] == nil && def != nil {
		return apartID(id), def
	}
	return id, programs[id]
}

// numKinds is the number of kinds of buffers that programs have.
const numKinds = int(program.Scratchpad) + 1

// A content is what a program holds, worked out once however often it runs.
type content struct {
	id       program.ID
	programs []*program.Program         // registered and dispatched, in this order
	judged   []*program.Program         // the same under the id that people know
	counted  [numKinds]*program.Program // by kind, as circular buffers; nil where there are none
	nodes    [numKinds]struct{ local, global int64 }
	cores    l1.CoreSet       // covered by a local circular buffer
	end      uint64           // of the highest buffer that takes bytes, of any kind
	sizes    uint64           // sum of the sizes of local circular buffers, without cores
	loose    uint64           // of those that name no core
	logical  [numKinds]uint64 // of counted
	detail   ProgramDetail    // but for First, Last and Op

	buffers []ProgramBuffer // nil until Options.Buffers asks
	crossed crossing

	recorded    bool // a local circular buffer has an address of its own
	synthesised bool // one was placed
	placed      bool // any local buffer was
	resolved    bool // by the source, not when it was registered
	beyond      bool // one ends beyond L1
}

// newContent describes programs. placed says which buffers were placed, not recorded.
func newContent(programs []*program.Program, placed func(p, cb int) bool) (*content, error) {
	c := &content{programs: programs, judged: programs}
	builders := [numKinds]*program.Builder{}
	for n, p := range programs {
		for finding := range p.Findings() {
			c.beyond = c.beyond || finding.Code == program.BeyondL1
		}
		for i, cb := range p.CBs() {
			local := cb.Kind == program.CircularBuffer && !cb.Global
			c.placed = c.placed || !cb.Global && placed(n, i)
			c.recorded, c.synthesised = c.recorded || local && !placed(n, i), c.synthesised || local && placed(n, i)
			if cb.Global {
				c.nodes[cb.Kind].global++
			} else {
				if cb.Cores.Len() > 0 && !cb.Range.IsEmpty() {
					c.end = max(c.end, cb.Range.End)
				}
				c.nodes[cb.Kind].local++
			}
			if cb.Kind == program.CircularBuffer {
				c.takes(cb)
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

// takes takes in one circular buffer.
func (c *content) takes(cb program.Placed) {
	if cb.Global {
		c.detail.GlobalCBs++
		return
	}
	c.detail.LocalCBs++
	c.sizes += cb.Size // a program of more than 2^63-1 bytes cannot be built
	cores := cb.Cores.Cores()
	if cores.IsEmpty() {
		c.loose += cb.Size
		return
	}
	c.cores = c.cores.Union(cores)
	if cb.Size > 0 {
		c.detail.HighestEnd = max(c.detail.HighestEnd, cb.Range.End)
	}
}

// describe fills in what is known of the circular buffers of a program together.
func (c *content) describe(p *program.Program) {
	f := p.Occupied(program.CircularBuffer)
	c.counted[program.CircularBuffer] = p
	c.logical[program.CircularBuffer] = f.Logical()
	c.detail.Logical, c.detail.Bytes, c.detail.Cores = f.Logical(), f.Bytes(), c.cores.Len()
	for g := range f.Groups() {
		c.detail.Core = max(c.detail.Core, g.Bytes())
	}
	cbs := circular(p)
	for finding := range p.Findings() {
		if finding.Code == program.Overlap && cbs[finding.CB] && cbs[finding.Other] {
			c.detail.Overlapping = true
		}
	}
}

// circular says which of a program's buffers are circular ones.
func circular(p *program.Program) map[int]bool {
	out := map[int]bool{}
	for i, cb := range p.CBs() {
		if cb.Kind == program.CircularBuffer {
			out[i] = true
		}
	}
	return out
}

// asTold takes in which addresses of a log's program its source made up.
func (c *content) asTold(p *program.Program, def *definition) {
	if def == nil || !slices.ContainsFunc(def.cbs, func(cb event.CB) bool { return cb.Synthesised }) {
		return
	}
	c.recorded, c.synthesised = false, false
	for i, cb := range p.CBs() {
		if cb.Kind == program.CircularBuffer && !cb.Global {
			made := !cb.Fixed || i < len(def.cbs) && def.cbs[i].Synthesised
			c.recorded, c.synthesised = c.recorded || !made, c.synthesised || made
		}
	}
}

// mixed reports whether some addresses are recorded and some are not.
func (c *content) mixed() bool { return c.recorded && c.synthesised }

// places reports whether the content has a circular buffer.
func (c *content) places() bool { return c.counted[program.CircularBuffer] != nil }

package source

import (
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A Definition is a program in the words of its source, with its placed forms.
type Definition struct {
	id        program.ID
	Name, Op  string
	asWritten bool // core ranges are not merged
	bases     []program.Base
	cbs       []event.CB
	whole     bySpec[*program.Program]
	parts     bySpec[*Content]
	shorter   *Definition // of a run that grew to this one; nil if there is none
}

// bySpec is a map of values by Spec. Most programs are placed for one Spec alone. With a Go map for each of them, a
// capture of 27,000 distinct programs took 1.2 times the memory.
type bySpec[T placed] struct {
	one  T // for its own Spec; the zero value if there is none
	more map[l1.Spec]T
}

// placed is a value for one Spec, which it knows.
type placed interface {
	comparable
	Spec() l1.Spec
}

// get returns the value of a Spec, the zero value if there is none.
func (b *bySpec[T]) get(spec l1.Spec) T {
	var none T
	if b.one != none && b.one.Spec() == spec {
		return b.one
	}
	return b.more[spec]
}

// set adds a value for a Spec that has none.
func (b *bySpec[T]) set(spec l1.Spec, v T) {
	var none T
	if b.one == none && v.Spec() == spec {
		b.one = v
		return
	}
	if b.more == nil {
		b.more = map[l1.Spec]T{}
	}
	b.more[spec] = v
}

// all yields the values in no order.
func (b *bySpec[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		var none T
		if b.one != none && !yield(b.one) {
			return
		}
		for _, v := range b.more {
			if !yield(v) {
				return
			}
		}
	}
}

// Definitions are the programs of a source as they are defined now.
type Definitions map[program.ID]*Definition

// errUndefined is the reason why no program has an id.
func errUndefined(id program.ID) error { return fmt.Errorf("program %d: no event has defined it", id) }

// name returns the name of a program; "" if it has none, or is not known.
func (defs Definitions) name(id program.ID) string {
	if def := defs[id]; def != nil {
		return def.Name
	}
	return ""
}

// NameOf returns the name of the program that an event names; "" if it is not known.
func (defs Definitions) NameOf(e *event.Event) string {
	switch e.Kind {
	case event.KindProgram:
		return e.Name
	case event.KindRegister, event.KindUnregister, event.KindReplace, event.KindDispatch, event.KindEnqueue, event.KindEvict,
		event.KindRecord, event.KindRun:
		return defs.name(e.Program)
	}
	return ""
}

// Executed returns what an event says was executed on a device, nil if that is not known.
func (defs Definitions) Executed(e *event.Event, d device.Device, grids Grids, f *device.Fleet) (*Content, error) {
	def := defs[e.Program]
	if !e.Known || def == nil || grids.refuse(def, f, d.ID()) != nil {
		return nil, nil
	}
	return def.Apart(Placing(d.Spec()))
}

// Label names a program of a log for people. op are the operations that are running.
func (defs Definitions) Label(p *program.Program, op answer.Name) answer.Name {
	name := answer.Name(p.Name())
	if name == "" {
		name = answer.Name(defs.name(p.ID())) // of a definition that was not placed
	}
	if name == "" {
		name = answer.Name("program " + strconv.FormatUint(uint64(p.ID()), 10))
	}
	if op != "" {
		return op + " > " + name
	}
	return name
}

// Named are the programs that an event may name as they are defined now.
func (defs Definitions) Named(out map[*program.Program]bool) {
	for _, def := range defs {
		for p := range def.whole.all() {
			out[p] = true
		}
		for c := range def.parts.all() {
			for _, p := range c.Programs {
				out[p] = true
			}
		}
	}
}

// Placed returns the program, placed for a Spec.
func (def *Definition) Placed(spec l1.Spec) (*program.Program, error) {
	if p := def.whole.get(spec); p != nil {
		return p, nil
	}
	b := def.builder(def.id)
	for _, cb := range def.cbs {
		cb.AddTo(b)
	}
	p, err := b.Build(spec)
	if err != nil {
		return nil, err
	}
	def.whole.set(spec, p)
	return p, nil
}

// builder returns a Builder for the program, or for a part of it with an id of its own.
func (def *Definition) builder(id program.ID) *program.Builder {
	b := program.NewBuilder(id).Name(def.Name)
	if def.asWritten {
		b.AsWritten()
	}
	for _, base := range def.bases {
		b.Base(base.Cores, base.Address)
	}
	return b
}

// Apart returns what a run of a program places: its circular buffers as one program,
// its dataflow buffers and scratchpads as another. An operation may run both, which no
// program can.
func (def *Definition) Apart(spec l1.Spec) (*Content, error) {
	if c := def.parts.get(spec); c != nil {
		return c, nil
	}
	if c := def.longer(spec); c != nil {
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
	c, err := NewContent(programs, func(p, cb int) bool { return placed[p][cb] })
	if err != nil {
		return nil, err
	}
	c.Judged = judged
	c.From.Resolved = c.From.Placed
	def.parts.set(spec, c)
	return c, nil
}

// longer returns what a run of circular buffers places, from what its shorter form does; nil if that is not known.
func (def *Definition) longer(spec l1.Spec) *Content {
	was := def.shorter
	if was == nil || len(was.cbs) == 0 || len(was.cbs) >= len(def.cbs) || &was.cbs[0] != &def.cbs[0] || was.asWritten != def.asWritten || len(def.bases) > 0 {
		return nil // a source of runs that grow has the memory of the shorter form in the longer one
	}
	from, n := was.parts.get(spec), len(was.cbs)
	if from == nil || from.Counted[program.CircularBuffer] == nil || from.Programs[0].Len() < n {
		return nil
	}
	b := make([]program.CB, len(def.cbs)-n)
	for i, cb := range def.cbs[n:] {
		b[i] = cb.CB
	}
	p, ok := from.Programs[0].With(def.id, def.Name, b...)
	if !ok {
		return nil
	}
	c := *from
	c.ID, c.Programs, c.buffers, c.Crossed = def.id, []*program.Program{p}, nil, Crossing{}
	c.Judged = c.Programs
	for i := n; i < p.Len(); i++ {
		c.add(p.CB(i), def.cbs[i].Synthesised, spec.L1Size)
	}
	c.describe(p)
	c.From.Resolved = c.From.Placed
	def.parts.set(spec, &c)
	return &c
}

// isPart reports whether a buffer belongs to part 0, circular buffers, or to part 1.
func isPart(cb event.CB, part int) bool { return (cb.Kind == program.CircularBuffer) == (part == 0) }

// part returns the circular buffers of a program, or its other buffers, as a program with
// an id of its own. The flags say which of them the source placed.
func (def *Definition) part(part int, id program.ID, spec l1.Spec) (p *program.Program, flags []bool, err error) {
	b := def.builder(id).Grow(len(def.cbs))
	for _, cb := range def.cbs {
		if isPart(cb, part) {
			cb.AddTo(b)
			flags = append(flags, cb.Synthesised)
		}
	}
	p, err = b.Build(spec)
	return p, flags, err
}

// apartID is the id under which the dataflow buffers and scratchpads of a program that ran are registered, and the
// other way round. No output has it.
func apartID(id program.ID) program.ID { return ^id }

// ShownID returns the id that a program has for people, and how it is defined: nil if it is
// not defined any more.
func ShownID(id program.ID, programs Definitions) (program.ID, *Definition) {
	if def := programs[apartID(id)]; programs[id] == nil && def != nil {
		return apartID(id), def
	}
	return id, programs[id]
}

// AsDeclared records the addresses of a log's program that its source made up.
func (c *Content) AsDeclared(p *program.Program, def *Definition) {
	if def == nil || !slices.ContainsFunc(def.cbs, func(cb event.CB) bool { return cb.Synthesised }) {
		return
	}
	c.From.Recorded, c.From.Synthesised = false, false
	for i, cb := range p.CBs() {
		if cb.Kind == program.CircularBuffer && !cb.Global {
			made := !cb.Fixed || i < len(def.cbs) && def.cbs[i].Synthesised
			c.From.Recorded, c.From.Synthesised = c.From.Recorded || !made, c.From.Synthesised || made
		}
	}
}

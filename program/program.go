package program

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cbl1/cbl1/l1"
)

// A Program is a set of CBs with addresses. It never changes; a resized program is
// another Program with the same id. Builders make them; of a nil Program only Equal
// and String may be called, and of a zero one no method.
type Program struct {
	id       ID
	spec     *l1.Spec         // never changed; shared with other programs
	kinds    [numKinds]*usage // nil where there are no CBs of the kind
	name     string
	written  bool // placed by core ranges as stated
	bases    []Base
	cbs      []stored
	sets     []l1.CoreRangeSet // that CBs are on, each once
	on       []l1.CoreSet      // the cores of each set
	indices  [][]Index         // of each CB; nil if none has any
	cores    l1.CoreSet
	longer   atomic.Bool // another program has the memory behind cbs
	even     bool        // all cbs are circular buffers that take bytes
	finding  sync.Once   // finds
	findings []Finding
}

// usage holds the footprints of the CBs of one kind.
type usage struct {
	occupied, reserved Footprint
	entries            []Entry
}

// A stored is a PlacedCB as a program keeps it: programs are many, and have many CBs.
type stored struct {
	size, addr uint64
	alias      int
	set        int32 // the number of its core range set
	kind       Kind
	global     bool
	fixed      bool
	known      bool
	late       bool // its address is OutOfOrder
}

// stored returns the CB before it is placed.
func (cb *CB) stored() stored {
	s := stored{size: cb.Size, alias: cb.Alias, kind: cb.Kind, global: cb.Global, fixed: cb.Fixed}
	if cb.Fixed {
		s.addr = cb.Address
	}
	return s
}

// at returns the bytes of the CB on each core.
func (cb *stored) at() l1.Range {
	if !cb.known {
		return l1.Range{}
	}
	return l1.Range{Start: cb.addr, End: cb.addr + cb.size}
}

// usage returns the footprints of the CBs of a kind.
func (p *Program) usage(kind Kind) usage {
	if kind < numKinds && p.kinds[kind] != nil {
		return *p.kinds[kind]
	}
	return usage{}
}

// cb returns a CB as stated, with its address.
func (p *Program) cb(i int) CB {
	cb := &p.cbs[i]
	return CB{
		Kind: cb.kind, Cores: p.sets[cb.set], Size: cb.size, Indices: slices.Clone(p.indicesOf(i)),
		Global: cb.global, Address: cb.addr, Fixed: cb.fixed, Alias: cb.alias,
	}
}

func (p *Program) indicesOf(i int) []Index {
	if p.indices == nil {
		return nil
	}
	return p.indices[i]
}

// An Entry is the record of tt-metal's placement for one core range of a program. Placement charges
// all cores of the range alike, and validates the end of the last region.
// (ProgramImpl::validate_circular_buffer_region of tt_metal/impl/program/program.cpp.)
type Entry struct {
	Cores l1.CoreRange // as merged before placement, or as written
	End   uint64       // of the last region
}

// Build places the CBs for a device and returns the program. Local CBs without a given address get
// tt-metal's. A fault that tt-metal would refuse later, or run with silently, becomes a Finding.
// Errors are *BuildError and list all faults at once. The Builder may be built again, for another
// Spec too.
func (b *Builder) Build(spec l1.Spec) (*Program, error) {
	if errs := b.check(spec); len(errs) > 0 {
		return nil, &BuildError{b.id, b.name, errs}
	}
	p, shapes := b.program(&spec)
	tiles := l1.Tiles(coresOf(shapes, shape.where))                                  // 1.15x of 64 rectangles if done anew
	for _, kinds := range [][]Kind{{CircularBuffer}, {DataflowBuffer, Scratchpad}} { // each shares a ledger
		if err := p.place(shapes, tiles, kinds); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// program returns the program before anything is placed, and its shapes.
func (b *Builder) program(spec *l1.Spec) (*Program, []shape) {
	p := &Program{
		id: b.id, name: b.name, written: b.written, bases: slices.Clip(b.bases), spec: spec,
		cbs: make([]stored, len(b.cbs)),
	}
	for i := range b.cbs {
		cb := &b.cbs[i]
		p.cbs[i] = cb.stored()
		if len(cb.Indices) > 0 {
			if p.indices == nil {
				p.indices = make([][]Index, len(b.cbs))
			}
			p.indices[i] = cb.Indices // a copy, which the Builder does not write to
		}
		if p.kinds[cb.Kind] == nil {
			p.kinds[cb.Kind] = &usage{}
		}
	}
	return p, p.shapes(b.cbs)
}

// fail returns the error of a program that cannot be built for one reason.
func (p *Program) fail(err error) error { return &BuildError{p.id, p.name, []error{err}} }

// place gives the CBs of some kinds, which share a ledger, their addresses: kind by kind, in
// creation order, and measures them.
func (p *Program) place(shapes []shape, tiles []l1.Tile, kinds []Kind) error {
	kinds = slices.DeleteFunc(kinds, func(k Kind) bool { return p.kinds[k] == nil })
	if len(kinds) == 0 {
		return nil
	}
	l := p.open(shapes, kinds)
	l.ranges = make([]l1.Range, len(p.cbs))
	groups := p.aliases(shapes, kinds)
	for _, kind := range kinds {
		for i := range p.cbs {
			cb := &p.cbs[i]
			if cb.kind != kind || cb.global && !cb.fixed {
				continue
			}
			on, first := &shapes[cb.set].site, i
			if g := groups[cb.alias]; g != nil { // taken for all members at once
				on, first = &g.site, g.first
			}
			if err := p.put(i, l, on, first); err != nil {
				return err
			}
			l.ranges[i] = cb.at()
		}
	}
	return p.measure(shapes, tiles, l, kinds)
}

// An aliasGroup is the CBs that share an address.
type aliasGroup struct {
	site      // of all members
	first int // CB that is created first
}

// aliases returns the alias groups of the CBs of some kinds, nil if there are none.
func (p *Program) aliases(shapes []shape, kinds []Kind) (out map[int]*aliasGroup) {
	for i := range p.cbs {
		cb := &p.cbs[i]
		if cb.alias == 0 || !slices.Contains(kinds, cb.kind) {
			continue
		}
		if out == nil {
			out = map[int]*aliasGroup{}
		}
		if out[cb.alias] == nil {
			out[cb.alias] = &aliasGroup{first: i}
		}
		g, on := out[cb.alias], &shapes[cb.set]
		g.cores, g.own, g.low = g.cores.Union(on.cores), append(g.own, on.own...), max(g.low, on.low)
	}
	for _, g := range out {
		slices.Sort(g.own)
		g.own = slices.Compact(g.own)
	}
	return out
}

// put gives one CB its address and marks it on its entries. first is the first CB with its address, which may be i.
func (p *Program) put(i int, l *ledger, on *site, first int) error {
	cb := &p.cbs[i]
	addr, ok := cb.addr, true
	switch {
	case cb.fixed:
	case first < i:
		addr = p.cbs[first].addr
	case cb.kind == Scratchpad:
		addr, ok = l.next(on.low, l.touched(on))
	default:
		addr, ok = l.next(on.low, on.own)
	}
	at, err := l1.RangeOf(addr, cb.size)
	if !ok || err != nil {
		return p.fail(&Error{p.id, p.name, "CB", i, "Size", fmt.Sprint(cb.size), errors.New("placed so that it ends beyond 2^63-1")})
	}
	cb.addr, cb.known = addr, true
	cb.late = !cb.global && first == i && !l.mark(i, at, on)
	return nil
}

// measure computes the footprints of kinds that share a ledger.
func (p *Program) measure(shapes []shape, tiles []l1.Tile, l *ledger, kinds []Kind) error {
	entries := l.marked()
	for _, kind := range kinds {
		occupied, ok := footprint(p.layers(shapes, kind), tiles, l.ranges, true)
		// Mostly both footprints have the same groups, and share them: without that a program that differs on each of
		// 64 cores takes 1.6 times the memory and 1.7 times the time. But two groups that differ in sizes alone, where
		// bytes are counted twice, are one reserved group.
		reserved := occupied.uncounted()
		if ok && (!l.apart || len(kinds) > 1 || occupied.bytes < occupied.sizes) {
			marked := l.layers()
			reserved, ok = footprint(marked, l1.Tiles(coresOf(marked, layer.where)), l.ranges, false)
		}
		if !ok {
			return p.fail(&Error{Program: p.id, Name: p.name, Field: "Size", Err: fmt.Errorf("%ss sum to more than 2^63-1 bytes over all cores", kind)})
		}
		*p.kinds[kind] = usage{occupied, reserved, entries}
	}
	return nil
}

// layers returns the ranges of the local CBs of a kind on the cores of each shape.
func (p *Program) layers(shapes []shape, kind Kind) []layer {
	layers := make([]layer, len(shapes))
	for k := range shapes {
		layers[k] = layer{shapes[k].cores, make([]int32, 0, len(p.cbs)/len(shapes)+1)}
	}
	for i := range p.cbs {
		if cb := &p.cbs[i]; cb.kind == kind && !cb.global {
			layers[cb.set].in = append(layers[cb.set].in, int32(i))
		}
	}
	return layers
}

// ID returns the program's id.
func (p *Program) ID() ID { return p.id }

// Name returns the program's name, "" if it has none. It is for people: devices identify programs
// by id, and programs that differ in the name alone are the same.
func (p *Program) Name() string { return p.name }

// Spec returns the device that the program was built for.
func (p *Program) Spec() l1.Spec { return *p.spec }

// AsWritten reports whether the CBs were placed by their core ranges as stated; see
// [Builder.AsWritten].
func (p *Program) AsWritten() bool { return p.written }

// Len returns the number of CBs of all kinds, local and global.
func (p *Program) Len() int { return len(p.cbs) }

// CBs returns the CBs with their places in creation order.
func (p *Program) CBs() iter.Seq2[int, PlacedCB] {
	return func(yield func(int, PlacedCB) bool) {
		for i := range p.cbs {
			if !yield(i, p.CB(i)) {
				return
			}
		}
	}
}

// CB returns the i-th CB with its place, in creation order.
func (p *Program) CB(i int) PlacedCB {
	return PlacedCB{CB: p.cb(i), Range: p.cbs[i].at(), Known: p.cbs[i].known, On: p.on[p.cbs[i].set]}
}

// Cores returns the cores that the CBs name, including global CBs.
func (p *Program) Cores() l1.CoreSet { return p.cores }

// Named returns the cores that the CBs of a kind name, including global CBs.
func (p *Program) Named(kind Kind) (cores l1.CoreSet) {
	switch {
	case kind >= numKinds || p.kinds[kind] == nil:
		return l1.CoreSet{}
	case p.oneKind():
		return p.cores
	}
	for i := range p.cbs {
		if cb := &p.cbs[i]; cb.kind == kind {
			cores = cores.Union(p.on[cb.set])
		}
	}
	return cores
}

// Occupied returns the union of the local CBs of a kind on each core. Its Bytes are the "physical"
// bytes.
func (p *Program) Occupied(kind Kind) Footprint {
	return p.usage(kind).occupied
}

// Reserved returns the ranges that tt-metal's placement charges each core for a kind: at least
// Occupied, and more where core ranges overlap without being equal. Its Logical is 0. Scratchpads
// and dataflow buffers share their bookkeeping: a program that has both gives the same for both,
// which must not be added up. CBs at given addresses make the same marks there. A mark that the
// rule refuses is added too (finding OutOfOrder).
func (p *Program) Reserved(kind Kind) Footprint {
	return p.usage(kind).reserved
}

// Entries returns the core ranges of the placement bookkeeping that a kind charges
// anything to, in the order in which they were first named. tt-metal validates them in
// this order. Scratchpads and dataflow buffers share their bookkeeping.
func (p *Program) Entries(kind Kind) iter.Seq[Entry] {
	return slices.Values(p.usage(kind).entries)
}

// Findings returns the oddities of the program, by CB.
//
// A CB that shares bytes of a core with others is named with one of them, not with all: n CBs on
// one spot give n-1 findings.
//
// The first call finds them: most programs are asked for none. A capture with a run of 2,000 CBs that grows between
// buffers takes 1.6 times as long if Build does.
func (p *Program) Findings() iter.Seq[Finding] {
	p.finding.Do(p.find)
	return slices.Values(p.findings)
}

// Equal reports whether p and o count the same: same Spec but for L1Small, same cores, and same
// footprints for every kind. Ids, names, findings, entries and the cut into CBs may
// differ, but a program without CBs equals only its like.
func (p *Program) Equal(o *Program) bool {
	if p == o {
		return true
	}
	if p == nil || o == nil || !p.spec.Places(*o.spec) || (len(p.cbs) == 0) != (len(o.cbs) == 0) {
		return false
	}
	for kind := range numKinds {
		if !p.Occupied(kind).Equal(o.Occupied(kind)) || !p.Reserved(kind).Equal(o.Reserved(kind)) {
			return false
		}
	}
	return p.cores.Equal(o.cores)
}

// Resize returns the program with another size of one CB and, as after tt-metal's
// UpdateCircularBufferTotalSize, new addresses for all local CBs that were not
// given theirs. The aliases of a dataflow buffer change with it. p is unchanged.
// Errors are *Error and *BuildError.
func (p *Program) Resize(cb int, size uint64) (*Program, error) {
	if cb < 0 || cb >= len(p.cbs) {
		return nil, &Error{p.id, p.name, "CB", cb, "Size", fmt.Sprint(size), fmt.Errorf("the program has %d CBs", len(p.cbs))}
	}
	b := NewBuilder(p.id).Name(p.name).Like(p)
	for i := range p.cbs {
		next := p.cb(i)
		if !next.Fixed {
			next.Address = 0
		}
		if alias := p.cbs[cb].alias; i == cb || alias != 0 && next.Alias == alias {
			next.Size = size
		}
		b.CB(next)
	}
	return b.Build(*p.spec)
}

// GoString lists the CBs with their ranges and cores in one line, for the output of tests.
func (p *Program) GoString() string {
	if p == nil {
		return "no program"
	}
	var cbs []string
	for _, cb := range p.CBs() {
		kind := ""
		if cb.Kind != CircularBuffer {
			kind = cb.Kind.String() + " "
		}
		if cb.Global {
			kind += "global "
		}
		cbs = append(cbs, fmt.Sprintf("%s%v on %v", kind, cb.Range, cb.Cores))
	}
	return fmt.Sprintf("program %d {%s}", p.id, strings.Join(cbs, "; "))
}

// String describes the program in a few words, for error messages. The bytes are
// physical, summed over cores.
func (p *Program) String() string {
	if p == nil {
		return "no program"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%d CBs on %d cores, %d bytes", known(p.id, p.name), len(p.cbs), p.cores.Len(), p.Occupied(CircularBuffer).Bytes())
	for _, kind := range []Kind{DataflowBuffer, Scratchpad} {
		if p.kinds[kind] != nil {
			fmt.Fprintf(&text, ", %d bytes of %ss", p.Occupied(kind).Bytes(), kind)
		}
	}
	text.WriteByte(')')
	return text.String()
}

package program

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// A Program is a set of CBs with addresses. It never changes; a resized program is
// another Program with the same id. Builders make them; of a nil Program only Equal
// and String may be called.
type Program struct {
	id       ID
	name     string
	written  bool // placed by core ranges as stated
	spec     l1.Spec
	cbs      []Placed
	cores    l1.CoreSet
	kinds    [numKinds]int // number of CBs of each kind
	occupied [numKinds]Footprint
	reserved [numKinds]Footprint
	entries  [numKinds][]Entry
	findings []Finding
}

// An Entry is what tt-metal's placement keeps for one core range of a program: it
// charges all cores of the range alike, and validates the end of the last region.
// (ProgramImpl::validate_circular_buffer_region of tt_metal/impl/program/program.cpp.)
type Entry struct {
	Cores l1.CoreRange // as merged before placement, or as written
	End   uint64       // of the last region
}

// Build places the CBs for a device and returns the program. Local CBs without a
// given address get tt-metal's. What tt-metal would refuse later, or run with
// silently, becomes a Finding. Errors are *BuildError and say everything that is
// wrong at once. The Builder may be built again, for another Spec too.
func (b *Builder) Build(spec l1.Spec) (*Program, error) {
	if errs := b.check(spec); len(errs) > 0 {
		return nil, &BuildError{b.id, b.name, errs}
	}
	p := &Program{id: b.id, name: b.name, written: b.written, spec: spec, cbs: make([]Placed, len(b.cbs))}
	for i, cb := range b.cbs {
		cb.Indices = slices.Clone(cb.Indices)
		if !cb.Fixed {
			cb.Address = 0
		}
		p.cbs[i] = Placed{CB: cb}
		p.kinds[cb.Kind]++
	}
	shapes := shapesOf(p.cbs, spec, b.shapes)
	circular, err := p.place(b.shapes, shapes, CircularBuffer)
	if err != nil {
		return nil, err
	}
	dataflow, err := p.place(b.shapes, shapes, DataflowBuffer, Scratchpad)
	if err != nil {
		return nil, err
	}
	if err := p.measure(b.shapes, shapes, circular, dataflow); err != nil {
		return nil, err
	}
	return p, nil
}

// fail returns the error of a program that cannot be built for one reason.
func (p *Program) fail(err error) error { return &BuildError{p.id, p.name, []error{err}} }

// place gives the CBs of the kinds, which share a ledger, their addresses: kind by
// kind, in creation order. The ledger is nil if there are none.
func (p *Program) place(known *Shapes, shapes []shape, kinds ...Kind) (*ledger, error) {
	n := 0
	for _, kind := range kinds {
		n += p.kinds[kind]
	}
	if n == 0 {
		return nil, nil
	}
	l := newLedger(p.spec, known, shapes, p.written, func(cb int) bool { return slices.Contains(kinds, p.cbs[cb].Kind) })
	own := make([][]int32, len(p.cbs)) // CB -> the entries with exactly its ranges
	aliases := map[int][]int32{}       // alias group -> those of its members, until it is placed
	for k := range shapes {
		for _, i := range shapes[k].cbs {
			own[i] = l.byShape[k]
			if group := p.cbs[i].Alias; group != 0 {
				aliases[group] = append(aliases[group], own[i]...)
			}
		}
	}
	placed := map[int]uint64{} // alias group -> its address
	for _, kind := range kinds {
		for i := range p.cbs {
			cb := &p.cbs[i]
			if cb.Kind != kind || cb.Global && !cb.Fixed {
				continue
			}
			addr, ok := cb.Address, true
			group, found := placed[cb.Alias]
			if cb.Alias != 0 && !found { // taken for all members at once
				own[i] = slices.Compact(slices.Sorted(slices.Values(aliases[cb.Alias])))
			}
			switch {
			case cb.Fixed:
			case found:
				addr = group
			case kind == Scratchpad:
				addr, ok = l.nextAbove(own[i])
			default:
				addr, ok = l.next(own[i])
			}
			at, err := l1.RangeOf(addr, cb.Size)
			if !ok || err != nil {
				return nil, p.fail(&CBError{Program: p.id, Name: p.name, CB: i, Field: "Size", Value: cb.Size, Reason: "placed so that it ends beyond 2^63-1"})
			}
			cb.Address, cb.Range, cb.Known = addr, at, true
			if cb.Global || found {
				continue
			}
			if cb.Alias != 0 {
				placed[cb.Alias] = addr
			}
			if !l.mark(own[i], at) {
				p.findings = append(p.findings, Finding{Code: OutOfOrder, CB: i, Other: -1, Cores: cb.Cores.Cores(), Range: at})
			}
		}
	}
	return l, nil
}

// measure computes the footprints and the findings.
func (p *Program) measure(known *Shapes, shapes []shape, circular, dataflow *ledger) error {
	areas := make([]area, len(shapes))
	for k := range shapes {
		areas[k] = shapes[k].area
	}
	all := known.divide(areas)
	sets := make([]l1.CoreSet, len(all))
	for k := range all {
		sets[k] = all[k].cores
	}
	p.cores = unite(sets)
	for kind := range numKinds {
		if p.kinds[kind] == 0 {
			continue
		}
		l := circular
		if kind != CircularBuffer {
			l = dataflow
		}
		layers, ok := p.layers(shapes, kind)
		if ok {
			p.occupied[kind], ok = footprintOf(layers, all)
		}
		if ok {
			p.reserved[kind], ok = l.footprint()
			p.entries[kind] = l.marked()
		}
		if !ok {
			return p.fail(&OverflowError{p.id, p.name, kind})
		}
	}
	p.find(shapes, all)
	return nil
}

// layers returns, for each shape, what its local CBs of a kind take of every core.
// ok is false if their sizes sum to more than 2^63-1.
func (p *Program) layers(shapes []shape, kind Kind) (out []layer, ok bool) {
	out = make([]layer, len(shapes))
	for k := range shapes {
		y := &out[k]
		for _, i := range shapes[k].cbs {
			cb := &p.cbs[i]
			if cb.Kind != kind || cb.Global {
				continue
			}
			y.ranges = append(y.ranges, cb.Range)
			if y.size += cb.Size; y.size > l1.MaxAddr {
				return nil, false
			}
		}
		y.ranges = l1.Merge(y.ranges)
	}
	return out, true
}

// ID returns the program's id.
func (p *Program) ID() ID { return p.id }

// Name returns the program's name, "" if it has none. It is for people: what a device
// registers goes by id, and programs that differ in nothing but the name are the same.
func (p *Program) Name() string { return p.name }

// Spec returns the device that the program was built for.
func (p *Program) Spec() l1.Spec { return p.spec }

// AsWritten reports whether the CBs were placed by their core ranges as stated; see
// [Builder.AsWritten].
func (p *Program) AsWritten() bool { return p.written }

// Len returns the number of CBs of all kinds, local and global.
func (p *Program) Len() int { return len(p.cbs) }

// CBs returns the CBs with their places in creation order.
func (p *Program) CBs() iter.Seq2[int, Placed] {
	return func(yield func(int, Placed) bool) {
		for i, cb := range p.cbs {
			cb.Indices = slices.Clone(cb.Indices)
			if !yield(i, cb) {
				return
			}
		}
	}
}

// Cores returns the cores that the CBs name, those of global CBs included.
func (p *Program) Cores() l1.CoreSet { return p.cores }

// Occupied returns the union of the local CBs of a kind on each core. This is what
// "physical" means.
func (p *Program) Occupied(kind Kind) Footprint {
	if kind >= numKinds {
		return Footprint{}
	}
	return p.occupied[kind]
}

// Reserved returns what tt-metal's placement charges each core for a kind: at least
// Occupied, and more where core ranges overlap without being equal. Its Logical is
// 0. Scratchpads and dataflow buffers share their bookkeeping: a program that has
// both gives the same for both, which must not be added up. For CBs at given
// addresses the same marks are made there, and where the rule would refuse one it
// is added all the same (finding OutOfOrder).
func (p *Program) Reserved(kind Kind) Footprint {
	if kind >= numKinds {
		return Footprint{}
	}
	return p.reserved[kind]
}

// Entries returns the core ranges of the placement bookkeeping that a kind charges
// anything to, in the order in which they were first named: that in which tt-metal
// validates them. Scratchpads and dataflow buffers share their bookkeeping.
func (p *Program) Entries(kind Kind) iter.Seq[Entry] {
	if kind >= numKinds {
		return slices.Values[[]Entry](nil)
	}
	return slices.Values(p.entries[kind])
}

// Findings returns what is odd about the program, by CB.
//
// Of CBs that share bytes of a core, each is named with one that it shares them
// with, not with all: n CBs on one spot give n-1 findings.
func (p *Program) Findings() iter.Seq[Finding] { return slices.Values(p.findings) }

// Equal reports whether p and o count the same: same Spec, same cores, and same
// footprints for every kind. Ids, names, findings, entries and the cut into CBs may
// differ, but a program without CBs equals only its like.
func (p *Program) Equal(o *Program) bool {
	if p == o {
		return true
	}
	if p == nil || o == nil || p.spec != o.spec || (len(p.cbs) == 0) != (len(o.cbs) == 0) {
		return false
	}
	for kind := range numKinds {
		if !p.occupied[kind].Equal(o.occupied[kind]) || !p.reserved[kind].Equal(o.reserved[kind]) {
			return false
		}
	}
	return p.cores.Equal(o.cores)
}

// Resize returns the program with another size of one CB and, as after tt-metal's
// UpdateCircularBufferTotalSize, new addresses for all local CBs that were not
// given theirs. The aliases of a dataflow buffer change with it. p is unchanged.
// Errors are *CBError and *BuildError.
func (p *Program) Resize(cb int, size uint64) (*Program, error) {
	if cb < 0 || cb >= len(p.cbs) {
		return nil, &CBError{Program: p.id, Name: p.name, CB: cb, Field: "Size", Value: size, Reason: fmt.Sprintf("the program has %d CBs", len(p.cbs))}
	}
	b := NewBuilder(p.id).Name(p.name)
	b.written = p.written
	for i, old := range p.cbs {
		next := old.CB
		if !next.Fixed {
			next.Address = 0
		}
		if i == cb {
			next.Size = size
		}
		if alias := p.cbs[cb].Alias; alias != 0 && next.Alias == alias {
			next.Size = size
		}
		b.CB(next)
	}
	return b.Build(p.spec)
}

// String describes the program in a few words, for error messages. The bytes are
// physical, summed over cores.
func (p *Program) String() string {
	if p == nil {
		return "no program"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%d CBs on %d cores, %d bytes", known(p.id, p.name), len(p.cbs), p.cores.Len(), p.occupied[CircularBuffer].Bytes())
	for _, kind := range []Kind{DataflowBuffer, Scratchpad} {
		if p.kinds[kind] > 0 {
			fmt.Fprintf(&text, ", %d bytes of %ss", p.occupied[kind].Bytes(), kind)
		}
	}
	text.WriteByte(')')
	return text.String()
}

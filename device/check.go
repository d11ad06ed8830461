package device

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A place is what the devices have in common that a program is checked against.
type place struct {
	spec    *l1.Spec
	heap    *heap
	first   ID
	devices int
}

// Check says whether p fits on the devices of s beside what is in L1 now, and if it
// does not, who is in the way. p need not be registered: Register records, Check
// judges. Circular buffers of other programs are never in the way, since programs
// share their addresses. An empty set fits.
//
// Errors, the first that applies: ErrNoProgram; ErrForeignSet; ErrNoDevice for a
// removed device; *SpecError for a program built for another Spec. Cost: O(CBs x
// buffers) for each distinct set of live buffers among the devices, whatever is
// registered.
func (f *Fleet) Check(p *program.Program, s Set) (Verdict, error) {
	if p == nil {
		return Verdict{}, ErrNoProgram
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	places, err := f.places(p, s)
	if err != nil {
		return Verdict{}, err
	}
	return judge(p, places), nil
}

// places groups the devices of s by what they are and which buffers live there, by
// their first device. It refuses devices of another Spec than p was built for.
func (f *Fleet) places(p *program.Program, s Set) ([]place, error) {
	if err := f.check(s); err != nil || s.s == nil {
		return nil, err
	}
	var out []place
next:
	for slot := range s.s.slots.all() {
		c := f.slots[slot]
		for i := range out {
			if o := &out[i]; o.spec == c.spec && o.heap == c.heap() {
				o.devices++
				o.first = min(o.first, c.id)
				continue next
			}
		}
		if p != nil && *c.spec != p.Spec() {
			return nil, &SpecError{Program: p.ID(), Device: c.id, Built: p.Spec(), Has: *c.spec}
		}
		out = append(out, place{c.spec, c.heap(), c.id, 1})
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.first, b.first) })
	return out, nil
}

// judge checks p against places.
func judge(p *program.Program, places []place) Verdict {
	for i := range places {
		if !places[i].clears(p) {
			return examine(p, places)
		}
	}
	return Verdict{Program: p}
}

// examine is judge with a close look.
func examine(p *program.Program, places []place) Verdict {
	v := Verdict{Program: p}
	for i := range places {
		v.Refusals = append(v.Refusals, refusals(p, &places[i], places, false)...)
		v.Hybrid = append(v.Hybrid, refusals(p, &places[i], places, true)...)
		v.Clashes = append(v.Clashes, clashes(p, &places[i])...)
	}
	v.explain(places)
	return v
}

// clears reports whether p fits on a place at first glance: inside the grid, above all
// kernels and below everything else, on whatever cores that lies. Nearly all programs do.
func (at *place) clears(p *program.Program) bool {
	free := anywhere()
	if at.heap != nil {
		free = at.heap.free
	}
	if at.spec.L1Size > 0 {
		free.End = min(free.End, at.spec.L1Size)
	}
	if at.spec.Cols > 0 {
		for _, cb := range p.CBs() {
			for r := range cb.Cores.All() {
				if int(r.End.X) >= at.spec.Cols || int(r.End.Y) >= at.spec.Rows {
					return false
				}
			}
		}
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for e := range p.Entries(kind) {
			if e.End > free.End {
				return false
			}
		}
		for g := range p.Occupied(kind).Groups() {
			if n := g.NumRanges(); g.Range(0).Start < free.Start || g.Range(n-1).End > free.End {
				return false
			}
		}
	}
	return true
}

// refusals returns what tt-metal refuses p with on a place. The addresses that it
// compares with come from all devices for service cores, and in HYBRID mode.
func refusals(p *program.Program, at *place, places []place, hybrid bool) (out []*Refusal) {
	claimed := at.heap.serviceCores()
	refuse := func(r Refusal) {
		r.Program, r.Device, r.Devices = p.ID(), at.first, at.devices
		out = append(out, &r)
	}
	if at.spec.Cols > 0 {
		for _, cb := range p.CBs() {
			for r := range cb.Cores.All() {
				inside := int(r.End.X) < at.spec.Cols && int(r.End.Y) < at.spec.Rows
				if !inside && !claimed.Contains(coresOf(r)) {
					refuse(Refusal{Kind: RefusedGrid, What: cb.Kind, Cores: r, Cols: at.spec.Cols, Rows: at.spec.Rows})
				}
			}
		}
	}
	for _, kind := range []program.Kind{program.CircularBuffer, program.DataflowBuffer} {
		entries := p.Entries(kind)
		if kind == program.DataflowBuffer && p.Occupied(kind).NumGroups() == 0 {
			entries = p.Entries(program.Scratchpad) // which share the bookkeeping
		}
		for e := range entries {
			r := Refusal{Kind: RefusedClash, What: kind, Cores: e.Cores, End: e.End}
			if at.spec.L1Size > 0 && e.End > at.spec.L1Size {
				r.Kind, r.Limit = RefusedGrow, at.spec.L1Size
				refuse(r)
				continue
			}
			low, ok := uint64(0), false
			switch {
			case claimed.Has(e.Cores.Start):
				r.Kind = RefusedService
				low, ok = lowest(places, coresOf(e.Cores), Service)
			case hybrid:
				low, ok = lowest(places, coresOf(e.Cores), L1, GlobalCB)
			default:
				low, ok = at.heap.lowestL1()
			}
			if ok && low < e.End {
				r.Limit = low
				refuse(r)
			}
		}
	}
	return out
}

// lowest returns the lowest address on some cores of any place of buffers of the
// given kinds.
func lowest(places []place, cores l1.CoreSet, kinds ...Kind) (addr uint64, ok bool) {
	addr = math.MaxUint64
	for _, at := range places {
		for _, a := range at.heap.sorted() {
			if a.placed == nil || !slices.Contains(kinds, a.Kind) {
				continue
			}
			for _, p := range a.Parts {
				if !p.Range.IsEmpty() && p.Cores.Overlaps(cores) {
					addr, ok = min(addr, p.Range.Start), true
				}
			}
		}
	}
	return addr, ok
}

// serviceCores returns the cores that have a service buffer.
func (h *heap) serviceCores() (out l1.CoreSet) {
	if h == nil {
		return out
	}
	for _, a := range h.live {
		if a.Kind == Service && !a.Backing {
			for _, p := range a.Parts {
				out = out.Union(p.Cores)
			}
		}
	}
	return out
}

func coresOf(r l1.CoreRange) l1.CoreSet {
	set, _ := l1.NewCoreRangeSet(r) // of a program: legal
	return set.Cores()
}

// clashes returns the cores of a place on which bytes of p clash.
func clashes(p *program.Program, at *place) (out []Clash) {
	mine := appendProgram(nil, p)
	if len(mine) == 0 {
		return nil
	}
	for _, t := range tiles(appendHeap(mine, at.heap)) {
		c, ok := t.clash(p, at.spec)
		if !ok {
			continue
		}
		c.Device, c.Devices = at.first, at.devices
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Clash) int { return first(a.Cores).Compare(first(b.Cores)) })
	return out
}

// clash looks for bytes of p on a tile that are beyond L1 or that others hold.
func (t *tile) clash(p *program.Program, spec *l1.Spec) (c Clash, ok bool) {
	own, others := t.divide()
	if len(own) == 0 {
		return c, false
	}
	blocked := slices.Clone(others)
	if spec.L1Size > 0 {
		blocked = append(blocked, l1.Range{Start: spec.L1Size, End: l1.MaxAddr})
	}
	c = Clash{Cores: t.cores, End: own[len(own)-1].End, Limit: math.MaxUint64}
	for _, b := range merge(blocked) {
		for _, r := range own {
			if shared := r.Intersect(b); !shared.IsEmpty() {
				c.Bytes += shared.Len()
			}
		}
	}
	if c.Bytes == 0 {
		return c, false
	}
	if spec.L1Size > 0 && c.End > spec.L1Size {
		c.Limit, c.Grows = spec.L1Size, true
	}
	for _, y := range t.layers {
		if y.buffer == nil {
			continue
		}
		for _, b := range y.ranges { // not merged: what lies right below one is not in the way
			if b.Start < c.Limit && slices.ContainsFunc(own, b.Overlaps) {
				c.Limit, c.Grows = b.Start, false
			}
		}
	}
	core := first(t.cores)
	cbs := map[int]uint64{}
	for i, cb := range p.CBs() {
		if !cb.Global && !cb.Range.IsEmpty() && cb.Cores.Cores().Has(core) {
			c.CBs, cbs[i] = append(c.CBs, i), cb.Size
		}
	}
	slices.SortStableFunc(c.CBs, func(a, b int) int { return cmp.Compare(cbs[b], cbs[a]) })
	for _, r := range t.residents() {
		if r.Program == nil && r.Range.End > min(c.Limit, own[0].Start) {
			c.Above = append(c.Above, r)
		}
	}
	slices.SortStableFunc(c.Above, func(a, b Resident) int { return cmp.Compare(b.Range.Len(), a.Range.Len()) })
	c.Holes = holes(own, others, c.Limit, spec)
	return c, true
}

// divide returns what layers of programs hold on a tile and what all others do, merged.
func (t *tile) divide() (own, others []l1.Range) {
	for _, y := range t.layers {
		if y.buffer == nil {
			own = append(own, y.ranges...)
		} else {
			others = append(others, y.ranges...)
		}
	}
	return merge(own), merge(others)
}

// holes returns the free bytes between the base and the end of usable L1 that a
// program whose way ends at limit cannot use.
func holes(own, others []l1.Range, limit uint64, spec *l1.Spec) (out []Hole) {
	end := own[len(own)-1].End
	for _, gap := range gaps(merge(slices.Concat(own, others)), spec) {
		why := "above what is in the way: circular buffers grow from the base up and cannot pass it"
		switch {
		case gap.End <= own[0].Start:
			why = "below the program's buffers: their address is that of all their cores"
		case gap.End <= end && gap.Start < limit:
			why = "between the program's buffers: placement goes on above the last one and does not go back"
		}
		out = append(out, Hole{gap, why})
	}
	return out
}

// gaps returns the free ranges between the base of circular buffers and the end of
// usable L1; taken is merged.
func gaps(taken []l1.Range, spec *l1.Spec) (out []l1.Range) {
	at, top := spec.CBBase, usable(spec)
	for _, r := range taken {
		if r.Start > at && at < top {
			out = append(out, l1.Range{Start: at, End: min(r.Start, top)})
		}
		at = max(at, r.End)
	}
	if at < top {
		out = append(out, l1.Range{Start: at, End: top})
	}
	return out
}

// usable returns where L1 ends for circular and L1 buffers: below L1_SMALL.
func usable(spec *l1.Spec) uint64 {
	if spec.L1Size == 0 {
		return l1.MaxAddr
	}
	return spec.L1Size - spec.L1Small
}

// explain fills in what the two judges disagree on, and the advice.
func (v *Verdict) explain(places []place) {
	switch {
	case len(v.Refusals) > 0 && len(v.Clashes) == 0:
		v.Difference = v.stricter(places)
	case len(v.Refusals) == 0 && len(v.Clashes) > 0:
		v.Difference = "tt-metal does not see it: " + v.Clashes[0].unseen(places)
	}
	v.Advice = v.advise(places)
}

// unseen says why tt-metal does not refuse what clashes.
func (c *Clash) unseen(places []place) string {
	b, found := c.inTheWay()
	if !found || b.Kind == L1 || b.Kind == GlobalCB {
		for _, at := range places {
			if at.first == c.Device && at.heap.serviceCores().Overlaps(c.Cores) {
				return "on service cores it compares with service buffers only"
			}
		}
		return "its bookkeeping ends below the buffers given"
	}
	return "it compares with the lowest L1 buffer, not with " + b.text()
}

// stricter says why tt-metal refuses what does not clash.
func (v *Verdict) stricter(places []place) string {
	r := v.Refusals[0]
	switch r.Kind {
	case RefusedGrid:
		return ""
	case RefusedGrow:
		return "no byte is beyond L1: tt-metal charges every core of a range with all that was placed on ranges which it meets"
	}
	if r.Kind == RefusedService {
		return "no byte clashes: tt-metal compares with the lowest service buffer of all devices"
	}
	cores := coresAt(places, r.Device, r.Limit)
	text := fmt.Sprintf("no byte clashes: the buffer at %s lies on %s", grouped(r.Limit), coresText(cores))
	if !cores.Overlaps(coresOf(r.Cores)) {
		text += ", and tt-metal compares with the lowest buffer of any core"
	} else {
		text += ", and tt-metal compares with the end of all that it charges to a range, holes included"
	}
	if len(v.Hybrid) == 0 {
		text += "; in HYBRID mode it would run"
	}
	return text
}

// coresAt returns the cores on which an L1 buffer starts at an address.
func coresAt(places []place, device ID, addr uint64) (out l1.CoreSet) {
	for _, at := range places {
		if at.first != device {
			continue
		}
		for _, a := range at.heap.sorted() {
			for _, p := range a.Parts {
				if a.holdsTensor() && p.Range.Start == addr && !p.Range.IsEmpty() {
					out = out.Union(p.Cores)
				}
			}
		}
	}
	return out
}

// advise says in one line what to do, by the numbers.
func (v *Verdict) advise(places []place) string {
	var over uint64
	var clash *Clash
	if len(v.Clashes) > 0 {
		clash = &v.Clashes[0]
		over = clash.Over()
	}
	limit, grows, moves := uint64(0), false, false // moves: with the size of L1_SMALL
	switch {
	case len(v.Refusals) > 0:
		r := v.Refusals[0]
		if r.Kind == RefusedGrid {
			return fmt.Sprintf("name cores inside the %dx%d grid only", r.Cols, r.Rows)
		}
		over, limit, grows, moves = r.Over(), r.Limit, r.Kind == RefusedGrow, r.Kind == RefusedClash
	case clash != nil:
		b, found := clash.inTheWay()
		limit, grows, moves = clash.Limit, clash.Grows, found && (b.Kind == L1 || b.Kind == GlobalCB)
	default:
		return ""
	}
	largest, size := -1, uint64(0)
	for i, cb := range v.Program.CBs() {
		if !cb.Global && cb.Size > size {
			largest, size = i, cb.Size
		}
	}
	shrink := fmt.Sprintf("take %s bytes off the buffers of the program", grouped(over))
	if largest >= 0 {
		shrink += fmt.Sprintf(" (the largest, CB %d, has %s)", largest, grouped(size))
	}
	if grows {
		return shrink + ", or spread them over more cores"
	}
	if spec := places[0].spec; moves && over <= spec.L1Small {
		most := spec.L1Small - over
		most -= most % max(spec.CBAlign, 1) // tt-metal rounds it up
		return fmt.Sprintf("lower L1_SMALL from %s to at most %s, which moves every L1 buffer up, or %s", grouped(spec.L1Small), grouped(most), shrink)
	}
	if names := v.inTheWay(places, l1.Range{Start: limit, End: limit + over}); names != "" {
		return fmt.Sprintf("free or move %s, or %s", names, shrink)
	}
	return shrink
}

// inTheWay names the buffers that start in a range, the lowest first: those at its start,
// which is what the program met, and those that it would meet next. Of the latter tt-metal
// counts tensors on any core, and bytes count on the cores of the clash.
func (v *Verdict) inTheWay(places []place, r l1.Range) string {
	type found struct {
		start uint64
		name  string
	}
	var all []found
	for _, at := range places {
		for _, a := range at.heap.sorted() {
			if a.placed == nil {
				continue
			}
			for _, p := range a.Parts {
				start := p.Range.Start
				if p.Range.IsEmpty() || p.Cores.IsEmpty() || start < r.Start || start > r.Start && start >= r.End {
					continue
				}
				if start == r.Start || len(v.Refusals) > 0 && v.Refusals[0].Kind == RefusedClash && a.holdsTensor() ||
					len(v.Clashes) > 0 && p.Cores.Overlaps(v.Clashes[0].Cores) {
					all = append(all, found{start, a.text()})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.start, b.start) })
	var names []string
	known := map[string]bool{}
	for _, f := range all {
		if !known[f.name] {
			known[f.name] = true
			names = append(names, f.name)
		}
	}
	if len(names) > 2 {
		return strings.Join(names[:2], " and ") + more(len(names)-2)
	}
	return strings.Join(names, " and ")
}

// grouped returns n with a comma between each three digits, for people.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// text names a buffer in a few words.
func (b *Buffer) text() string {
	name := fmt.Sprintf("%v %d", b.Kind, b.ID)
	if b.Name != "" {
		name += fmt.Sprintf(" (%.60q)", b.Name)
	}
	return name
}

// inTheWay returns the buffer that starts at the limit; the end of L1 is none.
func (c *Clash) inTheWay() (b Buffer, ok bool) {
	for _, r := range c.Above {
		if r.Range.Start == c.Limit && !c.Grows {
			return r.Buffer, true
		}
	}
	return b, false
}

func (c *Clash) text(id program.ID) string {
	what := "that is beyond L1, which ends"
	if b, ok := c.inTheWay(); ok {
		what = b.text() + " is in the way, which starts"
	}
	return fmt.Sprintf("program %d ends at %d on %s: %s at %d; %d B too many", id, c.End, coresText(c.Cores), what, c.Limit, c.Over())
}

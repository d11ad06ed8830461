package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Verdict reports whether a program fits on devices, beside their buffers.
type Verdict struct {
	Refusals []Refusal // tt-metal's, in the order in which it looks
	Hybrid   []Refusal // in HYBRID mode
	Clashes  []Clash   // by device, then core
	Doubts   []Doubt   // beside no refusal and no clash: what tt-metal may refuse
}

// Fits reports whether nothing is in the way.
func (v Verdict) Fits() bool {
	return len(v.Refusals) == 0 && len(v.Clashes) == 0 && len(v.Doubts) == 0
}

// A Doubt is a region whose refusal depends on an unknown fact.
type Doubt struct {
	Kind    string // range-lockstep, per-core-hidden
	What    program.Kind
	Device  uint64
	Devices int
	Cores   l1.CoreRange
	End     uint64
}

// A Refusal is a reason of tt-metal to refuse a program.
type Refusal struct {
	Kind    string // grow, clash, service-clash, grid
	What    program.Kind
	Device  uint64 // the first of several that refuse it alike
	Devices int
	Cores   l1.CoreRange
	End     uint64
	Limit   uint64
	Text    string // tt-metal's
}

// A Clash is one core on which bytes of a program are beyond L1 or held by others.
type Clash struct {
	Device  uint64 // the first of those with the same buffers
	Devices int
	Core    l1.Core
	End     uint64     // of the program's highest byte
	Limit   uint64     // where the lowest buffer in the way starts, or the size of L1
	Grows   bool       // it is the size of L1
	Bytes   uint64     // that clash
	CBs     []int      // the program's, largest first
	InWay   []Resident // buffers that share bytes with the program
	Holes   []l1.Range // free bytes between the base and the end of usable L1
}

// alike are devices with the same buffers.
type alike struct {
	*device
	n int
}

// alikes groups devices, which come by id, by their buffers and by same.
func alikes(devices []*device, same func(a, b *device) bool) (out []*alike) {
next:
	for _, d := range devices {
		for _, g := range out {
			if g.spec == d.spec && g.hybrid == d.hybrid && g.sameBuffers(d) && same(g.device, d) {
				g.n++
				continue next
			}
		}
		out = append(out, &alike{d, 1})
	}
	return out
}

// SetHybrid puts the allocators of devices into HYBRID mode, or back, and returns the
// devices that were in the other one.
func (f *Fleet) SetHybrid(ids []uint64, on bool) (changed []uint64, err error) {
	devices, err := f.find(ids)
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		if d.hybrid != on {
			d.hybrid = on
			changed = append(changed, d.id)
		}
	}
	return changed, nil
}

// Check judges whether a program, registered or not, fits on devices.
func (f *Fleet) Check(p *program.Program, ids []uint64) (Verdict, error) {
	devices, err := f.find(ids)
	wrong := complaints{err}
	if p == nil {
		return Verdict{}, errors.Join(append(wrong, ErrNoProgram)...)
	}
	for _, d := range devices {
		wrong.when(!d.spec.Places(p.Spec()), ErrSpec)
	}
	if err := wrong.err(); err != nil {
		return Verdict{}, err
	}
	return judge(p, devices), nil
}

func judge(p *program.Program, devices []*device) (v Verdict) {
	pic := Paint(p)
	for _, at := range alikes(devices, func(*device, *device) bool { return true }) {
		refused, doubts := refusals(p, pic, at, devices, at.hybrid)
		hybrid, _ := refusals(p, pic, at, devices, true)
		v.Refusals, v.Hybrid = append(v.Refusals, refused...), append(v.Hybrid, hybrid...)
		v.Doubts = append(v.Doubts, doubts...)
		for _, core := range sortedCores(pic.named) {
			v.Clashes = append(v.Clashes, clashes(p, pic, at, core)...)
		}
	}
	if len(v.Refusals) > 0 || len(v.Clashes) > 0 {
		v.Doubts = nil
	}
	return v
}

func sortedCores(set map[l1.Core]bool) []l1.Core {
	return slices.SortedFunc(maps.Keys(set), l1.Core.Compare)
}

// refusals reads tt-metal's checks aloud: of core ranges, then of the regions of its
// bookkeeping in the order in which ranges were named. A region that passes may be in doubt.
func refusals(p *program.Program, pic *Painting, at *alike, all []*device, hybrid bool) (out []Refusal, doubts []Doubt) {
	refuse := func(r Refusal) {
		r.Device, r.Devices = at.id, at.n
		out = append(out, r)
	}
	claimed := at.claimed()
	for _, cb := range p.CBs() {
		for r := range cb.Cores.All() {
			inside := at.spec.Cols == 0 || int(r.End.X) < at.spec.Cols && int(r.End.Y) < at.spec.Rows
			if inside || !slices.ContainsFunc(coresOf(r), func(c l1.Core) bool { return !claimed[c] }) {
				continue
			}
			refuse(Refusal{Kind: "grid", What: cb.Kind, Cores: r, Text: fmt.Sprintf(
				"Circular buffer core range %v in program %d exceeds device compute grid (%dx%d) and is not entirely on cores claimed via ServiceCoreManager",
				r, p.ID(), at.spec.Cols, at.spec.Rows)})
		}
	}
	for _, list := range []struct {
		what    program.Kind
		word    string
		entries []*entry
	}{
		{program.CircularBuffer, "circular", pic.circularEntries},
		{program.DataflowBuffer, "dataflow", pic.dataflowEntries},
	} {
		for _, e := range list.entries {
			if e.bytes.empty() {
				continue // nothing is charged to it
			}
			r := Refusal{What: list.what, Cores: e.cores, End: e.end}
			if at.spec.L1Size > 0 && e.end > at.spec.L1Size {
				r.Kind, r.Limit = "grow", at.spec.L1Size
				r.Text = fmt.Sprintf("Statically allocated %s buffers on core range %v grow to %d B which is beyond max L1 size of %d B",
					list.word, e.cores, e.end, r.Limit)
				refuse(r)
				continue
			}
			doubt := func(kind string) {
				if kind != "" {
					doubts = append(doubts, Doubt{kind, list.what, at.id, at.n, e.cores, e.end})
				}
			}
			if claimed[e.cores.Start] {
				low, ok := lowestService(all, coresOf(e.cores))
				if ok && low < e.end {
					r.Kind, r.Limit = "service-clash", low
					r.Text = fmt.Sprintf("Circular buffers on service-core range %v in program %d clash with ServiceCoreManager-allocated L1 (lowest service allocation at %d, CB region ends at %d)",
						e.cores, p.ID(), low, e.end)
					refuse(r)
				} else if hides([]*device{at.device}, coresOf(e.cores)) {
					doubt("per-core-hidden")
				}
				continue
			}
			looked := []*device{at.device}
			if hybrid && list.what == program.CircularBuffer {
				looked = all
			}
			low, ok, perhaps := compared(looked, list.what, e)
			if !ok || low >= e.end {
				doubt(perhaps)
				continue
			}
			r.Kind, r.Limit = "clash", low
			r.Text = fmt.Sprintf("Statically allocated %s buffers in program %d clash with L1 buffers on core range %v. L1 buffer allocated at %d and static %s buffer region ends at %d",
				list.word, p.ID(), e.cores, low, list.word, e.end)
			refuse(r)
		}
	}
	return out, doubts
}

// claimed returns the cores that service buffers name.
func (d *device) claimed() map[l1.Core]bool {
	out := map[l1.Core]bool{}
	for _, a := range d.live {
		if a.Kind == Service && !a.Backing {
			for _, p := range a.Parts {
				maps.Copy(out, covered(p.Cores))
			}
		}
	}
	return out
}

// lowestService returns the lowest byte of service buffers on some cores of any of the devices.
func lowestService(devices []*device, cores []l1.Core) (low uint64, found bool) {
	for _, d := range devices {
		for _, a := range d.live {
			for c, start := range a.starts() {
				if a.Kind == Service && slices.Contains(cores, c) && (!found || start < low) {
					low, found = start, true
				}
			}
		}
	}
	return low, found
}

// compared returns the lowest address that tt-metal compares with a region, and the kind of a doubt
// if it may compare another. A tensor in lockstep counts on all cores of its device. One that was
// allocated per core counts on its cores, with the address that it has there; dataflow buffers meet
// it on any core. One in range lockstep counts on its cores, and perhaps on others.
func compared(devices []*device, what program.Kind, e *entry) (low uint64, found bool, perhaps string) {
	take := func(at uint64) {
		if !found || at < low {
			low, found = at, true
		}
	}
	on := coresOf(e.cores)
	for _, d := range devices {
		for _, a := range d.live {
			if a.Kind != L1 && a.Kind != GlobalCB {
				continue
			}
			mode := a.judgedAs()
			for c, start := range a.starts() {
				switch here := slices.Contains(on, c); mode {
				case Lockstep:
					take(start)
				case PerCore:
					if here || what == program.DataflowBuffer {
						take(start)
					}
				case RangeLockstep:
					if here {
						take(start)
					} else if start < e.end {
						perhaps = "range-lockstep"
					}
				}
			}
		}
	}
	if what == program.DataflowBuffer {
		on = nil // any core
	}
	if perhaps == "" && hides(devices, on) {
		perhaps = "per-core-hidden"
	}
	return low, found, perhaps
}

// hides reports whether a buffer may lie anywhere on one of some cores; nil are all.
func hides(devices []*device, cores []l1.Core) bool {
	for _, d := range devices {
		for _, a := range d.live {
			for c := range covered(a.Hidden) {
				if !a.Backing && (cores == nil || slices.Contains(cores, c)) {
					return true
				}
			}
		}
	}
	return false
}

// clashes visits every byte that a program has on a core.
func clashes(p *program.Program, pic *Painting, at *alike, core l1.Core) []Clash {
	own := pic.all(core)
	if own.empty() {
		return nil
	}
	c := Clash{Device: at.id, Devices: at.n, Core: core, End: own.end(), Limit: l1.MaxAddr}
	var others byteSet
	for _, a := range at.live {
		for _, r := range a.residents(core) {
			others.paint(r.Range)
			if own.meets(r.Range) {
				c.InWay = append(c.InWay, r)
				c.Limit = min(c.Limit, r.Range.Start)
			}
		}
	}
	size := at.spec.L1Size
	c.Bytes = own.common(others)
	for a := max(size, own.start()); size > 0 && a < c.End; a++ {
		if own.holds(a) && !others.holds(a) {
			c.Bytes++
		}
	}
	if c.Bytes == 0 {
		return nil
	}
	if size > 0 && c.End > size && size <= c.Limit {
		c.Limit, c.Grows = size, true
	}
	sizes := map[int]uint64{}
	for i, cb := range p.CBs() {
		if !cb.Global && cb.Size > 0 && covered(cb.Cores)[core] {
			c.CBs, sizes[i] = append(c.CBs, i), cb.Size
		}
	}
	slices.SortStableFunc(c.CBs, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	SortResidents(c.InWay)
	others.unite(own)
	c.Holes = free(at.spec, others)
	return []Clash{c}
}

// free returns the runs of bytes from the base of circular buffers to the end of usable
// L1 that are not taken.
func free(spec l1.Spec, taken byteSet) (out []l1.Range) {
	top := spec.Usable().End
	for a := taken.next(spec.CBBase, false); a < top; a = taken.next(a, false) {
		gap := l1.Range{Start: a, End: min(top, taken.next(a, true))}
		out, a = append(out, gap), gap.End
	}
	return out
}

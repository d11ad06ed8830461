package device

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/classes"
	"github.com/cbl1/cbl1/device/internal/heap"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// This file gathers the places that package fit judges, under the lock.

// A site is a group of devices that give the same verdict on a program.
type site struct {
	alike
	contentView // of their programs, where these matter
	first       ID
	devices     int
}

// alike holds the properties that the devices of a site share.
type alike struct {
	spec   *l1.Spec
	heap   *heap.Heap
	hybrid bool
}

// SetHybrid puts the allocators of the devices of s into HYBRID mode (per-core
// allocation enabled), or back into the mode in which a device begins. In HYBRID mode
// Check, Enqueue and Replay hold circular buffers against the L1 buffers of all
// devices of the call, not only of one. The Mode of a buffer sets the cores on which
// it counts. SetHybrid returns the devices whose mode changed. Errors: ErrForeignSet;
// ErrNoDevice for a removed device.
func (f *Fleet) SetHybrid(s Set, on bool) (changed Set, err error) {
	defer named("SetHybrid", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil || s.s == nil {
		return Set{}, err
	}
	if err := f.faults.step(); err != nil {
		return Set{}, err
	}
	var slots bitset.Bits
	for c := range f.shares(s.s.slots) {
		if c.hybrid != on {
			f.cut(c).hybrid = on
			slots = slots.Add(bitset.Span(c.slot, c.n))
		}
	}
	changed = f.setOf(slots, slots.Count())
	if changed.s != nil {
		f.emit(Notice{Kind: NoticeHybridSet, Set: changed, Hybrid: on})
	}
	return changed, nil
}

// Check reports whether p fits on the devices of s beside the content of L1 now. If
// it does not, the verdict names the obstacles. tt-metal's checks depend on the mode
// of each device (SetHybrid). p need not be registered: Register records, Check
// judges. Circular buffers of other programs are no obstacles, since programs share
// their addresses. An empty set fits.
//
// Errors, the first that applies: ErrNoProgram; ErrForeignSet; ErrNoDevice for a
// removed device; ErrSpec for a program built for another Spec. Cost: O(CBs x
// buffers) for each distinct set of live buffers among the devices, whatever is
// registered.
func (f *Fleet) Check(p *program.Program, s Set) (_ fit.Verdict, err error) {
	defer named("Check", &err)
	return f.verdict(p, s)
}

// CheckID is Check of the program with an id that is registered on any device.
// Errors: ErrNotRegistered if it is on none, else the errors of Check.
func (f *Fleet) CheckID(id program.ID, s Set) (_ fit.Verdict, err error) {
	defer named("CheckID", &err)
	p, ok := f.Program(id)
	if !ok {
		return fit.Verdict{}, ofProgram(id, ErrNotRegistered)
	}
	return f.verdict(p, s)
}

func (f *Fleet) verdict(p *program.Program, s Set) (fit.Verdict, error) {
	places, err := f.places(p, s, false)
	if err != nil {
		return fit.Verdict{}, err
	}
	return fit.Check(p, places...), nil
}

// Headroom returns the free bytes above p on the cores of the devices of s on which
// it has bytes, beside the content of L1 now. Cores with the same figures form one
// row. Rows are ordered by device, then first core. Devices of unknown L1 size have
// room up to 2^63-1.
//
// A nil p stands for all registered programs on every core, as if all were there at
// once. On cores without a program the room begins at the base. A device of unknown
// grid has the cores that hold anything.
//
// Errors, the first that applies: ErrForeignSet; ErrNoDevice for a removed device;
// ErrSpec for a program built for another Spec.
func (f *Fleet) Headroom(p *program.Program, s Set) (_ []fit.Headroom, err error) {
	defer named("Headroom", &err)
	if p == nil {
		all, known, err := f.standings(s)
		places := placesOf(all)
		for i := range all {
			places[i].Held = all[i].open(&known).Occupied.Parts()
		}
		return fit.HeadroomOver(places...), err
	}
	places, err := f.places(p, s, true)
	if err != nil {
		return nil, err
	}
	return fit.HeadroomOf(p, places...), nil
}

// MayGrow returns by how many bytes the size of a CB of p may grow so that the
// program, laid out anew, still fits on the devices of s, as [fit.MayGrow] does. ok
// is false if p does not fit now, or if the CB is global and takes nothing.
//
// Errors, the first that applies: ErrNoProgram; *program.Error if there is no such
// CB; the errors of Check. Cost: some forty layouts of the program.
func (f *Fleet) MayGrow(p *program.Program, cb int, s Set) (bytes uint64, ok bool, err error) {
	defer named("MayGrow", &err)
	if p == nil {
		return 0, false, ErrNoProgram
	}
	if _, _, err := fit.MayGrow(p, cb); err != nil {
		return 0, false, err
	}
	places, err := f.places(p, s, true)
	if err != nil {
		return 0, false, err
	}
	return fit.MayGrow(p, cb, places...)
}

// sites groups the devices of s by Spec, buffers and mode, ordered by their first
// device. With programs it groups them by their programs, too.
func (f *Fleet) sites(s Set, programs bool) (out []site, err error) {
	if err := f.check(s); err != nil || s.s == nil {
		return nil, err
	}
	type key struct {
		alike
		state *state
	}
	known := map[key]int{} // place in out
	for c := range f.shares(s.s.slots) {
		k := key{alike: c.alike()}
		if programs {
			k.state = c.state
		}
		at, ok := known[k]
		if !ok {
			at, known[k] = len(out), len(out)
			out = append(out, site{alike: k.alike, first: c.id()})
			if programs {
				out[at].contentView = c.state.contentView()
			}
		}
		out[at].devices += c.n
		out[at].first = min(out[at].first, c.id())
	}
	slices.SortFunc(out, func(a, b site) int { return cmp.Compare(a.first, b.first) })
	return out, nil
}

// sitesOf returns the sites that judge p. It refuses devices of another Spec than p
// was built for.
func (f *Fleet) sitesOf(p *program.Program, s Set) ([]site, error) {
	all, err := f.sites(s, false)
	for _, at := range all {
		if !at.spec.Places(p.Spec()) {
			return nil, otherSpec(p, at.first, at.spec)
		}
	}
	return all, err
}

// standings returns the sites of s with their programs, and the roster of the
// programs. All of it may be read without the lock.
func (f *Fleet) standings(s Set) (all []site, known classes.Roster, err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if all, err = f.sites(s, true); len(all) > 0 {
		f.heaps.Picture()
		f.pictured.Store(f.numbers.Last + 1)
		known.Of = slices.Clone(f.roster.Of)
	}
	return all, known, err
}

func (c *cohort) alike() alike { return alike{c.spec, c.heap(), c.hybrid} }

// place returns the place that package fit judges by, in memory of its own. A
// pictured site needs no lock.
func (at *site) place() fit.Place {
	out := fit.Place{Device: at.first, Devices: at.devices, Spec: *at.spec, Hybrid: at.hybrid}
	sorted := at.heap.Sorted()
	out.Buffers = make([]fit.Buffer, 0, len(sorted))
	for _, a := range sorted {
		if a.InTheWay() || a.Kind == fit.KindService {
			out.Buffers = append(out.Buffers, a.Buffer)
		}
	}
	return out
}

// clears reports whether p fits by the quick test, below all buffers of the site.
func (at *site) clears(p *program.Program) bool { return fit.Clears(p, *at.spec, at.heap.Gap()) }

// places returns the places that judge p on the devices of s. If closely is false and
// p passes the quick test on all of them, it returns none.
func (f *Fleet) places(p *program.Program, s Set, closely bool) ([]fit.Place, error) {
	if p == nil {
		return nil, ErrNoProgram
	}
	f.mu.RLock()
	all, err := f.sitesOf(p, s)
	if !closely && clearAll(p, all) {
		all = nil
	}
	if len(all) > 0 {
		f.heaps.Picture()
	}
	f.mu.RUnlock()
	return placesOf(all), err
}

// clearAll reports whether p passes the quick test on all sites.
func clearAll(p *program.Program, all []site) bool {
	return !slices.ContainsFunc(all, func(at site) bool { return !at.clears(p) })
}

func placesOf(all []site) []fit.Place {
	out := make([]fit.Place, len(all))
	for i := range all {
		out[i] = all[i].place()
	}
	return out
}

// judge checks p on sites.
func judge(p *program.Program, all []site) fit.Verdict {
	if clearAll(p, all) {
		return fit.Verdict{Program: p}
	}
	return fit.Check(p, placesOf(all)...)
}

package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Usage holds the contents of L1, on one core or on all cores of a device together.
type Usage struct {
	Tracked     uint64            // bytes of anything but kernels and the reserved area
	WithKernels uint64            // bytes of anything
	Of          map[Kind]uint64   // bytes of each kind that has any
	Shared      map[string]uint64 // bytes of several kinds at once, by the kinds joined with " + "
}

func newUsage() Usage { return Usage{Of: map[Kind]uint64{}, Shared: map[string]uint64{}} }

// A Resident is something that holds bytes of a core.
type Resident struct {
	Kind    Kind
	Range   l1.Range
	Program program.ID // of the kinds that programs bring
	CB      int        // its position in that program, else -1
	Buffer  uint64     // of the others
}

// Usage returns the contents of a device: its resident programs or, if registered, all registered
// ones, and the buffers.
func (f *Fleet) Usage(id uint64, registered bool) Usage {
	u := newUsage()
	d := f.devices[id]
	if d == nil {
		return u
	}
	for c := range f.inhabited(d, registered) {
		u.count(f.layers(d, c, registered))
	}
	return u
}

// CoreUsage is Usage of one core.
func (f *Fleet) CoreUsage(id uint64, core l1.Core, registered bool) Usage {
	u := newUsage()
	if d := f.devices[id]; d != nil {
		u.count(f.layers(d, core, registered))
	}
	return u
}

// inhabited returns the cores on which anything may lie.
func (f *Fleet) inhabited(d *device, registered bool) map[l1.Core]bool {
	out := map[l1.Core]bool{}
	for _, a := range d.live {
		for c := range a.bytes {
			out[c] = true
		}
	}
	for at := range d.left {
		out[at.core] = true
	}
	if registered {
		for _, r := range f.on(d) {
			maps.Copy(out, r.picture.named)
		}
	}
	return out
}

// kindsOf returns the kinds that programs bring.
func kindsOf() map[program.Kind]Kind {
	return map[program.Kind]Kind{program.CircularBuffer: CB, program.DataflowBuffer: Dataflow, program.Scratchpad: Scratchpad}
}

// layers returns the bytes of each kind on a core.
func (f *Fleet) layers(d *device, core l1.Core, registered bool) map[Kind]*byteSet {
	out := map[Kind]*byteSet{}
	add := func(kind Kind, bytes byteSet) {
		if !bytes.empty() {
			if out[kind] == nil {
				out[kind] = &byteSet{}
			}
			out[kind].unite(bytes)
		}
	}
	for theirs, kind := range kindsOf() {
		if !registered {
			add(kind, d.left[place{theirs, core}].bytes)
			continue
		}
		for _, r := range f.on(d) {
			add(kind, r.picture.kind(theirs).occupied[core])
		}
	}
	for _, a := range d.live {
		add(a.Kind, a.bytes[core])
	}
	return out
}

// count visits every byte of a core.
func (u *Usage) count(layers map[Kind]*byteSet) {
	var all byteSet
	for _, s := range layers {
		all.unite(*s)
	}
	for a := all.start(); a < all.end(); a++ {
		if !all.holds(a) {
			continue
		}
		var names []string
		tracked := false
		for _, kind := range Kinds() {
			if s := layers[kind]; s != nil && s.holds(a) {
				names = append(names, string(kind))
				u.Of[kind]++
				tracked = tracked || kind.tracked()
			}
		}
		u.WithKernels++
		if tracked {
			u.Tracked++
		}
		if len(names) > 1 {
			u.Shared[strings.Join(names, " + ")]++
		}
	}
}

// tracked returns the bytes of every core, without kernels and the reserved area.
func (d *device) tracked() canvas {
	on := canvas{}
	for at, l := range d.left {
		on.unite(at.core, l.bytes)
	}
	for _, a := range d.live {
		if a.Kind.tracked() {
			for core, bytes := range a.bytes {
				on.unite(core, bytes)
			}
		}
	}
	return on
}

// Residents returns the contents of a core: each circular buffer for itself, and each run of bytes
// of a buffer; by address, then kind, then owner.
func (f *Fleet) Residents(id uint64, core l1.Core, registered bool) []Resident {
	d := f.devices[id]
	if d == nil {
		return nil
	}
	var out []Resident
	add := func(r *registration, kind program.Kind) {
		for i, cb := range r.program.CBs() {
			if cb.Kind == kind && !cb.Global && cb.Size > 0 && covered(cb.Cores)[core] {
				out = append(out, Resident{Kind: kindsOf()[kind], Range: cb.Range, Program: r.program.ID(), CB: i})
			}
		}
	}
	for kind := range kindsOf() {
		if !registered {
			if l, ok := d.left[place{kind, core}]; ok {
				add(l.of, kind)
			}
			continue
		}
		for _, r := range f.on(d) {
			add(r, kind)
		}
	}
	for _, a := range d.live {
		out = append(out, a.residents(core)...)
	}
	SortResidents(out)
	return out
}

// A Moment returns the residents of a core at one moment, by the last dispatches.
type Moment func(core l1.Core) []Resident

// Moment keeps the residents of a device without some buffers.
func (f *Fleet) Moment(id uint64, without ...uint64) Moment {
	kept := map[l1.Core][]Resident{}
	if d := f.devices[id]; d != nil {
		for core := range f.inhabited(d, false) {
			kept[core] = slices.DeleteFunc(f.Residents(id, core, false), func(r Resident) bool {
				return r.CB < 0 && slices.Contains(without, r.Buffer)
			})
		}
	}
	return func(core l1.Core) []Resident { return kept[core] }
}

func (a *allocation) residents(core l1.Core) (out []Resident) {
	bytes := a.bytes[core]
	for _, r := range bytes.regions() {
		out = append(out, Resident{Kind: a.Kind, Range: r, CB: -1, Buffer: a.ID})
	}
	return out
}

// SortResidents sorts by address, then kind, then whose it is.
func SortResidents(all []Resident) {
	slices.SortFunc(all, func(a, b Resident) int {
		return cmp.Or(
			a.Range.Compare(b.Range),
			cmp.Compare(slices.Index(Kinds(), a.Kind), slices.Index(Kinds(), b.Kind)),
			cmp.Compare(a.Program, b.Program), cmp.Compare(a.CB, b.CB), cmp.Compare(a.Buffer, b.Buffer))
	})
}

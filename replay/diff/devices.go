package diff

import (
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

// A devicePair is a device of the old side and one of the new side; one may be missing.
type devicePair struct {
	Pair[*deviceRow]
	capture int
	rank    event.Opt[uint64]
}

// pairDevices pairs the devices of two captures by their ids.
func pairDevices(p Pair[*Run], capture int, rank event.Opt[uint64]) (out []devicePair) {
	var old, new []*deviceRow
	if p.Old != nil {
		old = p.Old.devices
	}
	if p.New != nil {
		new = p.New.devices
	}
	pairs := []Pair[*deviceRow]{}
	if len(old) == 1 && len(new) == 1 {
		pairs = append(pairs, Pair[*deviceRow]{old[0], new[0]})
	} else {
		pairs = merge(old, new, func(a, b *deviceRow) int { return compareIDs(a.id, b.id) })
	}
	for _, one := range pairs {
		out = append(out, devicePair{one, capture, rank})
	}
	return out
}

// foldDevices puts pairs of devices together that differ alike, in the order of their first ones. Only chips are
// folded: ids of meshes mean different sets of chips.
func foldDevices(all []devicePair) (out [][]devicePair) {
	at, known := map[likeness][]int{}, equalRows{} // by what is soon compared
	for _, p := range all {
		key := likenessOf(p)
		i := slices.IndexFunc(at[key], func(i int) bool {
			first := out[i][0]
			return foldable(p) && alike(known, first.Old, p.Old) && alike(known, first.New, p.New)
		})
		if i >= 0 {
			out[at[key][i]] = append(out[at[key][i]], p)
			continue
		}
		at[key] = append(at[key], len(out))
		out = append(out, []devicePair{p})
	}
	return out
}

func foldable(p devicePair) bool {
	return (p.Old == nil || p.Old.kind == replay.KindChip) && (p.New == nil || p.New.kind == replay.KindChip)
}

// A likeness is the part of a pair of devices that is cheap to compare.
type likeness struct {
	figures  Pair[[numFigures]uint64]
	grid     Pair[Grid]
	programs Pair[int]
	there    Pair[bool]
	chip     bool
}

func likenessOf(p devicePair) (k likeness) {
	k.chip = foldable(p)
	if d := p.Old; d != nil {
		k.figures.Old, k.grid.Old, k.programs.Old, k.there.Old = d.figures, d.grid, d.programs.Len(), true
	}
	if d := p.New; d != nil {
		k.figures.New, k.grid.New, k.programs.New, k.there.New = d.figures, d.grid, d.programs.Len(), true
	}
	return k
}

// alike reports whether the same is to be said of two devices, apart from their ids and
// the counters of nodes. What differs in a likeness is not asked again.
func alike(known equalRows, a, b *deviceRow) bool {
	if a == nil || b == nil {
		return a == b
	}
	sameBuffers := func(a, b []replay.ProgramBuffer) bool { return sameRows(known, a, b, sameBuffer) }
	return samePrograms(a.programs, b.programs) && sameRows(known, a.buffers, b.buffers, sameBuffers) &&
		sameRows(known, a.groups, b.groups, sameGroup) && sameRows(known, a.laid, b.laid, sameGroup) &&
		alikePeaks(known, a.peak, b.peak)
}

// samePrograms reports whether programs are equal but for their nodes.
func samePrograms(a, b *replay.Programs) bool {
	if a == b || a.Len() != b.Len() {
		return a == b
	}
	for i, p := range a.All() {
		if p.WithoutNodes() != b.At(i).WithoutNodes() {
			return false
		}
	}
	return true
}

// equalRows remembers whether two lists are equal, by their first rows and their length.
type equalRows map[rowsPair]bool

type rowsPair struct {
	a, b any // pointers
	n    int
}

// sameRows reports whether two lists are equal. Devices often share their lists: two of them are compared once.
func sameRows[T any](known equalRows, a, b []T, same func(a, b T) bool) bool {
	if len(a) != len(b) || len(a) == 0 || &a[0] == &b[0] {
		return len(a) == len(b)
	}
	pair := rowsPair{&a[0], &b[0], len(a)}
	is, ok := known[pair]
	if !ok {
		is = slices.EqualFunc(a, b, same)
		known[pair] = is
	}
	return is
}

func sameBuffer(a, b replay.ProgramBuffer) bool {
	return a.Kind == b.Kind && a.Number == b.Number && a.Global == b.Global && a.Size == b.Size && a.Range == b.Range && a.Cores.Equal(b.Cores)
}

func sameGroup(a, b replay.CoreGroup) bool {
	return a.Registered == b.Registered && a.AlivePeak == b.AlivePeak && a.Programs == b.Programs && a.Cores.Equal(b.Cores) && slices.Equal(a.Regions, b.Regions)
}

func alikePeaks(known equalRows, a, b *peakRow) bool {
	if a == nil || b == nil {
		return a == b
	}
	return samePeak(&a.Peak, &b.Peak) && sameRows(known, a.residents, b.residents, func(a, b resident) bool { return a == b })
}

// Equal reports whether the device is the same on both sides. Ids and counters of nodes do not matter.
func (d Device) Equal() bool {
	for _, f := range d.Figures {
		if f.Old != f.New {
			return false
		}
	}
	return d.State == Same && d.sameGrid() && samePeak(d.Peak.Old, d.Peak.New) && len(d.AtPeak)+len(d.Laid)+len(d.Groups)+len(d.Changes) == 0
}

func (d Device) sameGrid() bool {
	a, b := d.Grid.Old, d.Grid.New
	if a == nil || b == nil {
		return a == b
	}
	return a.Cols == b.Cols && a.Rows == b.Rows && a.Cores == b.Cores
}

// device compares the first of some devices that are alike.
func (c *comparison) device(fold []devicePair) Device {
	p := fold[0]
	out := Device{Figures: []Figure{}, AtPeak: []Part{}, Groups: []Group{}, Counts: map[State]int{}, Changes: []Program{}, Listed: c.basis != ByFigures}
	for _, one := range fold {
		id := DeviceID{Capture: one.capture, Rank: one.rank}
		if one.Old != nil {
			id.Old = one.Old.id
		}
		if one.New != nil {
			id.New = one.New.id
		}
		out.IDs = append(out.IDs, id)
	}
	var nothing deviceRow
	old, new := p.Old, p.New
	switch {
	case old == nil:
		old, out.State, out.Kind = &nothing, New, new.kind
		out.Counts[New] = new.programs.Len()
	case new == nil:
		new, out.State, out.Kind = &nothing, Gone, old.kind
		out.Counts[Gone] = old.programs.Len()
	default:
		out.Kind = new.kind
		out.Grid = Pair[*Grid]{&old.grid, &new.grid}
		if out.Listed {
			out.Counts, out.Changes = c.programs(old, new)
		}
		out.AtPeak = c.parts(residents(old), residents(new))
		out.Groups, out.Laid = overlay(old.groups, new.groups), overlayPeaks(old, new)
	}
	for i, name := range figureNames() {
		out.Figures = append(out.Figures, Figure{name, old.figures[i], new.figures[i]})
	}
	out.Peak = Pair[*Peak]{peakOf(old, p.rank), peakOf(new, p.rank)}
	if p.Old != nil && p.New != nil {
		out.State = stateOf(old.figures[figurePeak], new.figures[figurePeak], len(out.AtPeak) == 0)
	}
	return out
}

func peakOf(d *deviceRow, rank event.Opt[uint64]) *Peak {
	if d.peak == nil {
		return nil
	}
	p := d.peak.Peak
	p.Rank, p.Device = rank, d.id
	return &p
}

func residents(d *deviceRow) []resident {
	if d.peak == nil {
		return nil
	}
	return d.peak.residents
}

// stateOf compares the bytes of something with its earlier bytes.
func stateOf(old, new uint64, same bool) State {
	switch {
	case new > old:
		return Grown
	case new < old:
		return Shrunk
	case same:
		return Same
	}
	return Moved
}

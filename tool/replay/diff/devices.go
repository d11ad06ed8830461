package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/fold"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff/internal/align"
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
	byID := func(a, b *deviceRow) int { return answer.CompareIDs(a.id, b.id) }
	if len(old) == 1 && len(new) == 1 {
		byID = inOrder
	}
	for _, one := range merge(old, new, byID) {
		out = append(out, devicePair{one, capture, rank})
	}
	return out
}

// foldDevices puts pairs of devices together that differ alike, in the order of their first ones. Only chips are
// folded: ids of meshes mean different sets of chips.
func foldDevices(all []devicePair) (out [][]devicePair) {
	at, numbers := map[any]int{}, numbering{map[list]int{}, map[string]int{}}
	for i, p := range all {
		key := any(i)
		if (p.Old == nil || p.Old.kind == answer.KindChip) && (p.New == nil || p.New.kind == answer.KindChip) {
			key = Pair[likeness]{numbers.likeness(p.Old), numbers.likeness(p.New)}
		}
		same := fold.At(at, &out, key)
		*same = append(*same, p)
	}
	return out
}

// A likeness is everything that is compared of a device. It has no ids and no counters of nodes.
type likeness struct {
	there                                      bool
	figures                                    [numFigures]uint64
	grid                                       Grid
	peak                                       Peak
	cut                                        bool
	programs, buffers, groups, laid, residents int // numbers of lists
}

func (n numbering) likeness(d *deviceRow) (k likeness) {
	if d == nil {
		return k
	}
	k = likeness{there: true, figures: d.figures, grid: d.grid, groups: numberOf(n, d.groups, groupText), laid: numberOf(n, d.laid, groupText)}
	k.buffers = numberOf(n, d.buffers, func(all []answer.ProgramBuffer) string { return fmt.Sprint(numberOf(n, all, bufferText)) })
	k.programs = n.number(list{d.programs, d.programs.Len()}, func(add func(string)) {
		for _, p := range d.programs.All() {
			add(fmt.Sprintf("%#v", p.WithoutNodes()))
		}
	})
	if p := d.peak; p != nil {
		k.peak, k.cut = Peak{Bytes: p.Bytes, Core: p.Core, Op: p.Op}, p.cut
		k.residents = numberOf(n, p.residents, func(r resident) string { return fmt.Sprintf("%#v", r) })
	}
	return k
}

func bufferText(b answer.ProgramBuffer) string {
	return fmt.Sprint(b.Kind, b.Number, b.Global, b.Size, b.Range, b.Cores)
}

func groupText(g answer.CoreGroup) string {
	return fmt.Sprint(g.Registered, g.AlivePeak, g.Programs, g.Cores, g.Regions)
}

// A numbering gives equal lists equal numbers, and 0 to empty ones. Devices often share a list: its text is written
// once.
type numbering struct {
	known map[list]int
	texts map[string]int
}

// A list is the place of its first row, and its length.
type list struct {
	first any // a pointer
	n     int
}

func (n numbering) number(of list, rows func(add func(string))) int {
	if of.n == 0 {
		return 0
	}
	number, ok := n.known[of]
	if !ok {
		var text strings.Builder
		rows(func(row string) { text.WriteString(row + "\n") })
		number, _ = fold.Number(n.texts, text.String())
		number++ // 0 is an empty one
		n.known[of] = number
	}
	return number
}

// numberOf returns the number of a list whose rows have these texts.
func numberOf[T any](n numbering, all []T, text func(T) string) int {
	if len(all) == 0 {
		return 0
	}
	return n.number(list{&all[0], len(all)}, func(add func(string)) {
		for _, row := range all {
			add(text(row))
		}
	})
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
	out := Device{Figures: []Figure{}, AtPeak: []Resident{}, Groups: []Group{}, Counts: map[State]int{}, Changes: []Program{}, Listed: c.basis != ByFigures}
	for _, one := range fold {
		id := DevicePair{Capture: one.capture, Rank: one.rank}
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
		out.AtPeak = c.parts(residents(old, new), residents(new, old))
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

// residents returns what lay on the fullest core of a device at its peak, as far up as the list of the other one goes.
func residents(d, other *deviceRow) []resident {
	switch {
	case d == nil || d.peak == nil:
		return nil
	case other == nil || other.peak == nil || !other.peak.cut:
		return d.peak.residents
	}
	return slices.DeleteFunc(slices.Clone(d.peak.residents), func(x resident) bool { return x.r.Start > other.peak.top })
}

// pairState is stateOf of a pair, of which one may be missing.
func pairState(p align.Pair, old, new uint64, same bool) State {
	switch {
	case p.Old == align.None:
		return New
	case p.New == align.None:
		return Gone
	}
	return stateOf(old, new, same)
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

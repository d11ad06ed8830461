package capture

import (
	"cmp"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A smallSize is the size of L1_SMALL that rows of a file tell, if they tell one and the same.
type smallSize struct {
	bytes uint64
	ok    bool
}

// smallSizes are the sizes of L1_SMALL by the rows of a file.
type smallSizes struct {
	byID map[device.ID]smallSize // of the rows with an id
	all  smallSize               // of all rows
}

// newSmallSizes reads rows. A row with a contradicted id tells no size.
func newSmallSizes(rows []deviceInfo, contradicted map[uint64]bool) *smallSizes {
	s := &smallSizes{byID: map[device.ID]smallSize{}}
	for i, d := range rows {
		one := smallSize{}
		if one.bytes, one.ok = d.small(); contradicted[d.ID] {
			one.ok = false
		}
		id := device.ID(d.ID)
		if was, known := s.byID[id]; known {
			s.byID[id] = was.and(one)
		} else {
			s.byID[id] = one
		}
		if s.all = s.all.and(one); i == 0 {
			s.all = one
		}
	}
	return s
}

// and returns the size if both are the same.
func (s smallSize) and(o smallSize) smallSize {
	s.ok = s.ok && o.ok && s.bytes == o.bytes
	return s
}

// speakers returns the ids of the rows that speak of an id: its own, else those of its meshes,
// else nil for all rows.
func (s *smallSizes) speakers(id device.ID, meshes []device.ID) (ids []device.ID) {
	if _, ok := s.byID[id]; ok {
		return []device.ID{id}
	}
	for _, mesh := range meshes {
		if _, ok := s.byID[mesh]; ok {
			ids = append(ids, mesh)
		}
	}
	return ids
}

func (s *smallSizes) of(id device.ID, meshes []device.ID) smallSize {
	ids := s.speakers(id, meshes)
	if ids == nil {
		return s.all
	}
	size := s.byID[ids[0]]
	for _, other := range ids[1:] {
		size = size.and(s.byID[other])
	}
	return size
}

// small returns the size of L1_SMALL by a row that has all three numbers.
func (d deviceInfo) small() (uint64, bool) {
	return l1.SmallBytes(d.WorkerL1Size.V, d.CBBase.V, d.BankSize.V)
}

// negative reports whether base and bank of a row are larger than its L1.
func (d deviceInfo) negative() bool {
	_, ok := d.small()
	return !ok && d.WorkerL1Size.V > 0 && d.CBBase.V > 0 && d.BankSize.V > 0
}

// of returns the Spec of an id, without its grid, and who says so.
func (s *specs) of(id device.ID) (l1.Spec, event.From) {
	spec := s.spec()
	from := s.from
	if s.smalls == nil {
		s.smalls = newSmallSizes(s.infos(), s.known.contradicted)
	}
	size := s.smalls.of(id, s.known.members.meshesOf(id))
	if !size.ok {
		size = s.known.said
	}
	switch {
	case s.opt.L1Small.OK:
		spec.L1Small, from.Small = s.opt.L1Small.V, event.FromOption
	case size.ok:
		spec.L1Small, from.Small = size.bytes, event.FromFile
	default:
		spec.L1Small, from.Small = 0, event.FromAssumed
	}
	if spec.L1Small > spec.L1Size {
		spec.L1Small, from.Small = 0, event.FromAssumed
	}
	return spec, from
}

// smallAt takes in that a buffer lies at an address on some units.
func smallAt(kind fit.Kind, address uint64, on []*unit) {
	if kind != fit.KindL1Small || address == 0 {
		return
	}
	for _, u := range on {
		u.small = lower(u.small, address)
	}
}

// lower returns the lower of two addresses, where 0 is none.
func lower(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// contradict marks the rows whose bank reaches above an L1_SMALL buffer.
func (s *specs) contradict(units *units) {
	sizes, all := newSmallSizes(s.infos(), nil), uint64(0)
	low := map[device.ID]uint64{}
	for _, u := range units.order {
		at := u.small
		for _, mesh := range units.meshesOf(u.id) { // whose buffers may have gone before the chip was met
			at = lower(at, mesh.small)
		}
		ids := sizes.speakers(u.id, s.known.members.meshesOf(u.id))
		for _, id := range ids {
			low[id] = lower(low[id], at)
		}
		if ids == nil {
			all = lower(all, at)
		}
	}
	for _, d := range s.infos() {
		at := lower(all, low[device.ID(d.ID)])
		if _, ok := d.small(); ok && at > 0 && at < d.CBBase.V+d.BankSize.V {
			s.known.contradicted[d.ID] = true
		}
	}
	s.smalls = nil
}

// compareSmall notes rows that contradict themselves, or an L1_SMALL buffer. It reports whether
// another size of L1_SMALL was told than is known now.
func (s *specs) compareSmall(units *units, odd notes) (late bool) {
	if s.opt.L1Small.OK {
		return false // the file is not asked
	}
	s.contradict(units)
	s.conclude(units)
	if s.known.saidWrong {
		odd.add(noteSmallWrong, wholeFile, "messages of the allocator")
	}
	for _, d := range s.infos() {
		if d.negative() || s.known.contradicted[d.ID] {
			odd.add(noteSmallWrong, wholeFile, "")
		}
	}
	for _, u := range units.order {
		spec, _ := s.of(u.id)
		late = late || spec.L1Small != u.told.spec.L1Small
	}
	return late
}

// crossesBorder reports whether a buffer lies on the wrong side of the beginning of L1_SMALL on a unit.
func (b *buffer) crossesBorder(u *unit) bool {
	low, high := border([]*unit{u}, l1.Spec{})
	if b.kind == fit.KindL1Small {
		return b.r.Start < high
	}
	return b.r.End > low
}

// border returns where L1_SMALL begins on some units: L1 buffers on all of them lie below low,
// L1_SMALL buffers above high.
func border(on []*unit, otherwise l1.Spec) (low, high uint64) {
	of := func(s l1.Spec) uint64 { return s.L1Size - s.L1Small }
	if len(on) == 0 {
		return of(otherwise), of(otherwise)
	}
	by := func(a, b *unit) int { return cmp.Compare(of(a.told.spec), of(b.told.spec)) }
	return of(slices.MinFunc(on, by).told.spec), of(slices.MaxFunc(on, by).told.spec)
}

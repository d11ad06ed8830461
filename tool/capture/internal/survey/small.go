package survey

import (
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// A SmallSize is the size of L1_SMALL by the rows of a file. ok is false if they disagree, or have none.
type SmallSize struct {
	bytes uint64
	ok    bool
}

// smallSizes are the sizes of L1_SMALL by the rows of a file.
type smallSizes struct {
	byID map[device.ID]SmallSize // of the rows with an id
	all  SmallSize               // of all rows
}

// newSmallSizes reads rows. A row with a contradicted id has no size.
func newSmallSizes(rows []graph.Device, contradicted map[uint64]bool) *smallSizes {
	s := &smallSizes{byID: map[device.ID]SmallSize{}}
	for i, d := range rows {
		one := SmallSize{}
		if one.bytes, one.ok = d.SmallBytes(); contradicted[d.ID] {
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
func (s SmallSize) and(o SmallSize) SmallSize {
	s.ok = s.ok && o.ok && s.bytes == o.bytes
	return s
}

// speakers returns the ids of the rows that are about an id: its own, else the rows of its meshes, else nil
// for all rows.
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

func (s *smallSizes) of(id device.ID, meshes []device.ID) SmallSize {
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

// lower returns the lower of two addresses, where 0 is none.
func lower(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// The nodes of errors hold what tt-metal's allocator said: how large a bank of L1 is, or one of L1_SMALL. Such
// a message names no device. So it counts only if the capture shows one device, or the chips of one mesh,
// which are opened with one size of L1_SMALL, and if no row of devices has the size of a bank. A message
// about dependencies is skipped: its bank may belong to a sub-device.

// saidBanks are the sizes of banks by messages.
type saidBanks struct{ l1, small saidBank }

// A saidBank is the size of the banks of one kind.
type saidBank struct {
	event.Opt[uint64]
	differ bool // messages name several sizes
}

// read adds the sizes that the message of an error names.
func (s *saidBanks) read(text string) {
	if !strings.Contains(text, "bank") {
		return
	}
	for m, err := range clash.Scan(strings.NewReader(text)) {
		bank, named := m.Numbers["bank"]
		_, dependent := m.Numbers["dependencies"]
		if err != nil || m.Kind != clash.OutOfMemory || !named || dependent {
			continue
		}
		switch m.What {
		case "L1":
			if bank > 0 {
				s.l1.add(bank)
			}
		case "L1_SMALL":
			s.small.add(bank)
		}
	}
}

func (s *saidBank) add(bytes uint64) {
	s.differ = s.differ || s.OK && s.V != bytes
	s.Opt = event.Some(bytes)
}

// smallOf returns the size of L1_SMALL on devices with a Spec, and whether messages say it. It is wrong if they
// contradict each other or the Spec. A bank of L1 says nothing where the size of L1 is only assumed.
func (s *saidBanks) smallOf(spec l1.Spec, assumed bool) (size SmallSize, wrong bool) {
	if s.small.OK {
		size, wrong = SmallSize{s.small.V, true}, s.small.differ
	}
	if s.l1.OK && !assumed {
		left, ok := l1.SmallBytes(spec.L1Size, spec.CBBase, s.l1.V)
		wrong = wrong || s.l1.differ || !ok || size.ok && size.bytes != left
		size = SmallSize{left, true}
	}
	if !size.ok {
		return size, false
	}
	if wrong = wrong || size.bytes > spec.L1Size; wrong {
		size = SmallSize{}
	}
	return size, wrong
}

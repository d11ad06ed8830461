package survey

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
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

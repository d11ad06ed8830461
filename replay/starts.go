package replay

import (
	"maps"
	"sort"
)

// starts finds the rows of runs by the node of their first circular buffer. While each row
// begins behind the one before, as in a capture, the rows themselves are looked through.
type starts struct {
	out map[uint64]int // nil while the rows are in order
}

// of returns the last row that a run was given with a first node.
func (s *starts) of(rows *Programs, first uint64) (row int, ok bool) {
	if s.out != nil {
		row, ok = s.out[first]
		return row, ok
	}
	return sort.Find(rows.Len(), func(i int) int {
		switch at := rows.row(i).first; {
		case first < at:
			return -1
		case first > at:
			return 1
		}
		return 0
	})
}

// add takes in a first node, before its row is added or changed.
func (s *starts) add(rows *Programs, row int, first uint64) {
	n := rows.Len()
	inOrder := row < n && rows.row(row).first == first || row == n && (n == 0 || rows.row(n-1).first < first)
	if s.out == nil && inOrder {
		return
	}
	s.disorder(rows)
	s.out[first] = row
}

// disorder writes down where all rows begin: rows that come do not begin where their runs
// do, or not in order.
func (s *starts) disorder(rows *Programs) {
	if s.out != nil {
		return
	}
	s.out = map[uint64]int{}
	for i := range rows.Len() {
		s.out[rows.row(i).first] = i
	}
}

func (s *starts) clone() starts { return starts{maps.Clone(s.out)} }

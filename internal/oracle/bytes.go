package oracle

import (
	"errors"
	"math/bits"
)

// errTooFar guards the machine that runs the tests, not the file format.
var errTooFar = errors.New("oracle: address beyond 64 MiB")

const farthest = 64 << 20

// byteSet has bit b%64 of word b/64 set if byte b is covered.
type byteSet []uint64

func (s *byteSet) add(start, end uint64) error {
	if start >= end {
		return nil
	}
	if end > farthest {
		return errTooFar
	}
	if missing := int(end+63)/64 - len(*s); missing > 0 {
		*s = append(*s, make([]uint64, missing)...)
	}
	w := *s
	for start < end && start%64 != 0 {
		w[start/64] |= 1 << (start % 64)
		start++
	}
	for start+64 <= end { // whole words, or the tests would take minutes
		w[start/64] = ^uint64(0)
		start += 64
	}
	for ; start < end; start++ {
		w[start/64] |= 1 << (start % 64)
	}
	return nil
}

func (s byteSet) count() uint64 {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// common counts the bytes that two sets share.
func common(a, b byteSet) uint64 {
	n := 0
	for i := range min(len(a), len(b)) {
		n += bits.OnesCount64(a[i] & b[i])
	}
	return uint64(n)
}

// memory is the L1 of all cores of one device.
type memory struct {
	cores map[core]*byteSet
}

// reset empties every core but keeps the storage.
func (m *memory) reset() {
	for _, s := range m.cores {
		*s = (*s)[:0]
	}
}

func (m *memory) add(cores []core, start, end uint64) error {
	if m.cores == nil {
		m.cores = map[core]*byteSet{}
	}
	for _, c := range cores {
		s := m.cores[c]
		if s == nil {
			s = &byteSet{}
			m.cores[c] = s
		}
		if err := s.add(start, end); err != nil {
			return err
		}
	}
	return nil
}

// count returns the covered bytes of all cores together and of the fullest core.
func (m *memory) count() (total, fullest uint64) {
	for _, s := range m.cores {
		n := s.count()
		total += n
		fullest = max(fullest, n)
	}
	return total, fullest
}

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

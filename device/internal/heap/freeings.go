package heap

import "github.com/cbl1/cbl1/device/internal/bitset"

// Freeings are the buffers that devices are to lose: different ones may have different buffers
// of one id. The zero freeings are none.
type Freeings []freeing

// A freeing is a buffer and the devices that are to lose it.
type freeing struct {
	Buffer *Allocation
	Slots  bitset.Set
}

// Of returns the freeing of a buffer, a new one of no device if there is none.
func (o *Freeings) Of(a *Allocation) *freeing {
	if a.place >= len(*o) || (*o)[a.place].Buffer != a {
		a.place = len(*o)
		*o = append(*o, freeing{Buffer: a})
	}
	return &(*o)[a.place]
}

package device

import "sync/atomic"

// A chip holds the identity of a device and its cohort. A Device points to it.
type chip struct {
	cohort atomic.Pointer[cohort]
	fleet  *Fleet
	id     ID
	slot   int
}

// published returns an atomic total of the cohort of a device. If the cohort was divided meanwhile, the
// total may be of other devices: it is read again.
func (c *chip) published(of func(*cohort) uint64) uint64 {
	for {
		at := c.cohort.Load()
		if total := of(at); c.cohort.Load() == at {
			return total
		}
	}
}

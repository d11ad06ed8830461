package serve

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/shm"
)

// Usage returns what a region of shared memory says of a device. CB bytes are those that are
// registered, summed over its cores, as if each CB were on every core: records tell neither
// of cores nor of dispatches.
func (s *Server) Usage(id int32) shm.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.ledger.Totals(id)
	u := shm.Usage{DRAM: t.DRAM, L1: t.L1, L1Small: t.L1Small, Trace: t.Trace}
	if d, err := s.live.Fleet().Device(device.ID(id)); err == nil {
		u.CB = d.Registered()
	}
	return u
}

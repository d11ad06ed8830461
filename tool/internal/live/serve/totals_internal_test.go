package serve

import "github.com/cbl1/cbl1/tool/internal/live/wire"

// Totals returns what the ledger has of a device, and how many bytes of a core its CBs take at
// most, now and since the server began. Tests compare kinds that rows sum up.
func (s *Server) Totals(id int32) (t wire.Sums, core, peak uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.row(id)
	return s.ledger.Totals(id), *d.Core, d.Peak.Core
}

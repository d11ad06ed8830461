package serve

import (
	"fmt"
	"net"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// eventLog follows one event log to its end and answers it.
func (s *Server) eventLog(conn net.Conn) {
	s.mu.Lock()
	s.counts.Logs++
	name := fmt.Sprintf("log %d", s.counts.Logs)
	s.mu.Unlock()
	var session replay.Session
	err := session.Stream(event.NewLog(conn, name).Events(), conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && !s.closed {
		s.print(fmt.Appendf(nil, "cbl1: %s closed: %s\n", name, shown.Visible(shown.Clip(err.Error(), 300))), true)
	}
}

// archNumber returns the protocol's number of an architecture.
func archNumber(a l1.Arch) uint32 {
	switch a {
	case l1.Grayskull:
		return 1
	case l1.Wormhole:
		return 2
	case l1.Blackhole:
		return 3
	}
	return 0
}

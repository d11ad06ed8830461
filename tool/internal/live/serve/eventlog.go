package serve

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// ErrNoFleet: no event log has named a fleet so.
var ErrNoFleet = errors.New("there is no fleet with that name")

// maxFleetName is how long the name of a fleet may be, in bytes.
const maxFleetName = 256

// eventLog follows one event log to its end and answers it. Its fleet is its own, or that
// which its header names.
func (s *Server) eventLog(conn net.Conn) {
	s.mu.Lock()
	s.counts.Logs++
	name := fmt.Sprintf("log %d", s.counts.Logs)
	s.mu.Unlock()
	var of *fleet
	err := session.Feed(event.NewLog(conn, name).Events(), func(header *event.Event) (_ *session.Shared, err error) {
		if header.Fleet == "" {
			return &session.Shared{}, nil
		}
		if of, err = s.join(header.Fleet); err != nil {
			return nil, err
		}
		return &of.Shared, nil
	}, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if of != nil {
		s.leaveFleet(of)
	}
	if err != nil && !s.closed {
		s.print(fmt.Appendf(nil, "cbl1: %s closed: %s\n", name, shown.Visible(shown.Clip(err.Error(), 300))), true)
	}
}

// A fleet is one that logs share by name.
type fleet struct {
	session.Shared
	notes watch.Notes
	name  string
	logs  int // that feed it now
}

// join returns the fleet with a name, a new one if there is none.
func (s *Server) join(name string) (*fleet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(name) > maxFleetName {
		return nil, &LimitError{"bytes in the name of a fleet", maxFleetName}
	}
	f := s.fleet(name)
	if f == nil {
		if most := s.c.Limits.Fleets; most > 0 && len(s.fleets) >= most {
			return nil, &LimitError{"fleets with names", most}
		}
		f = &fleet{name: name}
		f.Heard = f.notes.Take
		s.fleets = append(s.fleets, f)
	}
	f.logs++
	return f, nil
}

// named returns the fleet with a name, nil if there is none.
func (s *Server) named(name string) *fleet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fleet(name)
}

func (s *Server) fleet(name string) *fleet {
	if i := slices.IndexFunc(s.fleets, func(f *fleet) bool { return f.name == name }); i >= 0 {
		return s.fleets[i]
	}
	return nil
}

// leaveFleet ends a log of a fleet. Its changes stay; a fleet without logs and devices is
// forgotten.
func (s *Server) leaveFleet(f *fleet) {
	if f.logs--; f.logs == 0 && f.Fleet().Set().Len() == 0 {
		s.fleets = slices.DeleteFunc(s.fleets, func(other *fleet) bool { return other == f })
	}
}

// machine returns what says which devices there are: the oldest fleet with a name that has
// some, where none was declared to the server; else nil.
func (s *Server) machine() *fleet {
	if len(s.known)+len(s.meshes) > 0 {
		return nil
	}
	for _, f := range s.fleets {
		if f.Fleet().Set().Len() > 0 {
			return f
		}
	}
	return nil
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
	case l1.Quasar:
		return 4
	}
	return 0
}

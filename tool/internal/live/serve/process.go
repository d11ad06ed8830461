package serve

import (
	"cmp"
	"net"
	"slices"
	"time"

	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A Peer is the process at the other end of a connection, by the kernel. The zero Peer is not
// known.
type Peer struct {
	PID int32 // 0: not known, perhaps of another namespace
	// Dead reports whether the process has ended, even if another one has its id now.
	Dead func() bool
	// Close releases the resources of Dead.
	Close func()
}

func (p *Peer) dead() bool { return p.Dead != nil && p.Dead() }

func (p *Peer) close() {
	if p.Close != nil {
		p.Close()
	}
	p.Close, p.Dead = nil, nil
}

// A process owns live allocations.
type process struct {
	owner   wire.Client
	peer    Peer
	claims  int32 // its id as its records have it, where the kernel says none
	conns   map[net.Conn]struct{}
	devices map[int32]struct{} // that its records named
	since   time.Time          // when it was found dead; zero: it was not
	over    bool               // its allocations are released
}

// pid returns the id under which the process is shown.
func (p *process) pid(r *wire.Record) int32 {
	if p.peer.PID != 0 {
		return p.peer.PID
	}
	p.claims = r.PID
	return r.PID
}

func (p *process) shown() int32 { return cmp.Or(p.peer.PID, p.claims) }

// processOf finds the process of a connection: one that is there, if it is the same one. It is nil
// where the system cannot identify it, for want of a descriptor.
func (s *Server) processOf(conn net.Conn) *process {
	var peer Peer
	var err error
	if s.c.Identify != nil {
		peer, err = s.c.Identify(conn) // an unknown process lives as long as the connection
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lacks := Lacking(err); lacks != nil {
		s.refuse(lacks.Error())
		return nil
	}
	s.counts.Clients++
	if there := s.byPID[peer.PID]; there != nil {
		if !there.peer.dead() {
			peer.close()
			if len(there.conns) == 0 {
				s.idle--
			}
			there.conns[conn] = struct{}{}
			return there
		}
		delete(s.byPID, peer.PID) // it waits to be released under its owner alone
	}
	s.owners++
	p := &process{owner: s.owners, peer: peer, conns: map[net.Conn]struct{}{conn: {}}, devices: map[int32]struct{}{}}
	s.all[p.owner] = p
	if peer.PID != 0 {
		s.byPID[peer.PID] = p
	}
	return p
}

// leave ends a connection of a process. A process without allocations is forgotten then, and may
// come again.
func (s *Server) leave(p *process, conn net.Conn) {
	delete(p.conns, conn)
	if p.over || len(p.conns) > 0 {
		return
	}
	s.idle++
	if s.ledger.LenOf(p.owner) == 0 {
		s.release([]*process{p})
	}
}

// Sweep finds dead processes. It releases their allocations when they have been dead for
// Config.Delay and all their records have been read. It writes the event log, and retries failures:
// listeners without a free descriptor, a log or lines on a full disk. Call it regularly: a dead
// process keeps its allocations beyond the delay for up to two intervals between calls.
func (s *Server) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	s.record()
	s.retry()
	for i := range s.prints {
		s.prints[i].again()
	}
}

func (s *Server) sweep() {
	now := s.c.Now()
	var over []*process
	for _, p := range s.all {
		gone := p.peer.dead() || p.peer.PID == 0 && len(p.conns) == 0
		switch {
		case !gone:
			continue
		case p.since.IsZero():
			p.since = now
		}
		// A descriptor that a child inherited may keep a connection open for ever.
		waited := now.Sub(p.since)
		if len(p.conns) == 0 && (waited >= s.c.Delay || s.ledger.LenOf(p.owner) == 0) || s.c.Stall > 0 && waited > s.c.Delay+s.c.Stall {
			over = append(over, p)
		}
	}
	slices.SortFunc(over, func(a, b *process) int { return cmp.Compare(a.owner, b.owner) })
	s.release(over)
}

// release ends processes.
func (s *Server) release(over []*process) {
	said := false
	for _, p := range over {
		p.peer.close()
		p.over = true
		if len(p.conns) == 0 {
			s.idle--
		}
		for conn := range p.conns {
			_ = conn.Close() // its reader ends
		}
		delete(s.all, p.owner)
		if s.byPID[p.peer.PID] == p {
			delete(s.byPID, p.peer.PID)
		}
		effects := s.ledger.Release(p.owner)
		s.counts.Leaked += int64(len(effects))
		for i := range effects {
			s.tell(&effects[i])
		}
		s.turn()
		if len(effects) > 0 {
			s.latest.leaked(p.shown(), effects)
			s.showReleased(p.shown(), effects, !said)
			said = true
		}
	}
}

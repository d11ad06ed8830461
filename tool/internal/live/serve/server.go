package serve

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// A Format is the form of the lines of a Server.
type Format string

// The formats. The zero Format is FormatText.
const (
	FormatText     Format = "text"     // the allocation server's lines; lines of CBs end with the process and the bound of a core
	FormatProtocol Format = "protocol" // the allocation server's lines alone
	FormatJSON     Format = "json"     // one object a line, with exact bytes
)

// Limits bound what clients may cost. 0 means no limit.
type Limits struct {
	Clients   int // connections at once; another one is closed at once
	Files     int // descriptors that connections and processes take; a connection beyond is closed at once
	Lots      int // what one process may have live at once
	PerSecond int // records of one connection in one second
	Fleets    int // fleets with names at once, which event logs share
}

// A Config configures a Server. Now, its clock, must be given.
type Config struct {
	Now func() time.Time
	// Identify returns the process of a connection. Without it, or where it gives no PID, a process
	// lives as long as its connection.
	Identify func(net.Conn) (Peer, error)

	Out, Err io.Writer // destinations of lines; nil: none
	Quiet    bool      // only faults of the server itself are printed, to Err
	// Waiting is how many bytes of lines may wait for Out, and for Err. A goroutine writes them; lines
	// beyond are left out, and counted in a line of their own. 0: clients wait for who reads.
	Waiting int
	Format  Format

	Dialect wire.Dialect          // of all clients; zero: recognised, for each
	Devices []wire.DeclaredDevice // the declared ones
	Grace   time.Duration         // silence for so long ends a first record, where the dialect is not known
	Stall   time.Duration         // inside a record, for an answer to be taken, and for a connection to end after its process; 0: for ever
	Delay   time.Duration         // how long a dead process keeps its allocations
	Limits  Limits
	Record  *Recorder // the event log that is written; nil: none
}

// A Server is an allocation server: it follows the allocations that processes report. It must be
// made by New. Its methods may be called at the same time.
type Server struct {
	c Config

	mu      sync.Mutex // all below
	ledger  *wire.Ledger
	teller  wire.Translator
	live    session.Session
	known   map[int32]wire.DeclaredDevice // that are no meshes
	meshes  map[int32]wire.DeclaredDevice
	byPID   map[int32]*process
	all     map[wire.Client]*process
	owners  wire.Client
	conns   map[net.Conn]struct{}
	fleets  []*fleet // by age
	closed  bool
	log     *recording
	line    []byte
	prints  [2]outlet // Out and Err
	printed chan struct{}
	counts  counts
	latest  latest
	lost    []loss
	unsure  map[int32]bool // devices that clients named which ended inside a record
	unheard bool           // a client was lost that may be about any device
	failure error          // the first of writing

	room   chan struct{} // closed, and made anew, when there may be room for a connection
	over   chan struct{} // closed when all must go
	idle   int           // processes without a connection
	narrow time.Time     // when there was no room last
}

// incomplete reports whether a lost client may have more on a device.
func (s *Server) incomplete(id int32) bool { return s.unheard || s.unsure[id] }

// A loss is a client that was closed, and the devices that it was about: nil for any.
type loss struct {
	pid     int32
	devices []int32
	reason  string
}

// maxLost is how many losses are kept by device. Further losses count for every device.
const maxLost = 1000

// counts count occurrences since the server began.
type counts struct {
	watch.ServerCounts
	Torn   int64 // closed clients whose connection ended inside a record
	Leaked int64 // what dead processes had
	Logs   int64 // connections with event logs
}

// A LimitError names the limit that a client has passed.
type LimitError struct {
	Limit string // "records in a second", "live at once"
	Most  int
}

func (e *LimitError) Error() string {
	return "more than " + strconv.Itoa(e.Most) + " " + e.Limit
}

// New returns a server with its declared devices and no clients yet. The error concerns a declared
// device, or Record.
func New(c Config) (*Server, error) {
	s := &Server{
		c: c, ledger: wire.NewLedger(), known: map[int32]wire.DeclaredDevice{}, meshes: map[int32]wire.DeclaredDevice{}, byPID: map[int32]*process{}, all: map[wire.Client]*process{}, conns: map[net.Conn]struct{}{},
		unsure: map[int32]bool{}, room: make(chan struct{}), over: make(chan struct{}), printed: make(chan struct{}),
	}
	for _, d := range c.Devices {
		if d.Chips == nil {
			s.known[d.ID] = d
		} else {
			s.meshes[d.ID] = d
		}
		s.ledger.Declare(d.ID, d.Chips...)
		for _, e := range s.teller.Declare(d) {
			if err := s.live.Apply(&e); err != nil {
				return nil, err
			}
		}
	}
	if c.Record != nil {
		s.log = &recording{to: c.Record}
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	s.open()
	return s, nil
}

// Serve follows the AllocMessage clients that connect to l, each in a goroutine of its own,
// until l is closed. It returns when the last of them has gone: nil if Close was called,
// else the error of l.
func (s *Server) Serve(l net.Listener) error { return s.accept(l, s.client) }

// ServeLogs follows the event logs that are written to connections of l and answers their queries,
// as Serve does. Each has a fleet of its own, or the fleet that its header names: the changes of an
// ended log stay there.
func (s *Server) ServeLogs(l net.Listener) error { return s.accept(l, s.eventLog) }

func (s *Server) accept(l net.Listener, serve func(net.Conn)) error {
	var running sync.WaitGroup
	defer running.Wait()
	waits := false // a connection does
	for {
		conn, err := l.Accept()
		if err != nil {
			room, err := s.noRoom(err, waits)
			if room == nil {
				return err
			}
			waits = true
			select { // until there is a place
			case <-room:
			case <-s.over:
			}
			continue
		}
		waits = false
		if !s.enter(conn) {
			_ = conn.Close() // nothing was read of it
			continue
		}
		running.Go(func() {
			defer s.exit(conn)
			serve(conn)
		})
	}
}

// Lacking returns the cause of an error if the system has no descriptor or memory to give, so that the
// same may work a moment later, else nil.
func Lacking(err error) error {
	for _, e := range [...]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return e
		}
	}
	return nil
}

// noRoom handles the failure of a listener. If it is to be tried again, the channel is closed when
// there may be room. A connection that waits already is not counted again.
func (s *Server) noRoom(err error, waits bool) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil
	case Lacking(err) == nil:
		return nil, err
	case !waits:
		s.refuse(Lacking(err).Error())
	}
	return s.room, nil
}

// narrowFor is how long there must have been room before the lack of it is reported again.
const narrowFor = time.Minute

// refuse counts a connection for which there is no room, and warns once.
func (s *Server) refuse(reason string) {
	s.counts.Refused++
	now := s.c.Now()
	if s.narrow.IsZero() || now.Sub(s.narrow) >= narrowFor {
		s.warn("there is no room for a client: %s", reason)
	}
	s.narrow = now
}

// enter counts a connection, unless there are too many.
func (s *Server) enter(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.c.Limits
	switch {
	case s.closed:
		return false
	case most.Clients > 0 && len(s.conns) >= most.Clients:
		s.refuse(shown.Plural(int64(most.Clients), "connection") + " at once")
		return false
	case most.Files > 0 && 2*len(s.conns)+s.idle+2 > most.Files: // one for the process of each
		s.refuse(shown.Plural(int64(most.Files), "descriptor") + " for clients")
		return false
	}
	s.conns[conn] = struct{}{}
	return true
}

func (s *Server) exit(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
	_ = conn.Close() // there is nothing more to say
	s.retry()
}

// retry wakes the listeners that found no room.
func (s *Server) retry() {
	close(s.room)
	s.room = make(chan struct{})
}

// Close ends all connections, and writes the event log to its end. Allocations of processes are not
// released: they go on without us. Serve and ServeLogs return when their listener is closed, which
// is the caller's. Lines that wait are still written: see Printed.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.over)
	}
	for conn := range s.conns {
		_ = conn.Close() // its readers end
	}
	for _, p := range s.all {
		p.peer.close()
	}
	if s.log != nil {
		s.log.close()
		s.tellRecording()
		s.counts.NotRecorded, s.log = s.log.lost, nil
	}
	for i := range s.prints {
		s.prints[i].end()
	}
	return s.failure
}

// Printed returns a channel that is closed when Close was called and no line waits any more.
func (s *Server) Printed() <-chan struct{} { return s.printed }

// Err returns the first error of writing to Out or Err. A log that cannot be written is no error: see [watch.ServerCounts].
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.prints {
		_, err := s.prints[i].leftOut()
		s.fail(err)
	}
	return s.failure
}

// count returns the counts, with the losses of the outlets and of the log.
func (s *Server) count() counts {
	c := s.counts
	for i := range s.prints {
		left, _ := s.prints[i].leftOut()
		c.Unprinted += left
	}
	if s.log != nil {
		c.NotRecorded = s.log.lost
	}
	return c
}

// core returns the bytes of a core that CBs take at most, as if each were on every core. Of a mesh it
// is a core of its fullest chip.
func (s *Server) core(id int32) (most uint64) {
	for _, chip := range s.ledger.Members(id) {
		if d, err := s.live.Fleet().Device(device.ID(chip)); err == nil {
			most = max(most, d.Totals().Core)
		}
	}
	return most
}

// devices returns the known devices, ascending: declared ones, chips of declared meshes, and those in records.
func (s *Server) devices() []int32 {
	ids := slices.AppendSeq(s.ledger.Devices(), maps.Keys(s.known))
	for id, mesh := range s.meshes {
		ids = append(append(ids, id), mesh.Chips...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// mesh returns the chips of a mesh with an id of its own, else nil.
func (s *Server) mesh(id int32) []int32 {
	if chips := s.meshes[id].Chips; chips != nil && chips[0] != id {
		return chips
	}
	return nil
}

// tell makes the calls that an effect stands for, and writes its events.
func (s *Server) tell(e *wire.Effect) {
	events := s.teller.Tell(e)
	for _, told := range events {
		if err := s.live.Apply(&told); err != nil {
			// A sum over cores beyond 2^63-1: it is in the protocol's sum alone.
			s.print(fmt.Appendf(nil, "cbl1: %s\n", shown.Visible(err.Error())), true)
		}
	}
	switch {
	case s.log == nil:
	case s.log.failed != nil:
		s.log.lost += int64(len(events))
	default:
		s.log.teller.T = s.stamp()
		for _, told := range s.log.teller.Tell(e) {
			s.fail(s.log.write(&told))
		}
	}
}

// turn begins the next log if this one is full. It begins with the lots of the ledger, all of whose
// effects are in earlier logs.
func (s *Server) turn() {
	if s.log == nil || !s.log.full() {
		return
	}
	if err := s.begin(); s.log.failed == nil {
		s.fail(err)
	}
}

func (s *Server) stamp() string { return strconv.FormatInt(s.c.Now().UnixNano(), 10) }

func (s *Server) fail(err error) {
	if s.failure == nil {
		s.failure = err
	}
}

// lose reports a lost client: from now on its allocations are not known. One that the server closes lives on, and
// may allocate on any device. One that ended inside a record is about the devices that it named: the record
// stood for a change that was there until the process died.
func (s *Server) lose(c *client, reason error) {
	s.counts.Closed++
	p := c.of
	s.latest.closes(p.shown(), shown.Clip(reason.Error(), 300))
	lost := loss{pid: p.shown(), reason: reason.Error()}
	if errors.Is(reason, io.ErrUnexpectedEOF) {
		s.counts.Torn++
		if c.torn() {
			for id := range p.devices {
				lost.devices = append(append(lost.devices, id), s.ledger.Members(id)...)
			}
			slices.Sort(lost.devices)
			lost.devices = slices.Compact(lost.devices)
		}
	}
	for _, id := range lost.devices {
		s.unsure[id] = true
	}
	s.unheard = s.unheard || len(lost.devices) == 0
	switch {
	case len(s.lost) > maxLost:
		return // a line reports that there are more
	case len(s.lost) == maxLost:
		lost = loss{reason: "more clients were closed"}
	}
	s.lost = append(s.lost, lost)
	if s.log != nil {
		e := lost.event(s.stamp())
		s.fail(s.log.write(&e))
	}
}

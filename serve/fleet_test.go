package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/serve"
	"github.com/cbl1/cbl1/wire"
)

// logs is where event logs connect.
type logs struct {
	*shop
	on   *shop
	done chan error
}

func newLogs(s *shop) *logs {
	l := &logs{shop: &shop{conns: make(chan net.Conn)}, on: s, done: make(chan error)}
	go func() { l.done <- s.ServeLogs(l) }()
	return l
}

func (l *logs) shut(t *testing.T) {
	t.Helper()
	l.on.shut(t)
	require.NoError(t, l.Close())
	require.NoError(t, <-l.done)
}

// A teller is one event log, and who reads its answers.
type teller struct {
	conn    net.Conn
	answers *bufio.Reader
}

func (l *logs) tell(t *testing.T, header string) *teller {
	t.Helper()
	conn := l.connect(0)
	told := &teller{conn, bufio.NewReader(conn)}
	told.line(t, header)
	return told
}

func (c *teller) line(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(c.conn, text+"\n")
	require.NoError(t, err)
	synctest.Wait() // it is taken in
}

func (c *teller) ask(t *testing.T, text string) (answer map[string]any) {
	t.Helper()
	c.line(t, text)
	line, err := c.answers.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(line), &answer))
	return answer
}

const (
	ours      = `{"event":"log","version":1,"fleet":"ours"}`
	theirs    = `{"event":"log","version":1,"fleet":"theirs"}`
	alone     = `{"event":"log","version":1}`
	device3   = `{"event":"device","device":3,"spec":{"board":"n150"}}`
	registers = `{"event":"program","program":%d,"cbs":[{"cores":"{[0-0 - 7-7]}","size":1024,"address":%d}]}` + "\n" + `{"event":"register","program":%[1]d}`
	totals    = `{"query":"totals","device":3}`
)

// Logs that name one fleet feed one session, each line as a whole. A log that ends in the
// middle of a line leaves what its whole lines said, and operations are those of each log.
func TestSharedFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, serve.Config{})
		l := newLogs(s)
		a, b, other, own := l.tell(t, ours), l.tell(t, ours), l.tell(t, theirs), l.tell(t, alone)
		a.line(t, device3)
		a.line(t, fmt.Sprintf(registers, 1, 1024))
		a.line(t, `{"event":"op_start","name":"of a"}`)
		require.EqualValues(t, 64*1024, b.ask(t, totals)["registered_union_bytes"])
		b.line(t, fmt.Sprintf(registers, 2, 8192))
		require.EqualValues(t, 2*64*1024, a.ask(t, totals)["registered_union_bytes"])
		require.Equal(t, "error", other.ask(t, totals)["answer"], "it has no device")
		require.Equal(t, "error", own.ask(t, totals)["answer"])

		// What is refused changes nothing, and the complaint goes to whoever said it.
		require.Equal(t, "no-op", b.ask(t, `{"event":"op_end"}`)["code"])
		refused := a.ask(t, device3)
		require.Equal(t, "device-exists", refused["code"])
		require.Equal(t, "of a", refused["op"])
		require.Nil(t, b.ask(t, device3)["op"])
		a.line(t, `{"event":"op_end"}`)

		_, err := io.WriteString(a.conn, `{"event":"unregister","program":2`)
		require.NoError(t, err)
		require.NoError(t, a.conn.Close())
		synctest.Wait()
		require.EqualValues(t, 2*64*1024, b.ask(t, totals)["registered_union_bytes"])
		require.NoError(t, b.conn.Close())
		synctest.Wait()
		require.EqualValues(t, 2*64*1024, l.tell(t, ours).ask(t, totals)["registered_union_bytes"], "nobody was there")
		l.shut(t)
	})
}

// Many logs of one fleet at once: each line counts once, whatever comes between.
func TestSharedFleetAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, serve.Config{})
		l := newLogs(s)
		first := l.tell(t, ours)
		first.line(t, device3)
		require.EqualValues(t, 0, first.ask(t, totals)["registered_union_bytes"])
		var all sync.WaitGroup
		for n := range 8 {
			c := l.tell(t, ours)
			all.Go(func() {
				for i := range 100 {
					id := n*100 + i + 1
					_, _ = fmt.Fprintf(c.conn, registers+"\n", id, 1024*id)
					if i%2 == 1 {
						_, _ = fmt.Fprintf(c.conn, "{\"event\":\"unregister\",\"program\":%d}\n", id)
					}
				}
				_ = c.conn.Close() // in the middle of nothing
			})
		}
		all.Wait()
		synctest.Wait()
		got := first.ask(t, totals)
		require.EqualValues(t, 400, got["programs"])
		require.EqualValues(t, 400*1024*64, got["registered_union_bytes"])
		l.shut(t)
	})
}

// Names are limited, and one that nobody needs is given back.
func TestFleetNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, serve.Config{Limits: serve.Limits{Fleets: 1}})
		l := newLogs(s)
		empty := l.tell(t, theirs)
		synctest.Wait()
		requireEnds(t, l.tell(t, ours))
		require.Contains(t, s.errs.String(), "more than 1 fleets with names")
		requireEnds(t, l.tell(t, `{"event":"log","version":1,"fleet":"`+strings.Repeat("x", 257)+`"}`))
		require.Contains(t, s.errs.String(), "more than 256 bytes in the name of a fleet")
		require.NoError(t, empty.conn.Close())
		synctest.Wait()
		full := l.tell(t, ours)
		full.line(t, device3)
		require.EqualValues(t, 0, full.ask(t, totals)["programs"])
		require.NoError(t, full.conn.Close())
		synctest.Wait()
		requireEnds(t, l.tell(t, theirs))
		l.shut(t)
	})
}

func requireEnds(t *testing.T, c *teller) {
	t.Helper()
	_, err := c.answers.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

// A fleet with a name says what devices are, where nobody declared any.
func TestDeviceInfoOfFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newShop(t, serve.Config{Dialect: d})
		l := newLogs(s)
		monitor := s.connect(7)
		info := func(id int32) wire.Record {
			return ask(t, monitor, d, wire.Record{Type: wire.TypeDeviceQuery, Device: id})
		}
		own := l.tell(t, alone)
		own.line(t, device3)
		require.NotEqual(t, "error", own.ask(t, totals)["answer"])
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: -1}, info(-1), "that is its own")
		shared := l.tell(t, ours)
		shared.line(t, device3)
		require.NotEqual(t, "error", shared.ask(t, totals)["answer"])
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: -1, Available: 1, Devices: 1}, info(-1))
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 3, Available: 1, Arch: 2, L1PerCore: 1499136, TotalL1: 1499136 * 64}, info(3))
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 0}, info(0))
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: -2}, info(-2))
		shared.line(t, `{"event":"remove","devices":[3]}`)
		require.Equal(t, "error", shared.ask(t, totals)["answer"])
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 3}, info(3))
		l.shut(t)
	})
}

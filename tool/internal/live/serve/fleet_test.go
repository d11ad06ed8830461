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

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// logs is where event logs connect.
type logs struct {
	*pipedServer
	on   *pipedServer
	done chan error
}

func newLogs(s *pipedServer) *logs {
	l := &logs{pipedServer: &pipedServer{conns: make(chan net.Conn)}, on: s, done: make(chan error)}
	go func() { l.done <- s.ServeLogs(l) }()
	return l
}

func (l *logs) shut(t *testing.T) {
	t.Helper()
	l.on.shut(t)
	require.NoError(t, l.Close())
	require.NoError(t, <-l.done)
}

// A logClient is one event log, and who reads its answers.
type logClient struct {
	conn    net.Conn
	answers *bufio.Reader
}

func (l *logs) tell(t *testing.T, header string) *logClient {
	t.Helper()
	conn := l.connect(0)
	told := &logClient{conn, bufio.NewReader(conn)}
	told.line(t, header)
	return told
}

func (c *logClient) line(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(c.conn, text+"\n")
	require.NoError(t, err)
	synctest.Wait() // it is taken in
}

func (c *logClient) ask(t *testing.T, text string) (answer map[string]any) {
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

// Logs that name one fleet feed one session, each line as a whole. The whole lines of a log that
// ends in the middle of a line count, and each log has its own operations.
func TestSharedFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{})
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

		// A refused event changes nothing, and the complaint goes to its sender.
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
		s := newPipedServer(t, serve.Config{})
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

// Names are limited, and an unused one is given back.
func TestFleetNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Limits: serve.Limits{Fleets: 1}})
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

func requireEnds(t *testing.T, c *logClient) {
	t.Helper()
	_, err := c.answers.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

// The devices of named fleets have rows behind the devices of processes, by name: registered and
// resident bytes, as numbers that are worked out here by hand.
func TestRowsOfFleets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Devices: []wire.DeclaredDevice{{ID: 3, Spec: l1.N150()}}})
		l := newLogs(s)
		send(t, s.connect(7), wire.Newest(), wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 16, ID: 111616})
		b, a := l.tell(t, theirs), l.tell(t, ours)
		require.Len(t, s.Snapshot().Devices, 1, "they have no devices yet")
		b.line(t, device3)
		b.line(t, `{"event":"hidden","code":"x","count":1,"devices":[3]}`)
		a.line(t, `{"event":"mesh","first":3,"rows":1,"cols":2,"spec":{"board":"n150"}}`)
		a.line(t, fmt.Sprintf(registers, 1, 110_000))
		a.line(t, fmt.Sprintf(registers, 2, 110_512))
		a.line(t, `{"event":"dispatch","program":2,"devices":[4]}`)
		a.line(t, `{"event":"allocate","buffer":5,"kind":"l1","parts":[{"cores":"{[0-0 - 0-0]}","address":1300000,"size":2048}],"devices":[4]}`)
		for _, line := range []string{
			`{"event":"allocate","buffer":6,"kind":"dram","size":4096,"devices":[3]}`, `{"event":"allocate","buffer":7,"kind":"trace","size":768,"devices":[3]}`,
			`{"event":"allocate","buffer":8,"kind":"kernel","parts":[{"cores":"{[0-0 - 0-0]}","address":4096,"size":40}],"devices":[3]}`,
			`{"event":"allocate","buffer":9,"kind":"l1_small","parts":[{"cores":"{[0-0 - 1-0]}","address":1400000,"size":12}],"devices":[3]}`,
		} {
			a.line(t, line)
		}
		require.Equal(t, "not-registered", a.ask(t, `{"event":"dispatch","program":9}`)["code"])
		l.tell(t, alone).line(t, device3)

		now := s.Snapshot()
		got := []string{}
		for _, d := range now.Devices {
			got = append(got, fmt.Sprintf("%s/%d %d %v %v", d.Fleet, d.Device, *d.Registered, d.Bound, d.Incomplete))
			row, ok := s.Row(d.Fleet, d.Device)
			require.True(t, ok)
			require.Equal(t, d, row)
		}
		require.Equal(t, []string{"/3 1024 true false", "ours/3 98304 false false", "ours/4 98304 false false", "theirs/3 0 false true"}, got)
		require.Equal(t, watch.FeedRecords, now.Source)
		four := now.Devices[2]
		require.EqualValues(t, 64*1024, *four.Dispatched)
		require.EqualValues(t, 64*1024+2048, *four.Tracked)
		require.EqualValues(t, 1536, *four.Core)
		require.EqualValues(t, 3072, *four.TrackedCore)
		require.EqualValues(t, 2, *four.Programs)
		require.Nil(t, four.Sum, "that is the protocol's")
		require.Equal(t, shm.Counters{CB: 98304, L1: 2048}, watch.UsageOf(&four, shm.Version3))
		require.Equal(t, shm.Counters{CB: 65536, L1: 2048}, watch.UsageOf(&four, shm.Version4))
		require.Zero(t, watch.UsageOf(&now.Devices[1], shm.Version4).CB, "nothing was dispatched there")
		require.Equal(t, []watch.OddityCount{{Fleet: "ours", Code: "not-registered", Count: 1}}, now.Odd)
		require.Equal(t, []string{"ours, line 13: dispatch: device 3 (+1 more): program 9: program is not registered"}, now.Refused)
		require.Equal(t, "ours", s.Detail("ours", 4).Fleet)
		require.Equal(t, "resident", s.Detail("ours", 4).Basis)
		require.Nil(t, s.Detail("ours", 5))
		_, ok := s.Row("theirs", 4)
		require.False(t, ok)

		text := string(now.AppendMetrics(nil, false))
		require.Contains(t, text, `cbl1_device_dispatched_bytes{fleet="ours",device="4",board="n150"} 65536`+"\n")
		require.Contains(t, text, `cbl1_device_tracked_core_peak_bytes{fleet="ours",device="4",board="n150"} 3072`+"\n")
		require.Contains(t, text, `cbl1_device_incomplete{fleet="theirs",device="3",board="n150"} 1`+"\n")
		require.Contains(t, text, `cbl1_device_registered_bytes{device="3",board="n150"} 1024`+"\n")
		require.Contains(t, text, `cbl1_odd_total{fleet="ours",code="not-registered"} 1`+"\n")

		summary := string(s.AppendSummary(nil))
		require.Contains(t, summary, "\ndevice 3 of ours: registered CBs 98,304 bytes, 1,536 of a core; tracked 24; DRAM 4,096, L1 0, L1_SMALL 24, TRACE 768; kernels 40\n")
		require.Contains(t, summary, "\ndevice 4 of ours: registered CBs 98,304 bytes, 1,536 of a core; tracked 67,584; DRAM 0, L1 2,048, L1_SMALL 0, TRACE 0; kernels 0\n")
		require.Contains(t, summary, "\ndevice 3 of theirs: registered CBs 0 bytes, 0 of a core; tracked 0; DRAM 0, L1 0, L1_SMALL 0, TRACE 0; kernels 0; incomplete\n")

		a.line(t, `{"event":"remove","devices":[3]}`)
		require.Len(t, s.Snapshot().Devices, 3)
		l.shut(t)
	})
}

// A line may make more devices than anybody wants rows of: how many are left out is said.
func TestRowsOfLargeFleets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{})
		l := newLogs(s)
		for _, header := range []string{theirs, ours} {
			l.tell(t, header).line(t, `{"event":"mesh","first":0,"rows":10,"cols":300,"spec":{"board":"n150"}}`)
		}
		now := s.Snapshot()
		require.Len(t, now.Devices, 4096)
		require.Equal(t, 6000-4096, now.Left)
		require.Equal(t, "ours", now.Devices[2999].Fleet)
		require.EqualValues(t, 1095, now.Devices[4095].Device)
		require.Contains(t, string(now.AppendMetrics(nil, false)), "cbl1_devices_left 1904\n")
		require.Contains(t, string(s.AppendSummary(nil)), "\nleft out: 1,904 devices of fleets\n")
		l.shut(t)
	})
}

// A named fleet gives the properties of devices that are not declared.
func TestDeviceInfoOfFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := wire.Newest()
		s := newPipedServer(t, serve.Config{Dialect: d})
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
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 3, Available: 1, Arch: 2, L1PerCore: 1499136, TotalL1: 1499136 * 64, TotalDRAM: 12 << 30, DRAMChannels: 12, DRAMPerChannel: 1 << 30}, info(3))
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 0}, info(0))
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: -2}, info(-2))
		shared.line(t, `{"event":"remove","devices":[3]}`)
		require.Equal(t, "error", shared.ask(t, totals)["answer"])
		require.Equal(t, wire.Record{Type: wire.TypeDeviceInfo, Device: 3}, info(3))
		// Its logs may give the size of DRAM: then the number of channels is unknown.
		dram := func(id uint64) uint64 {
			row, ok := s.Row("ours", id)
			require.True(t, ok)
			require.Equal(t, *row.DRAMSize, info(int32(id)).TotalDRAM)
			return *row.DRAMSize
		}
		shared.line(t, `{"event":"mesh","first":4,"rows":1,"cols":2,"spec":{"board":"n150"},"dram_bytes":1000}`)
		require.Equal(t, "device-exists", shared.ask(t, `{"event":"device","device":5,"spec":{"board":"n150"},"dram_bytes":2000}`)["code"])
		require.EqualValues(t, 1000, dram(4))
		require.EqualValues(t, 1000, dram(5))
		require.Zero(t, info(5).DRAMChannels+info(5).DRAMPerChannel)
		shared.line(t, `{"event":"remove"}`)
		shared.line(t, `{"event":"mesh","first":4,"rows":1,"cols":2,"spec":{"board":"n150"}}`)
		require.NotEqual(t, "error", shared.ask(t, strings.Replace(totals, "3", "5", 1))["answer"])
		require.Equal(t, uint64(12<<30), dram(5), "they are other ones")
		shared.line(t, `{"event":"device","device":0,"spec":{"board":"p150b"}}`)
		require.NotEqual(t, "error", shared.ask(t, strings.Replace(totals, "3", "0", 1))["answer"])
		require.Equal(t, []uint32{1, 3}, []uint32{info(0).Available, info(0).Arch})
		l.shut(t)
	})
}

// The devices of a machine are those of the oldest fleet that has some, and of none where a mesh was declared. A fleet without
// devices stays while it has a log.
func TestMachineOfFleets(t *testing.T) {
	for want, declared := range [][]wire.DeclaredDevice{{{ID: 100, Spec: l1.N150(), Chips: []int32{1, 2}}}, nil} {
		synctest.Test(t, func(t *testing.T) {
			s := newPipedServer(t, serve.Config{Dialect: wire.Newest(), Devices: declared})
			l := newLogs(s)
			l.tell(t, theirs)
			synctest.Wait()
			first, second := l.tell(t, ours), l.tell(t, ours)
			synctest.Wait()
			require.NoError(t, first.conn.Close())
			synctest.Wait()
			second.line(t, device3)
			require.NotEqual(t, "error", second.ask(t, totals)["answer"])
			_, ok := s.Row("ours", 3)
			require.True(t, ok)
			info := ask(t, s.connect(7), wire.Newest(), wire.Record{Type: wire.TypeDeviceQuery, Device: -1})
			require.EqualValues(t, want, info.Devices)
			l.shut(t)
		})
	}
}

// TestRowsBeyondSums: a sum of a mesh beyond 2^64 is not known, and the whole row is not.
func TestRowsBeyondSums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Dialect: wire.Newest()})
		l := newLogs(s)
		a := l.tell(t, ours)
		for _, line := range []string{
			`{"event":"anomaly","code":"every-core","count":1}`,
			`{"event":"device","device":1,"spec":{"board":"n150"},"role":"chip"}`, `{"event":"device","device":2,"spec":{"board":"n150"},"role":"chip"}`,
			`{"event":"device","device":3,"spec":{"board":"n150"},"role":"chip"}`, `{"event":"device","device":9,"spec":{"board":"n150"},"role":"mesh","chips":[1,2,3]}`,
			`{"event":"allocate","buffer":1,"kind":"dram","size":9223372036854775807,"devices":[1,2,3]}`,
		} {
			a.line(t, line)
		}
		synctest.Wait()
		require.Regexp(t, `\ndevice 9 of ours: registered CBs \? bytes, \? of a core; tracked \?; [^\n]*kernels \?; incomplete\n`, string(s.AppendSummary(nil)))
		l.shut(t)
	})
}

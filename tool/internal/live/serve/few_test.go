package serve_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// TestFew compares all that a server says of a few records: testdata/few.txt has a section for each. Its first line has
// numbers of the configuration, json, boards by the ids of devices, and mesh by its id. Behind > stand the lines that the server printed at each
// step (2: to standard error), and at the end its summary, its snapshot and its logs.
//
//	PID TYPE DEVICE ID [SIZE [KIND]]   a record on the last connection of a process; an answer is shown
//	PID connects, closes, dies
//	PID tears BYTES                    it sends so many bytes of a record
//	wait SECONDS
//	sweep
//	processes                          what each has
//	statistics
//	detail DEVICE                      the contents of its cores
//	moment                             a log that begins now
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) (out []string) {
		synctest.Test(t, func(t *testing.T) { out = fewSession(t, asked) })
		return out
	})
}

func fewSession(t *testing.T, asked []string) (out []string) {
	t.Helper()
	c := serve.Config{Dialect: wire.Newest()}
	var logs []*file
	for _, word := range strings.Fields(asked[0])[1:] {
		name, value, _ := strings.Cut(word, "=")
		if spec, ok := l1.Board(value); ok {
			c.Devices = append(c.Devices, wire.DeclaredDevice{ID: int32(fewNumber(t, name)), Spec: spec})
			continue
		}
		if name == "json" {
			c.Format = serve.FormatJSON
			continue
		}
		if value == "mesh" { // of all devices before it
			mesh := wire.DeclaredDevice{ID: int32(fewNumber(t, name)), Spec: c.Devices[0].Spec}
			for _, d := range c.Devices {
				mesh.Chips = append(mesh.Chips, d.ID)
			}
			c.Devices = append(c.Devices, mesh)
			continue
		}
		n := int(fewNumber(t, value))
		switch name {
		case "waiting":
			c.Waiting = n
		case "delay":
			c.Delay = time.Duration(n) * time.Second
		case "stall":
			c.Stall = time.Duration(n) * time.Second
		case "record":
			c.Record = &serve.Recorder{Most: int64(n), Open: func() (io.WriteCloser, error) { logs = append(logs, &file{}); return logs[len(logs)-1], nil }}
		default:
			limit := map[string]*int{"clients": &c.Limits.Clients, "files": &c.Limits.Files, "lots": &c.Limits.Lots, "second": &c.Limits.PerSecond}[name]
			require.NotNil(t, limit, name)
			*limit = n
		}
	}
	s := newPipedServer(t, c)
	conns := map[string]net.Conn{}
	for _, line := range asked[1:] {
		out = append(out, "-- "+line)
		f := append(strings.Fields(line), "0", "0", "0", "0")
		if conns[f[0]] == nil && !slices.Contains([]string{"wait", "sweep", "processes", "statistics", "detail", "moment"}, f[0]) || f[1] == "connects" {
			conns[f[0]] = s.connect(int32(fewNumber(t, f[0])))
		}
		var r wire.Record
		for r.Type = wire.TypeDumpKernels; r.Type > 0 && r.Type.String() != f[1]; r.Type-- {
		}
		switch {
		case r.Type > 0:
			r.Device, r.ID, r.Size, r.Kind = int32(fewNumber(t, f[2])), fewNumber(t, f[3]), fewNumber(t, f[4]), uint8(fewNumber(t, f[5]))
			if r.Type == wire.TypeQuery || r.Type == wire.TypeDeviceQuery {
				out = append(out, testkit.Brief(t, ask(t, conns[f[0]], c.Dialect, r))...)
				break
			}
			b, err := c.Dialect.Append(nil, &r)
			require.NoError(t, err)
			if _, err := conns[f[0]].Write(b); err != nil {
				out = append(out, "it is closed")
			}
		case f[0] == "wait":
			time.Sleep(time.Duration(fewNumber(t, f[1])) * time.Second)
		case f[0] == "sweep":
			s.Sweep()
		case f[0] == "processes":
			out = append(out, testkit.Brief(t, map[string]any{"has": s.Snapshot().Processes})...)
		case f[0] == "statistics":
			s.Statistics()
		case f[0] == "detail":
			out = append(out, testkit.Brief(t, s.Detail("", fewNumber(t, f[1])))...)
		case f[0] == "moment":
			var log strings.Builder
			require.NoError(t, s.WriteMoment("", &log))
			out = append(out, strings.Split(strings.TrimSpace(log.String()), "\n")...)
		case f[1] == "closes":
			require.NoError(t, conns[f[0]].Close())
		case f[1] == "dies":
			s.mu.Lock()
			pid := int32(fewNumber(t, f[0]))
			*s.lives[pid] = true
			delete(s.lives, pid)
			s.mu.Unlock()
		case f[1] == "tears":
			_, err := conns[f[0]].Write(append([]byte{byte(wire.TypeAlloc), 0, 0, 0, 1}, make([]byte, 100)...)[:fewNumber(t, f[2])])
			require.NoError(t, err)
		default:
			require.Equal(t, "connects", f[1])
		}
		synctest.Wait()
		for i, text := range []string{s.out.String(), s.errs.String()} {
			for line := range strings.Lines(text) {
				out = append(out, []string{"", "2 "}[i]+strings.TrimRight(line, "\n"))
			}
		}
		s.out.Reset()
		s.errs.Reset()
	}
	out = append(append(out, "-- at the end"), strings.Split(strings.TrimSpace(string(s.AppendSummary(nil))), "\n")...)
	out = append(out, testkit.Brief(t, s.Snapshot(), "schema", "source", "time_ns")...)
	for _, d := range s.Snapshot().Devices {
		row, ok := s.Row("", d.Device)
		require.True(t, ok)
		require.Equal(t, d, row)
		_, ok = s.Row("", d.Device+1<<32)
		require.False(t, ok)
	}
	for conn := range conns {
		_ = conns[conn].Close() // some are closed
	}
	s.shut(t)
	for _, log := range logs {
		out = append(out, fmt.Sprintf("log of %d lines", strings.Count(log.String(), "\n")))
	}
	return out
}

func fewNumber(t *testing.T, text string) (n uint64) {
	t.Helper()
	if text == "-1" { // all devices
		return math.MaxUint64
	}
	_, err := fmt.Sscan(text, &n)
	require.NoError(t, err, text)
	return n
}

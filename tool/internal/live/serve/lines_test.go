package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// Records of three processes on two devices, each with the lines that a server prints about it, as the protocol's server
// and with the process and the bound of a core. -update writes them anew: review the difference.
func TestPrintedLines(t *testing.T) {
	record := func(typ wire.Type, device int32, id, size uint64, kind uint8) wire.Record {
		return wire.Record{Type: typ, Device: device, ID: id, Size: size, Kind: kind}
	}
	steps := []struct {
		pid int32
		r   wire.Record
	}{
		{10, record(wire.TypeCBAlloc, 0, 1<<20, 1<<20, 0)},
		{10, record(wire.TypeCBAlloc, 0, 1<<20, 1<<18, 0)}, // below the first one
		{11, record(wire.TypeCBAlloc, 1, 1<<20, 48, 0)},
		{10, record(wire.TypeCBFree, 0, 1<<20, 1<<18, 0)},
		{10, record(wire.TypeCBFree, 0, 1<<20, 1<<21, 0)},
		{10, record(wire.TypeCBFree, 0, 5, 0, 0)},
		{11, record(wire.TypeKernelLoad, 0, 7, 2048, 1)},
		{11, record(wire.TypeKernelLoad, 0, 8, 3072, 2)},
		{11, record(wire.TypeKernelUnload, 0, 7, 2048, 0)},
		{11, record(wire.TypeKernelUnload, 0, 7, 2048, 0)},
		{10, record(wire.TypeAlloc, 0, 0xff00, 4096, 1)},
		{11, record(wire.TypeAlloc, 0, 0xff00, 4096, 1)},
		{12, record(wire.TypeAlloc, 1, 0xff00, 1<<33, 0)},
		{11, record(wire.TypeFree, 0, 0xff00, 0, 0)},
		{12, record(wire.TypeFree, 1, 0xff00, 0, 0)},
		{12, record(wire.TypeFree, 1, 0xff00, 0, 0)},
		{12, record(wire.TypeAlloc, 1, 0xff00, 0, 0)},
		{12, record(wire.TypeAlloc, 1, 0xff00, 1, 9)},
		{12, record(wire.TypeCBAlloc, 1, 0, 1<<63, 0)},
		{12, record(wire.TypeDumpRemaining, 0, 0, 0, 0)},
		{12, record(wire.TypeDumpKernels, 0, 0, 0, 0)},
		{12, record(wire.TypeResponse, 0, 0, 0, 0)},
	}
	for _, format := range []serve.Format{serve.FormatProtocol, serve.FormatText} {
		var o outputs
		synctest.Test(t, func(t *testing.T) {
			s := newPipedServer(t, serve.Config{Format: format, Dialect: wire.Newest()})
			conns := map[int32]net.Conn{}
			for _, step := range steps {
				if conns[step.pid] == nil {
					conns[step.pid] = s.connect(step.pid)
				}
				send(t, conns[step.pid], wire.Newest(), step.r)
				fmt.Fprintf(&o.text, "-- %d: %v device %d id %#x bytes %d kind %d\n", step.pid, step.r.Type, step.r.Device, step.r.ID, step.r.Size, step.r.Kind)
				o.text.WriteString(s.out.String() + s.errs.String())
				s.out.Reset()
				s.errs.Reset()
			}
			require.NoError(t, conns[10].Close())
			s.kill()
			synctest.Wait()
			s.Sweep()
			s.Statistics()
			o.part("10 is dead", s.out.String()+s.errs.String())
			o.part("the end", string(s.AppendSummary(nil)))
			s.shut(t)
		})
		testkit.Golden(t, *update, "testdata/lines."+string(format)+".golden", o.text.String())
	}
}

// A reader reads lines when the test lets it.
type reader struct {
	may chan struct{} // closed: always
	got bytes.Buffer
}

func (r *reader) Write(b []byte) (int, error) {
	<-r.may
	return r.got.Write(b)
}

// A reader that stops keeps no client waiting: in the lines that it reads in the end, the left-out
// ones are counted at their place.
func TestSlowReader(t *testing.T) {
	for i := range 40 {
		format := []serve.Format{serve.FormatProtocol, serve.FormatJSON}[i%2]
		room := 2000 + 7*(i/2)
		synctest.Test(t, func(t *testing.T) {
			slow := &reader{may: make(chan struct{})}
			s := newPipedServer(t, serve.Config{Format: format, Dialect: wire.Newest(), Waiting: room, Out: slow})
			conn := s.connect(10)
			n := uint64(0)
			say := func(times int) {
				for range times {
					n++
					r := wire.Record{Type: wire.TypeAlloc, ID: n, Size: n}
					if n%2 == 0 { // a longer line: the next one may have room where it has none
						r.ID |= 0xfff << 48
					}
					send(t, conn, wire.Newest(), r)
					synctest.Wait()
				}
			}
			say(100)
			require.Less(t, s.Snapshot().Server.Unprinted, int64(100))
			slow.may <- struct{}{} // the first line
			synctest.Wait()
			slow.may <- struct{}{} // the waiting lines, and the line that counts
			synctest.Wait()
			say(40)
			left := s.Snapshot().Server.Unprinted
			require.Greater(t, left, int64(50))
			require.EqualValues(t, n, ask(t, conn, wire.Newest(), wire.Record{Type: wire.TypeQuery}).DRAM*2/(n+1), "nobody waits")
			require.NoError(t, s.Server.Close())
			select {
			case <-s.Printed():
				t.Fatal("it is not read")
			default:
			}
			close(slow.may)
			synctest.Wait()
			<-s.Printed()
			text := map[serve.Format]string{serve.FormatProtocol: shown.Plural(left, "line"), serve.FormatJSON: strconv.FormatInt(left, 10)}[format]
			said := map[serve.Format]string{serve.FormatProtocol: "\nleft out: %s\n", serve.FormatJSON: `,"lines":%s,`}
			require.Contains(t, string(s.AppendSummary(nil)), fmt.Sprintf(said[format], text))
			next, notes := uint64(1), 0
			for line := range strings.Lines(slow.got.String()) {
				var id, skipped uint64
				switch {
				case format == serve.FormatJSON:
					var row struct{ Bytes, Lines uint64 }
					require.NoError(t, json.Unmarshal([]byte(line), &row))
					id, skipped = row.Bytes, row.Lines
				case strings.HasPrefix(line, "cbl1: "):
					_, err := fmt.Sscanf(strings.ReplaceAll(line, ",", ""), "cbl1: left out as it is read too slowly: %d lines\n", &skipped)
					require.NoError(t, err)
				default:
					_, err := fmt.Sscanf(line, "✓ [PID 10] Allocated %d bytes", &id)
					require.NoError(t, err)
				}
				if skipped > 0 {
					notes++
					next += skipped
					left -= int64(skipped)
					continue
				}
				require.Equal(t, next, id, "in its place")
				next++
			}
			require.Equal(t, n+1, next)
			require.Zero(t, left)
			require.Equal(t, 2, notes)
			s.shut(t)
		})
	}
}

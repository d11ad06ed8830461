package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/live/serve"
	"github.com/cbl1/cbl1/internal/live/wire"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// The printed lines, read back, have the figures of the recorded log. The bytes of a core are the
// same where no CB lies under another one, and else no less.
func TestPrintedIsRecorded(t *testing.T) {
	for _, apart := range []bool{true, false} {
		for _, format := range []serve.Format{serve.FormatSeeds, serve.FormatText} {
			t.Run(fmt.Sprintf("%s, apart %v", format, apart), func(t *testing.T) {
				printed, recorded := printedAndRecorded(t, format, apart)
				lines := end(t, wire.NewLines(strings.NewReader(printed), "printed").Events())
				log := end(t, event.NewLog(strings.NewReader(recorded), "recorded").Events())
				for id := range device.ID(2) {
					a, err := lines.Fleet().Device(id)
					require.NoError(t, err)
					b, err := log.Fleet().Device(id)
					require.NoError(t, err)
					got, want := a.Totals(), b.Totals()
					require.Positive(t, want.Logical)
					require.Positive(t, want.Buffers.L1)
					require.Equal(t, want.Logical, got.Logical)
					require.Equal(t, want.Peak.Logical, got.Peak.Logical)
					require.Equal(t, want.Programs, got.Programs)
					require.Equal(t, want.Buffers, got.Buffers)
					if apart {
						require.Equal(t, want.Core, got.Core)
						require.Equal(t, want.Peak.Core, got.Peak.Core)
					} else {
						require.Greater(t, got.Core, want.Core)
						require.Equal(t, want.Logical, got.Core)
					}
				}
			})
		}
	}
}

// end follows events to their end, where nothing was hidden.
func end(t *testing.T, events func(func(*event.Event, error) bool)) *replay.Session {
	t.Helper()
	s := &replay.Session{}
	for e, err := range events {
		require.NoError(t, err)
		require.NotEqual(t, event.KindHidden, e.Kind, e.Detail)
		require.NoError(t, s.Apply(e))
	}
	return s
}

// printedAndRecorded runs a server with three clients, and one of them dies. It returns the lines
// that the server printed and the log that it recorded.
func printedAndRecorded(t *testing.T, format serve.Format, apart bool) (printed, recorded string) {
	synctest.Test(t, func(t *testing.T) {
		log := &file{}
		s := newShop(t, serve.Config{Format: format, Dialect: wire.Newest(), Record: &serve.Recorder{Open: func() (io.WriteCloser, error) { return log, nil }}})
		random := rand.New(rand.NewPCG(1, 2))
		for _, pid := range []int32{10, 11, 12} {
			conn := s.connect(pid)
			live := map[wire.Record]bool{}
			for i := range uint64(300) {
				r := wire.Record{Type: wire.TypeCBAlloc, Device: int32(i % 2), ID: 1 << 20, Size: 32 * (1 + random.Uint64N(2000))}
				switch i % 5 {
				case 3:
					r.Type, r.Kind, r.ID = wire.TypeAlloc, uint8(random.IntN(5)), i<<8|uint64(pid)
				case 4:
					r.Type, r.Kind, r.ID = wire.TypeKernelLoad, uint8(random.IntN(4)), i<<8|uint64(pid)
				}
				if apart && r.Type == wire.TypeCBAlloc {
					r.ID = uint64(pid)<<26 + i*100_000
				}
				live[r] = true
				send(t, conn, wire.Newest(), r)
				if old := old(live, random); i%3 == 2 {
					delete(live, old)
					old.Type++
					send(t, conn, wire.Newest(), old)
				}
			}
			if pid == 10 && format == serve.FormatText { // lines of kernels and of seeds do not say whose it was
				for r := range live {
					if r.Type == wire.TypeKernelLoad {
						r.Type = wire.TypeKernelUnload
						send(t, conn, wire.Newest(), r)
					}
				}
				require.NoError(t, conn.Close())
				s.kill()
				synctest.Wait()
				s.Sweep()
			}
			s.Statistics()
			time.Sleep(time.Second)
		}
		s.shut(t)
		require.Empty(t, s.errs.String())
		printed, recorded = s.out.String(), log.String()
	})
	return printed, recorded
}

// old returns one of the live allocations, the same in each run.
func old(live map[wire.Record]bool, random *rand.Rand) (out wire.Record) {
	first := true
	at := random.Uint64()
	for r := range live {
		if h := (r.ID ^ r.Size*31) * at; first || h < (out.ID^out.Size*31)*at {
			first, out = false, r
		}
	}
	return out
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
		format := []serve.Format{serve.FormatSeeds, serve.FormatJSON}[i%2]
		room := 2000 + 7*(i/2)
		synctest.Test(t, func(t *testing.T) {
			slow := &reader{may: make(chan struct{})}
			s := newShop(t, serve.Config{Format: format, Dialect: wire.Newest(), Waiting: room, Out: slow})
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
			text := map[serve.Format]string{serve.FormatSeeds: shown.Plural(left, "line"), serve.FormatJSON: strconv.FormatInt(left, 10)}[format]
			said := map[serve.Format]string{serve.FormatSeeds: "\nleft out: %s\n", serve.FormatJSON: `,"lines":%s,`}
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
			if format == serve.FormatSeeds {
				require.Contains(t, codesOf(t, slow.got.String()), wire.CodeLinesMissing)
			}
			s.shut(t)
		})
	}
}

// codesOf returns what lines hide.
func codesOf(t *testing.T, text string) (codes []string) {
	t.Helper()
	for e, err := range wire.NewLines(strings.NewReader(text), "lines").Events() {
		require.NoError(t, err)
		if e.Kind == event.KindHidden {
			codes = append(codes, e.Code)
		}
	}
	return codes
}

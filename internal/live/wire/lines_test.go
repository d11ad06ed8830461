package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/live/wire"
	"github.com/cbl1/cbl1/replay"
)

// printed is a server that prints, and lines that are read back.
type printed struct {
	ledger *wire.Ledger
	pids   bool // lines of CBs have them
	text   bytes.Buffer
	hidden int // effects without a sufficient line
}

func (p *printed) apply(t require.TestingT, o wire.Client, r wire.Record) {
	e, err := p.ledger.Apply(o, int32(o), &r)
	require.NoError(t, err)
	line, _ := e.AppendLine(nil)
	if p.pids && (r.Type == wire.TypeCBAlloc || r.Type == wire.TypeCBFree) && e.What != wire.Refused {
		line = fmt.Appendf(line[:len(line)-1], " [PID %d] at most 5 bytes of a core\n", e.PID)
	}
	if e.What == wire.Unknown || e.What == wire.Refused {
		p.hidden++
	}
	p.text.Write(line)
}

func (p *printed) kill(o wire.Client) {
	p.text.WriteString("\n" + wire.DeadLine)
	p.text.Write(wire.AppendReleased(nil, int32(o), p.ledger.Release(o)))
}

// follow makes a fleet of lines, and counts their statements about themselves.
func follow(t require.TestingT, text string) (*replay.Session, map[string]int64) {
	var s replay.Session
	said := map[string]int64{}
	for e, err := range wire.NewLines(strings.NewReader(text), "log").Events() {
		require.NoError(t, err)
		require.NoError(t, s.Apply(e))
		if e.Kind == event.KindHidden || e.Kind == event.KindAnomaly {
			said[e.Code] += e.Count
		}
	}
	return &s, said
}

// Lines that are read back have the figures of the server that printed them, and say that
// something is missing exactly where the server itself did not know.
func TestLinesReadBack(t *testing.T) { rapid.Check(t, linesReadBack) }

func FuzzLinesReadBack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(linesReadBack)) }

func linesReadBack(t *rapid.T) {
	p := &printed{ledger: wire.NewLedger(), pids: rapid.Bool().Draw(t, "pids")}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		o := wire.Client(rapid.IntRange(1, 3).Draw(t, "owner"))
		r := wire.Record{
			Type:   rapid.SampledFrom([]wire.Type{1, 1, 2, 8, 8, 9, 10, 11}).Draw(t, "type"),
			Device: int32(rapid.IntRange(0, 1).Draw(t, "device")),
			Size:   16 * rapid.SampledFrom([]uint64{0, 1, 2, 3000, 65535, 65536, 100_000, 5 << 20}).Draw(t, "size"),
			Kind:   uint8(rapid.IntRange(0, 5).Draw(t, "kind")),
			ID:     rapid.Uint64Range(1, 4).Draw(t, "id"),
		}
		if p.pids { // a dead process has nothing that lines give to another one
			r.ID += 100 * uint64(o)
			if r.Type >= wire.TypeKernelLoad {
				continue
			}
		}
		if p.pids && rapid.IntRange(0, 9).Draw(t, "dies") == 0 {
			p.kill(o)
		}
		p.apply(t, o, r)
	}
	s, said := follow(t, p.text.String())
	require.EqualValues(t, p.hidden, said[wire.CodeLinesMissing], "%s", p.text.String())
	require.Zero(t, said[wire.CodeOtherLines])
	for _, id := range p.ledger.Devices() {
		requireSame(t, s, id, p.ledger.Totals(id), p.ledger)
	}
	requireSameAsLog(t, p.text.String())
}

// requireSame compares a device of a session with what a server says of it.
func requireSame(t require.TestingT, s *replay.Session, id int32, want wire.Sums, l *wire.Ledger) {
	var empty int
	for lot := range l.Live() {
		if lot.Device == id && lot.Type == wire.TypeCBAlloc && lot.Size == 0 {
			empty++
		}
	}
	d, err := s.Fleet().Device(device.ID(id))
	if want == (wire.Sums{}) && err != nil {
		return // nothing was ever there
	}
	require.NoError(t, err)
	got := d.Totals()
	require.Equal(t, want.CBs, got.Programs+empty)
	require.Equal(t, want.CB, got.Logical)
	require.Equal(t, want.CB, got.Core, "none lies under another one")
	want.Backings, want.Backing = got.Buffers.Backings, got.Buffers.Backing // no line says who shares
	require.Equal(t, want.BufferTotals, got.Buffers)
}

// requireSameAsLog compares the fleet of lines with the fleet of the log of their events.
func requireSameAsLog(t require.TestingT, text string) {
	var log bytes.Buffer
	w := event.NewWriter(&log)
	for e, err := range wire.NewLines(strings.NewReader(text), "log").Events() {
		require.NoError(t, err)
		require.NoError(t, w.Write(e))
	}
	result := func(events iter.Seq2[*event.Event, error]) *replay.Result {
		r, err := replay.Run("log", events, replay.Options{Timeline: true})
		require.NoError(t, err)
		return r
	}
	require.Equal(t, result(event.NewLog(&log, "log").Events()), result(wire.NewLines(strings.NewReader(text), "log").Events()))
}

// A line of a CB that is taken out is missed at the next one of its device.
func TestLinesMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &printed{ledger: wire.NewLedger()}
		var lines []string
		for i := range rapid.IntRange(2, 20).Draw(t, "steps") {
			typ := wire.TypeCBAlloc
			if i%4 == 3 {
				typ = wire.TypeCBFree
			}
			p.text.Reset()
			p.apply(t, 1, wire.Record{Type: typ, Size: uint64(1+i%3) << 10, ID: uint64(i % 3)})
			lines = append(lines, p.text.String())
		}
		_, said := follow(t, strings.Join(lines, ""))
		require.EqualValues(t, p.hidden, said[wire.CodeLinesMissing])
		out := rapid.IntRange(0, len(lines)-2).Draw(t, "out")
		if !strings.HasPrefix(lines[out], "⚠") {
			_, said = follow(t, strings.Join(slices.Delete(lines, out, out+1), ""))
			require.Greater(t, said[wire.CodeLinesMissing], int64(0))
		}
	})
}

// The log of some lines.
func TestLines(t *testing.T) {
	const head = `{"event":"log","version":1}
{"event":"anomaly","code":"every-core","count":1}
`
	const device0 = `{"event":"device","device":0,"spec":{"name":"unknown","cols":1,"rows":1,"l1_size":0,"cb_base":0,"cb_align":0,"l1_align":0,"l1_small":0,"cb_indices":0}}` + "\n"
	buffer := func(id int, more string) string {
		return fmt.Sprintf(`{"event":"allocate","process":"12","buffer":%d,"kind":"dram","name":"0xff","devices":[0],"size":64%s}`+"\n", id, more)
	}
	free := func(id int) string {
		return fmt.Sprintf(`{"event":"free","process":"12","buffer":%d,"devices":[0]}`+"\n", id)
	}
	missing := func(node int, detail, more string) string {
		return fmt.Sprintf(`{"event":"hidden","node":%d,"code":"lines-missing","count":1,"detail":"%s"%s}`+"\n", node, detail, more)
	}
	const on0 = `,"devices":[0]`
	cb := func(id int, size, exact string, at int) string {
		return fmt.Sprintf(`{"event":"program","program":%d,"name":"CB of %s bytes","cbs":[{"cores":"{[0-0 - 0-0]}","size":%s,"address":%d,"synthesised":true}]}`+"\n"+
			`{"event":"register","program":%d,"devices":[0]}`+"\n", id, size, exact, at, id)
	}
	bare := func(node int) string {
		return fmt.Sprintf(`{"event":"anomaly","node":%d,"code":"no-addresses","count":1}`+"\n", node)
	}
	ends := func(id int) string { return fmt.Sprintf(`{"event":"unregister","program":%d,"devices":[0]}`+"\n", id) }
	huge := func(id int, size string) string {
		return fmt.Sprintf(`{"event":"allocate","buffer":%d,"kind":"kernel","name":"Fabric kernel","devices":[0],"size":%s}`+"\n", id, size)
	}
	for _, c := range []struct{ name, lines, want string }{
		{"ids in decimal", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=255)\n✗ [PID 12] Freed buffer 255 on device 0 (64 bytes, FINAL)\n",
			device0 + buffer(1, "") + free(1)},
		{"ids in hex, line ends of Windows", "\xef\xbb\xbf✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\r\n✗ [PID 12] Freed buffer 0xff on device 0 (64 bytes, FINAL)\r\n",
			device0 + buffer(1, "") + free(1)},
		{"references", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\n✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff, ref_count=2)\n" +
			"✗ [PID 12] Freed buffer 0xff on device 0 (64 bytes, ref_count=1 remaining)\n", device0 + buffer(1, "") + buffer(2, `,"backing":true`) + free(2)},
		{"references that are not there", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff, ref_count=3)\n✗ [PID 12] Freed buffer 0xff on device 0 (64 bytes, ref_count=2 remaining)\n" +
			"✗ [PID 12] Freed buffer 0xff on device 0 (64 bytes, FINAL)\n",
			missing(2, "buffer 0xff has 3 references, where lines account for 1", on0) + device0 + buffer(1, "") +
				missing(5, "64 bytes of buffer 0xff are freed to 2 references, where lines account for 1 before", on0) + free(1) +
				missing(7, "64 bytes of buffer 0xff are freed to 0 references, where lines account for 0 before", on0)},
		{"a buffer that is allocated again without a free", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\n✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\n",
			device0 + buffer(1, "") + missing(4, "buffer 0xff has 1 references, where lines account for 2", on0) + free(1) + buffer(2, "")},
		{"a buffer that is not known", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\n⚠ [PID 12] Deallocation for unknown buffer 0xff on device 0 (allocated before tracking started)\n",
			device0 + buffer(1, "") + missing(4, "buffer 0xff was freed that is not known", on0) + free(1)},
		{"a CB", "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n✗ [CB_FREE] Device 0: -0.25 MB (Total: 0 MB)\n",
			bare(2) + device0 + cb(1, "262,144", "262144", 32) + ends(1)},
		{"CBs side by side", "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.5 MB)\n✗ [CB_FREE] Device 0: -0.25 MB (Total: 0.25 MB)\n✓ [CB_ALLOC] Device 0: +0.125 MB (Total: 0.375 MB)\n",
			bare(2) + device0 + cb(1, "262,144", "262144", 32) + cb(2, "262,144", "262144", 262176) + ends(2) + cb(2, "131,072", "131072", 524320)},
		{"allocations from before", "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 21.75 MB)\n✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 22 MB)\n",
			bare(2) + device0 + cb(1, "262,144", "262144", 32) + missing(6, "the total is 22,806,528 bytes, where lines account for 262,144", on0) + cb(2, "262,144", "262144", 262176)},
		{"nothing else lives", "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n✓ [CB_ALLOC] Device 0: +0.125 MB (Total: 0.125 MB)\n",
			bare(2) + device0 + cb(1, "262,144", "262144", 32) + missing(6, "the total says that nothing else lives", on0) + ends(1) + cb(1, "131,072", "131072", 32)},
		{"a free of nothing, and of an unknown CB", "✗ [CB_FREE] Device 0: -0 MB (Total: 0 MB)\n⚠ [CB_FREE] Device 0: unknown CB 0x5 (Total: 0 MB)\n",
			missing(2, "0 bytes of a CB_ALLOC were freed that no line brought", on0) + missing(3, "a CB_ALLOC was freed that is not known", on0)},
		{"a total that has wrapped", "✗ [CB_FREE] Device 0: -0.25 MB (Total: 1.75922e+13 MB)\n✗ [CB_FREE] Device 0: -0 MB (Total: 1.75922e+13 MB)\n",
			missing(2, "262144 bytes of a CB_ALLOC were freed that no line brought", on0) + missing(3, "the total has wrapped", on0) +
				missing(4, "0 bytes of a CB_ALLOC were freed that no line brought", on0)},
		{"a total of 2^63 bytes, less some", "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +4.39805e+12 MB (Total: 4.39805e+12 MB)\n✓ [KERNEL_LOAD] Fabric kernel on Device 0: +4.39804e+12 MB (Total: 8.79609e+12 MB)\n",
			device0 + huge(1, "4611686018427387904") + huge(2, "4611677222334365696") + `{"event":"anomaly","node":2,"code":"rounded","count":2}` + "\n"},
		{"kernels", "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.00195312 MB (Total: 0.00195312 MB)\n✗ [KERNEL_UNLOAD] Fabric kernel on Device 0: -0.00195312 MB (Total: 0 MB)\n",
			device0 + `{"event":"allocate","buffer":1,"kind":"kernel","name":"Fabric kernel","devices":[0],"size":2048}` + "\n" + `{"event":"free","buffer":1,"devices":[0]}` + "\n"},
		{"all of a dead process", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\n✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n" +
			"\n⚠️  Detected dead processes, cleaning up orphaned buffers...\n   PID 12 is dead, removing its buffers...\n   ✓ Removed 1 buffers (6.10352e-05 MB) from PID 12\n   ✓ Removed 1 CBs (0.25 MB) from PID 12\n",
			device0 + buffer(1, "") + bare(4) + cb(1, "262,144", "262144", 32) + leaked(free(1)+ends(1))},
		{"a part of the CBs without process", "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.5 MB)\n   PID 12 is dead, removing its buffers...\n   ✓ Removed 1 CBs (0.25 MB) from PID 12\n",
			bare(2) + device0 + cb(1, "262,144", "262144", 32) + cb(2, "262,144", "262144", 262176) + missing(8, "which 1 of a dead process went", "")},
		{"by process, as our server prints", "✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB) [PID 7] at most 262144 bytes of a core\n✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.5 MB) [PID 12] at most 262144 bytes of a core\n" +
			"   PID 7 is dead, removing its buffers...\n   ✓ Removed 0 buffers (0 MB) from PID 7\n   ✓ Removed 1 CBs (0.25 MB) from PID 7\n",
			bare(2) + device0 + process(cb(1, "262,144", "262144", 32), 7) + process(cb(2, "262,144", "262144", 262176), 12) + leaked(process(ends(1), 7))},
		{"records that the server took no notice of", "⚠️  Invalid device_id 2657333 - ignoring message\n⚠️  Invalid size 0 - ignoring message\n⚠️  Invalid buffer_type 9 for buffer 255 on device 1\n⚠ [PID 9] Invalid buffer_type 9\nUnknown message type: 4\n" +
			"⚠ [CB_FREE] Device 0: 5 bytes of 0x1 are more than live there - ignoring message\n",
			missing(2, "the server took no notice of a record", "") + missing(3, "the server took no notice of a record", "") + missing(4, "the server took no notice of a record", "") +
				missing(5, "the server took no notice of a record", "") + missing(6, "the server took no notice of a record", "") + missing(7, "the server took no notice of a record", "")},
		{"clients that were closed", "⚠️  Too many consecutive errors (10) - closing connection (likely protocol mismatch)\ncbl1: client of process 9 closed after 3 records, its devices are incomplete: record 3\n" +
			"cbl1: client of process 9 closed after 1 record, its devices are incomplete: record 1\n" +
			"device 0: CBs 5 bytes in sum, at most 5 of a core (peak 5); 1 buffer; incomplete\n1 record of 1 client; closed 2 (torn 0)\n",
			strings.Repeat(`{"event":"hidden","node":N,"code":"client-lost","count":1,"detail":"a client was closed; what it was about cannot be told"}`+"\n", 4)},
		{"lines without effect, and other text", "✓ [PID 12] Allocated 64 bytes of DRAM on device 0 (buffer_id=0xff)\n\n📊 Current Statistics:\n  Device 0:\n    Buffers:\n    DRAM: 64 bytes (0.0625 KB)\n    Total: 64 bytes\n  Active allocations: 1\nhello\n" +
			strings.Repeat("x", 200_000) + "\n✓ [PID 12] Alloc", device0 + buffer(1, "") + `{"event":"anomaly","node":4,"code":"torn-line","count":1}` + "\n" + `{"event":"anomaly","node":4,"code":"other-lines","count":2}` + "\n"},
		{"sizes that are rounded", "✓ [CB_ALLOC] Device 0: +1.25 MB (Total: 1.25 MB)\n✓ [CB_ALLOC] Device 0: +1.25004 MB (Total: 2.50003 MB)\n",
			bare(2) + device0 + cb(1, "1,310,720", "1310720", 32) + cb(2, "1,310,760", "1310760", 1310752) + `{"event":"anomaly","node":2,"code":"rounded","count":2}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			w := event.NewWriter(&log)
			at := 2
			for e, err := range wire.NewLines(strings.NewReader(c.lines), "log").Events() {
				require.NoError(t, err)
				if e.Kind == event.KindTorn {
					e = &event.Event{Pos: e.Pos, Node: e.Node, Kind: event.KindAnomaly, Code: "torn-line", Count: 1}
				}
				require.NoError(t, w.Write(e))
			}
			for ; strings.Contains(c.want, ":N,"); at++ {
				c.want = strings.Replace(c.want, ":N,", fmt.Sprintf(":%d,", at), 1)
			}
			require.Equal(t, head+c.want, log.String())
			require.True(t, wire.IsLines([]byte(c.lines)))
		})
	}
}

func process(lines string, pid int) string {
	return strings.NewReplacer(`{"event":"program",`, fmt.Sprintf(`{"event":"program","process":"%d",`, pid), `{"event":"register",`, fmt.Sprintf(`{"event":"register","process":"%d",`, pid),
		`{"event":"unregister",`, fmt.Sprintf(`{"event":"unregister","process":"%d",`, pid)).Replace(lines)
}

func leaked(lines string) string { return strings.ReplaceAll(lines, "}\n", `,"leaked":true}`+"\n") }

func TestIsLines(t *testing.T) {
	for _, no := range []string{
		"", "\n\n", "[]", "{}\n", "✓ [CB_ALLOC] Device 0: +1 MB (Total: 1 MB)", "✓ [CB_ALLOC] Device 0: +x MB (Total: 1 MB)\n", "✓ [CB_ALLOC] Device -1: +1 MB (Total: 1 MB)\n",
		"  Device 0:\n    Total: 5 bytes\n", "✓ [PID 1] Allocated 5 bytes of SRAM on device 0 (buffer_id=0x1)\n", "✓ [PID 1] Allocated 5 bytes of L1 on device 0 (buffer_id=0x1, ref_count=1)\n",
		"✓ [KERNEL_LOAD] Other kernel on Device 0: +1 MB (Total: 1 MB)\n", "   ✓ Removed 1 things (1 MB) from PID 1\n", "✓ [CB_ALLOC] Device 0: +1.75922e+13 MB (Total: 1 MB)\n",
	} {
		require.False(t, wire.IsLines([]byte(no)), "%q", no)
	}
	require.True(t, wire.IsLines([]byte("Server 1.0\n\n✗ [CB_FREE] Device 0: -1 MB (Total: 1.75922e+13 MB)\n✓ [CB")))
}

// The size that is taken is printed as the line has it, and is that which was printed if it
// can be halved as often as any other one that is printed so.
func TestSizesOfLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64Range(0, 1<<21), rapid.Uint64Range(0, 1<<40)).Draw(t, "bytes")
		spelt := strconv.FormatFloat(float64(n)/1024/1024, 'g', 6, 64)
		taken := uint64(math.MaxUint64)
		for e, err := range wire.NewLines(strings.NewReader("✓ [CB_ALLOC] Device 0: +"+spelt+" MB (Total: "+spelt+" MB)\n"), "log").Events() {
			require.NoError(t, err)
			switch {
			case e.Kind == event.KindProgram:
				taken = e.CBs[0].Size
			case e.Kind == event.KindHidden && e.Code == wire.CodeUnplaced:
				_, err := fmt.Sscanf(e.Detail, "CB of %d bytes", &taken)
				require.NoError(t, err)
			}
			require.NotEqual(t, wire.CodeLinesMissing, e.Code)
		}
		if n == 0 {
			require.Equal(t, uint64(math.MaxUint64), taken)
			return
		}
		require.Equal(t, spelt, strconv.FormatFloat(float64(taken)/1024/1024, 'g', 6, 64))
		require.GreaterOrEqual(t, taken&-taken, n&-n)
		if n < 900_000 {
			require.LessOrEqual(t, max(n, taken)-min(n, taken), uint64(1))
		}
	})
}

func TestLinesThatBreakOff(t *testing.T) {
	broken := errors.New("disk on fire")
	var last error
	for _, err := range wire.NewLines(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("hello"))), "run.log").Events() {
		last = err
	}
	require.ErrorIs(t, last, iotest.ErrTimeout)
	for _, err := range wire.NewLines(iotest.ErrReader(broken), "run.log").Events() {
		last = err
	}
	require.ErrorAs(t, last, new(*event.InputError))
	require.ErrorIs(t, last, broken)
	require.Contains(t, last.Error(), "run.log")
}

// FuzzLines: no text panics; a session takes all events, and the events of a converted log are the
// same.
func FuzzLines(f *testing.F) {
	f.Add("✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)\n✗ [CB_FREE] Device 0: -0.25 MB (Total: 1.75922e+13 MB)\n")
	f.Add("✓ [PID 12] Allocated 64 bytes of L1 on device 300 (buffer_id=0xff, ref_count=2)\n✗ [PID 12] Freed buffer 255 on device 300 (64 bytes, FINAL)\n")
	f.Add("✓ [KERNEL_LOAD] Fabric kernel on Device 0: +1e+12 MB (Total: 1 MB)\n   PID 12 is dead, removing its buffers...\n   ✓ Removed 1 kernels (0.25 MB) from PID 12\n")
	f.Add("✓ [CB_ALLOC] Device 1: +8e+12 MB (Total: 8e+12 MB) [PID -1] at most 0 bytes of a core\n✓ [CB_ALLOC] Device 1: +8e+12 MB (Total: 0 MB)\n")
	f.Fuzz(func(t *testing.T, text string) {
		var s replay.Session
		var log bytes.Buffer
		w := event.NewWriter(&log)
		for e, err := range wire.NewLines(strings.NewReader(text), "log").Events() {
			require.NoError(t, err)
			if e.Kind == event.KindTorn {
				return
			}
			_ = s.Apply(e) // sums beyond 2^63-1 are refused
			require.NoError(t, w.Write(e))
		}
		require.NoError(t, s.Fleet().CheckInvariants())
		n, want := 0, strings.Count(log.String(), "\n")
		for _, err := range event.NewLog(&log, "log").Events() {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, want, n)
	})
}

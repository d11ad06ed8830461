package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/live/wire"
	"github.com/cbl1/cbl1/internal/testkit"
)

// Lines of a server, short: an amount is in MB, a process of 0 is not named.
func came(device int64, size, total string) string {
	return fmt.Sprintf("✓ [CB_ALLOC] Device %d: +%s MB (Total: %s MB)\n", device, size, total)
}
func went(device int64, size, total string) string {
	return fmt.Sprintf("✗ [CB_FREE] Device %d: -%s MB (Total: %s MB)\n", device, size, total)
}
func of(pid int64, line string) string {
	return strings.TrimSuffix(line, "\n") + fmt.Sprintf(" [PID %d] at most 5 bytes of a core\n", pid)
}
func loaded(kind, size, total string) string {
	return fmt.Sprintf("✓ [KERNEL_LOAD] %s kernel on Device 0: +%s MB (Total: %s MB)\n", kind, size, total)
}
func unloaded(kind, size, total string) string {
	return fmt.Sprintf("✗ [KERNEL_UNLOAD] %s kernel on Device 0: -%s MB (Total: %s MB)\n", kind, size, total)
}
func allocated(pid, size int64, kind string, device int64, more string) string {
	return fmt.Sprintf("✓ [PID %d] Allocated %d bytes of %s on device %d (buffer_id=0xff%s)\n", pid, size, kind, device, more)
}
func freed(pid, size int64, more string) string {
	return fmt.Sprintf("✗ [PID %d] Freed buffer 0xff on device 0 (%d bytes, %s)\n", pid, size, more)
}
func dead(pid int64, removed ...string) string {
	text := fmt.Sprintf("   PID %d is dead, removing its buffers...\n", pid)
	for _, what := range removed {
		text += fmt.Sprintf("   ✓ Removed %s MB) from PID %d\n", what, pid)
	}
	return text
}

// The events of lines of at most ten, with the place of each. -update writes them anew: review the difference.
func TestSaid(t *testing.T) {
	var got strings.Builder
	for _, c := range []struct{ name, lines string }{
		{"places: other lines, a mark, empty lines, line ends", "\xef\xbb\xbfhello\r\n" + came(0, "1", "1") + "\n" + "hello\n" + came(0, "1", "2") + "hello"},
		{"a line that is too long, and one behind it", strings.Repeat("x", 64<<10) + "\n" + came(0, "1", "1") + strings.Repeat("y", 70<<10) + "\n" + went(0, "1", "0")},
		{"a line of one server, in two dialects", of(7, came(0, "1", "1")) + came(0, "1", "2") + of(7, went(0, "1", "1")) + went(0, "1", "0")},
		{"two devices, two totals", came(0, "1", "1") + came(1, "2", "2") + came(0, "2", "3") + went(1, "2", "0") + went(0, "1", "2")},
		{"one of alike of each process", of(7, came(0, "1", "1")) + of(8, came(0, "1", "2")) + of(8, went(0, "1", "1")) + of(8, went(0, "1", "0"))},
		{"kernels of two kinds and one size", loaded("Fabric", "1", "1") + loaded("Dispatch", "1", "2") + unloaded("Dispatch", "1", "1") + unloaded("Application", "1", "0")},
		{"a total above, and it is said once", came(0, "1", "5") + came(0, "1", "6") + went(0, "1", "5") + came(0, "1", "7")},
		{"a total below, and it is said once", came(0, "1", "1") + came(0, "1", "2") + came(0, "2", "3") + came(0, "1", "4") + went(0, "1", "3")},
		{"a total of nothing, though something lives", came(0, "1", "1") + came(0, "2", "3") + went(0, "1", "0") + came(0, "4", "4")},
		{"a total of one, though something lives; another device stays", came(0, "1", "1") + came(1, "1", "1") + came(0, "2", "2") + came(1, "1", "2")},
		{"a total that wrapped, and does not any more", went(0, "1", "1.75922e+13") + came(0, "1", "1") + came(0, "1", "2")},
		{"a total that may be rounded", came(0, "1.00001", "1.00001") + came(0, "1.00001", "2.00002") + came(0, "1.00001", "3.00006") + went(0, "1.00001", "2.00004")},
		{"rooms that are used again, of as much and of more", came(0, "1", "1") + came(0, "1", "2") + went(0, "1", "1") + came(0, "0.95", "1.95") + came(0, "0.9", "2.85")},
		{"small rooms", came(0, "3.05176e-05", "3.05176e-05") + came(0, "3.14713e-05", "6.19888e-05") + came(0, "0.00012207", "0.000184059")},
		{"a CB as large as all, and one more", came(0, "4095.99", "4095.99") + came(0, "1", "4096.99")},
		{"rooms of two that went, and one more", came(0, "1", "1") + came(0, "1", "2") + came(0, "1", "3") +
			went(0, "1", "2") + went(0, "1", "1") +
			came(0, "1", "2") + came(0, "1", "3") + came(0, "1", "4")},
		{"a total above, twice: the latest difference counts", came(0, "1", "5") + came(0, "1", "9") +
			came(0, "1", "10") + went(0, "1", "1.75922e+13") + came(0, "1", "10")},
		{"a total below the bytes of its line", came(0, "1", "1") + came(0, "2", "1") + came(0, "1", "2")},
		{"a free with a total above", came(0, "1", "1") + came(0, "1", "2") + went(0, "1", "5")},
		{"rounded CBs are freed, and nothing stays uncertain", came(0, "1.00001", "1.00001") +
			came(0, "0.5", "1.50001") + went(0, "1.00001", "0.5") +
			dead(7, "0 buffers (0", "1 CBs (0.500005") + came(0, "0.5", "1.00001")},
		{"a CB of 2^63 bytes, which cannot be, and its free", came(0, "8.79609e+12", "8.79609e+12") +
			went(0, "8.79609e+12", "0")},
		{"nothing else lives: of two processes, of none, and of three sizes", of(8, came(0, "1", "1")) +
			of(7, came(0, "1", "2")) + came(0, "1", "3") + came(0, "2", "5") + came(0, "0.5", "5.5") +
			came(0, "0.25", "0.25")},
		{"nothing else lives: kernels of three kinds", loaded("Dispatch", "1", "1") +
			loaded("Application", "1", "2") + loaded("Fabric", "1", "3") + loaded("Fabric", "2", "2")},
		{"a CB of nothing", came(0, "0", "0") + came(0, "1", "1") + went(0, "0", "1")},
		{"all of a dead process, of no line's process", of(7, came(0, "1", "1")) + came(0, "2", "3") + dead(7, "0 buffers (0", "2 CBs (3")},
		{"a dead process, and all that has none: by bytes", came(1, "2", "2") + came(0, "1", "1") + dead(7, "0 buffers (0", "2 CBs (3")},
		{"a dead process, with fewer bytes", came(1, "2", "2") + came(0, "1", "1") +
			dead(7, "0 buffers (0", "2 CBs (2")},
		{"a dead process, with bytes that were rounded up", came(1, "1.00001", "1.00001") +
			came(0, "1.00001", "1.00001") + dead(7, "0 buffers (0", "2 CBs (2.00003")},
		{"a dead process, with bytes that were rounded down", came(1, "1.00001", "1.00001") +
			came(0, "1.00001", "1.00001") + dead(7, "0 buffers (0", "2 CBs (2.00001")},
		{"a dead process beside live CBs without process, of another process, and kernels",
			of(7, came(0, "1", "1")) + of(8, came(1, "1", "1")) + came(0, "2", "3") + loaded("Fabric", "2", "2") +
				dead(7, "0 buffers (0", "1 CBs (1")},
		{"all CBs that have no process go, and not of another process, nor kernels", of(8, came(1, "1", "1")) +
			came(0, "2", "2") + loaded("Fabric", "2", "2") + dead(7, "0 buffers (0", "1 CBs (2")},
		{"a dead process, with other bytes", came(1, "2", "2") + came(0, "1", "1") + dead(7, "0 buffers (0", "2 CBs (4")},
		{"a dead process with more than lines account for", allocated(7, 64, "L1", 0, "") + dead(7, "2 buffers (0.1", "1 CBs (1", "1 kernels (1")},
		{"no process is dead", allocated(0, 64, "L1", 0, "") + dead(0, "1 buffers (0.1")},
		{"a process that returns after its death", of(7, came(1, "1", "1")) +
			dead(7, "0 buffers (0", "1 CBs (1") + of(7, came(1, "1", "1")) + of(7, went(1, "1", "0")) +
			of(7, went(1, "1", "0"))},
		{"a dead process, and the last CBs without process", came(0, "1", "1") + came(0, "1", "2") + went(0, "1", "1") + dead(7, "0 buffers (0", "1 CBs (1")},
		{"sizes of more digits than a server prints", came(0, "1.23456789", "1.23456789") + went(0, "1.23456789", "0")},
		{"a CB beyond all, twice", came(0, "4095.99", "4095.99") + went(0, "4095.99", "0") + came(0, "4095.99", "4095.99")},
		{"kernels of a dead process", loaded("Fabric", "1", "1") + loaded("Unknown", "2", "3") + dead(7, "0 buffers (0", "2 kernels (3")},
		{"references of two processes", allocated(7, 64, "L1", 0, "") + allocated(8, 64, "L1", 0, ", ref_count=2") + freed(7, 64, "ref_count=1 remaining") + freed(8, 64, "FINAL")},
		{"a free of other bytes, and too many references", allocated(7, 64, "DRAM", 0, "") + freed(7, 65, "ref_count=1 remaining") + freed(7, 64, "FINAL")},
		{"a last free of other bytes", allocated(7, 64, "DRAM", 0, "") + freed(7, 65, "FINAL")},
		{"a last free while others live", allocated(7, 64, "TRACE", 0, "") + allocated(8, 64, "TRACE", 0, ", ref_count=2") + allocated(7, 64, "TRACE", 0, ", ref_count=3") + freed(7, 64, "FINAL")},
		{"a device beyond 255, and the last one", allocated(7, 64, "L1_SMALL", 256, "") + allocated(7, 64, "SYSTEM_MEMORY", 1<<31-1, "") + allocated(7, 64, "L1", 1<<31, "")},
		{"buffers that cannot be", allocated(7, 0, "L1", 0, "") + allocated(7, 107374182401, "L1", 0, "")},
		{"frees of unknown ids", "⚠ [CB_FREE] Device 3: unknown CB 0x1 (Total: 1 MB)\n⚠ [KERNEL_UNLOAD] Device 3: unknown kernel 0x1 (Total: 1 MB)\n" +
			"⚠ [PID 9] Deallocation for unknown buffer 255 on device 4 (allocated before tracking started)\n" + unloaded("Fabric", "1", "0")},
		{"lines that were left out", "cbl1: left out, as it is read too slowly: 3 lines\ncbl1: left out, as it could not be written: 1 line\nleft out: 2 lines\nnot recorded: 5 events\ncbl1: listening on x\n"},
		{"lists and summaries", "\nRemaining allocations:\nLoaded kernels:\n  none\nodd: size 5\n1 record of 1 client; closed 0 (torn 0)\ndevice 0: CBs 5 bytes in sum, rest\n    L1: 5 bytes (1 KB)\n  Active allocations: 0\n"},
	} {
		fmt.Fprintf(&got, "== %s\n", c.name)
		for e, err := range wire.NewLines(strings.NewReader(c.lines), "log").Events() {
			require.NoError(t, err)
			if e.Kind == event.KindTorn {
				fmt.Fprintf(&got, "%d/%d/%d: torn\n", e.Pos.Line, e.Pos.Offset, e.Pos.Node)
				continue
			}
			var log bytes.Buffer
			w := event.NewWriter(&log)
			require.NoError(t, w.Write(&event.Event{Kind: event.KindHeader}))
			require.NoError(t, w.Write(e))
			_, line, _ := strings.Cut(log.String(), "\n")
			if !strings.Contains(line, `"event":"device"`) && e.Kind != event.KindHeader {
				fmt.Fprintf(&got, "%d/%d/%d: %s", e.Pos.Line, e.Pos.Offset, e.Pos.Node, line)
			}
		}
	}
	testkit.Golden(t, *update, "testdata/said.golden", got.String())
}

// An error of whatever lines come from says where they were read to.
func TestLinesErrorSaysWhere(t *testing.T) {
	line := came(0, "1", "1")
	in := io.MultiReader(strings.NewReader(line+line), iotest.ErrReader(errors.New("disk on fire")))
	var last error
	for _, err := range wire.NewLines(in, "run.log").Events() {
		last = err
	}
	wrong, ok := errors.AsType[*event.InputError](last)
	require.True(t, ok)
	require.EqualError(t, wrong.Err, "disk on fire")
	require.Equal(t, event.InputError{File: "run.log", Offset: int64(2 * len(line)), Line: 3, Node: -1, Reason: "cannot read on: disk on fire", Err: wrong.Err}, *wrong)
}

// A consumer that stops gets no more events.
func TestLinesStop(t *testing.T) {
	for most := range 5 {
		n := 0
		for _, err := range wire.NewLines(strings.NewReader(came(0, "1", "1")+came(0, "1", "2")), "log").Events() {
			require.NoError(t, err)
			if n++; n > most {
				break
			}
		}
		require.Equal(t, most+1, n)
	}
}

// Each field of a line has a limit: on one side of it the line is a server's, on the other it is not.
func TestLimitsOfLines(t *testing.T) {
	for line, is := range map[string]bool{
		came(0, "8796093022207", "1"): true, came(0, "8796093022208", "1"): false, came(0, "-1", "1"): false, came(0, "-0", "1"): true,
		came(0, "NaN", "1"): false, came(0, "1", "NaN"): true, came(0, "1e-3", "1"): true, came(0, "", "1"): false,
		came(1<<31-1, "1", "1"): true, came(1<<31, "1", "1"): false, came(-1, "1", "1"): false,
		of(1<<31-1, came(0, "1", "1")): true, of(1<<31, came(0, "1", "1")): false, of(-1<<31, came(0, "1", "1")): true,
		allocated(1, 1, "TRACE", 0, ""): true, allocated(1, 1, "SRAM", 0, ""): false, allocated(1, -1, "L1", 0, ""): false,
		allocated(1, 1, "L1", 0, ", ref_count=2"): true, allocated(1, 1, "L1", 0, ", ref_count=1"): false,
		allocated(1, 1, "L1", 0, ", ref_count=2147483647"): true, allocated(1, 1, "L1", 0, ", ref_count=2147483648"): false,
		freed(1, 1, "ref_count=1 remaining"): true, freed(1, 1, "ref_count=0 remaining"): false, freed(1, 1, "ref_count=2147483648 remaining"): false,
		loaded("Unknown", "1", "1"): true, loaded("Other", "1", "1"): false,
		dead(1, "2147483647 CBs (1"): true, dead(1): true, dead(1 << 31): false,
		"   ✓ Removed 2147483648 CBs (1 MB) from PID 1\n": false, "   ✓ Removed 1 CBs (-1 MB) from PID 1\n": false, "   ✓ Removed 1 CBs (1 MB) from PID x\n": false,
		"   ✓ Removed 1 kernels (1 MB) from PID 1\n": true, "   ✓ Removed 1 buffers (1 MB) from PID 1\n": true, "   ✓ Removed 1 things (1 MB) from PID 1\n": false,
		"✓ [PID 1] Allocated 1 bytes of L1 on device 0 (buffer_id=18446744073709551615)\n": true, "✓ [PID 1] Allocated 1 bytes of L1 on device 0 (buffer_id=18446744073709551616)\n": false,
		"✓ [PID 1] Allocated 1 bytes of L1 on device 0 (buffer_id=ff)\n": false, "⚠ [CB_FREE] Device x: unknown CB 0x1 (Total: 1 MB)\n": false,
		"⚠ [PID x] Deallocation for unknown buffer 0x1 on device 0 (allocated before tracking started)\n": false,
		"✗ [PID x] Freed buffer 0x1 on device 0 (1 bytes, FINAL)\n":                                       false, "✓ [PID x] Allocated 1 bytes of L1 on device 0 (buffer_id=0x1)\n": false,
	} {
		require.Equal(t, is, wire.IsLines([]byte(line)), line)
	}
}

// Every reason why bytes are no record, with the record, the byte and the value.
func TestReaderErrors(t *testing.T) {
	d := wire.Newest()
	good := stream(t, d, wire.Record{Type: wire.TypeAlloc, Size: 1})
	bad := func(at int, value byte) []byte {
		b := bytes.Clone(good)
		b[at] = value
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
		as   wire.Dialect
		want string
	}{
		{"a type", bad(0, 13), d, "record 1, byte 144: type: 13 is none of 1 to 12"},
		{"a type of nothing", bad(0, 0), d, "record 1, byte 144: type: 0 is none of 1 to 12"},
		{"padding", bad(2, 3), d, "record 1, byte 144: pad1: 768 is not zero"},
		{"padding behind the kind", bad(17, 1), d, "record 1, byte 144: pad2: 1 is not zero"},
		{"the first byte behind the head", bad(40, 1), d, "record 1, byte 144: byte 40 of it is not zero, as every one of a request is"},
		{"the last byte", bad(143, 1), d, "record 1, byte 144: byte 143 of it is not zero, as every one of a request is"},
		{"an end inside", good[:143], d, "record 1, byte 144: record: 143 bytes of it came before the end"},
		{"an end", nil, d, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := wire.NewReader(bytes.NewReader(append(bytes.Clone(good), c.in...)), c.as)
			got, err := readAll(r)
			require.Len(t, got, 1)
			require.EqualError(t, err, c.want)
			require.EqualError(t, r.Next(new(wire.Record)), c.want, "and nothing more")
			require.EqualValues(t, 1, r.Records())
			require.EqualValues(t, 144, r.Offset())
		})
	}
	response := stream(t, d, wire.Record{Type: wire.TypeResponse, DRAM: 1})
	_, err := readAll(wire.NewReader(bytes.NewReader(response), d))
	require.ErrorIs(t, err, io.EOF, "an answer may have more than a head")
	_, err = readAll(wire.NewReader(bytes.NewReader(response), wire.Dialect{}))
	require.EqualError(t, err, "record 0, byte 0: type: 4 is an answer, and no request")
	_, err = readAll(wire.NewReader(bytes.NewReader(bad(143, 1)), wire.Dialect{}))
	require.EqualError(t, err, "record 0, byte 0: byte 143 of it is not zero, as every one of a first record is: say which dialect it is")
	_, err = readAll(wire.NewReader(bytes.NewReader(good[:39]), wire.Dialect{}))
	require.EqualError(t, err, "record 0, byte 0: record: 39 bytes of it came before the end")

	var rec wire.Record
	require.EqualError(t, d.Decode(append(good[:140:140], 5, 0, 0, 0), &rec), "record 0, byte 0: pad3: 5 is not zero")
	require.EqualError(t, d.Decode(good[:143], &rec), "record 0, byte 0: record: 143 has fewer than 144 bytes")
	_, err = wire.Dialect{Size: 72, Types: 4}.Append(nil, &wire.Record{Type: 5})
	require.EqualError(t, err, "record 0, byte 0: type: 5 is not known to the dialect 72/4")
	_, err = wire.ParseDialect("\x1b" + strings.Repeat("x", 100))
	require.Regexp(t, `^dialect \\x1bx{5,59}.*: want auto, 72, 112, 128 or 144, or one of 72/4, 72/5, 112/7, 128/11, 144/11, 144/12$`, err.Error())
	require.EqualError(t, &wire.RecordError{Record: 5, Offset: 6, Reason: "why", Err: errors.New("cause")}, "record 5, byte 6: why: cause")
	require.EqualError(t, &wire.DeviceError{Type: wire.TypeFree, Device: 300, PID: 7},
		"FREE names device 300, not one of 0 to 255 and not declared: perhaps a process id, if records have another size than the recognised one")
	require.EqualError(t, &wire.DeviceError{Type: wire.TypeFree, Device: 300, PID: 300},
		"FREE names device 300, which is the id of the sender's process: its records have another size than the recognised one")
}

// A stream that has ended inside a record returns its type and device, if the device has come.
func TestTorn(t *testing.T) {
	whole := stream(t, wire.Newest(), wire.Record{Type: wire.TypeCBFree, Device: 1<<24 + 5})
	for n, want := range map[int]bool{0: false, 7: false, 8: true, 143: true} {
		r := wire.NewReader(bytes.NewReader(whole[:n]), wire.Newest())
		_, err := readAll(r)
		require.ErrorIs(t, err, map[bool]error{true: io.EOF, false: io.ErrUnexpectedEOF}[n == 0])
		half, ok := r.Torn()
		require.Equal(t, want, ok, n)
		if ok {
			require.Equal(t, wire.Record{Type: wire.TypeCBFree, Device: 1<<24 + 5}, half)
		}
	}
}

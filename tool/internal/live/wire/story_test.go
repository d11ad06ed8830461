package wire_test

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

// A step is a record of an owner, or without a Type the owner's death.
type step struct {
	owner wire.Client
	wire.Record
}

func alloc(o wire.Client, id, size uint64, kind uint8) step {
	return step{o, wire.Record{Type: wire.TypeAlloc, ID: id, Size: size, Kind: kind, Time: 7}}
}
func free(o wire.Client, id uint64) step { return step{o, wire.Record{Type: wire.TypeFree, ID: id}} }
func cbAlloc(o wire.Client, id, size uint64) step {
	return step{o, wire.Record{Type: wire.TypeCBAlloc, ID: id, Size: size, Time: 8, DRAM: 5}}
}
func cbFree(o wire.Client, id, size uint64) step {
	return step{o, wire.Record{Type: wire.TypeCBFree, ID: id, Size: size}}
}
func load(o wire.Client, id, size uint64, kind uint8) step {
	return step{o, wire.Record{Type: wire.TypeKernelLoad, ID: id, Size: size, Kind: kind}}
}
func unload(o wire.Client, id, size uint64) step {
	return step{o, wire.Record{Type: wire.TypeKernelUnload, ID: id, Size: size}}
}
func dies(o wire.Client) step { return step{owner: o} }

func (s step) on(device int32) step { s.Device = device; return s }

// A story is one history as a ledger, as lines, and as the events of a Translator.
type story struct {
	ledger *wire.Ledger
	teller wire.Translator
	out    bytes.Buffer
}

func lotOf(l *wire.Lot) string {
	text := fmt.Sprintf("lot %d: %v 0x%x on %d, %d bytes, kind %d, owner %d, pid %d, time %d", l.Serial, l.Type, l.ID, l.Device, l.Size, l.Kind, l.Owner, l.PID, l.Time)
	if l.Backing {
		text += ", backing"
	}
	if l.Shared {
		text += ", shared"
	}
	return text
}

func (s *story) effect(t *testing.T, e *wire.Effect) {
	fmt.Fprintf(&s.out, "%s %v device %d id 0x%x pid %d owner %d bytes %d kind %d refs %d total %d", e.What, e.Type, e.Device, e.ID, e.PID, e.Owner, e.Bytes, e.Kind, e.Refs, e.Total)
	fmt.Fprintf(&s.out, " odd %q wrapped %t leaked %t\n", e.Odd, e.Wrapped, e.Leaked)
	for _, lot := range []*wire.Lot{&e.Lot, &e.Heir} {
		if *lot != (wire.Lot{}) {
			fmt.Fprintf(&s.out, "  %s\n", lotOf(lot))
		}
	}
	line, toErr := e.AppendLine([]byte("  "))
	if len(line) > 2 {
		fmt.Fprintf(&s.out, "%s", strings.Replace(string(line), "  ", map[bool]string{false: "  1 ", true: "  2 "}[toErr], 1))
	}
	s.events(t, s.teller.Tell(e)...)
}

func (s *story) events(t *testing.T, events ...event.Event) {
	for _, e := range events {
		var log bytes.Buffer
		w := event.NewWriter(&log)
		require.NoError(t, w.Write(&event.Event{Kind: event.KindHeader}))
		require.NoError(t, w.Write(&e))
		for _, line := range testkit.Short(log.String()) {
			fmt.Fprintf(&s.out, "  %s\n", line)
		}
	}
}

func (s *story) tell(t *testing.T, step step) {
	if step.Type == 0 {
		released := s.ledger.Release(step.owner)
		s.out.Write(wire.AppendReleased(nil, 40+int32(step.owner), released))
		for i := range released {
			s.effect(t, &released[i])
		}
		return
	}
	e, err := s.ledger.Apply(step.owner, 40+int32(step.owner), &step.Record)
	s.effect(t, &e)
	if err != nil {
		fmt.Fprintf(&s.out, "  error: %v\n", err)
	}
}

// kindsOf returns the bytes of some kernels by their kinds.
func kindsOf(lots []wire.Lot, of func(wire.Lot) bool) (bytes [4]uint64) {
	for _, lot := range lots {
		if of(lot) {
			bytes[min(lot.Kind, 3)] += lot.Size
		}
	}
	return bytes
}

func totalsText(t wire.Sums, kernels [4]uint64) string {
	return fmt.Sprintf("{Buffers:%d DRAM:%d L1:%d System:%d L1Small:%d Trace:%d Backings:%d Backing:%d CBs:%d CB:%d Kernels:%d Kernel:%v}",
		t.Buffers(), t.DRAM, t.L1, t.System, t.L1Small, t.Trace, t.Backings, t.Backing, t.CBs, t.CB, t.Loaded, kernels)
}

// end prints the remaining lots.
func (s *story) end() {
	for _, a := range wire.Oddities() {
		if n := s.ledger.Anomalies()[a]; n > 0 {
			fmt.Fprintf(&s.out, "%s: %d\n", a, n)
		}
	}
	fmt.Fprintf(&s.out, "%d live\n", s.ledger.Len())
	for lot := range s.ledger.Live() {
		fmt.Fprintf(&s.out, "  %s\n", lotOf(&lot))
	}
	for _, id := range s.ledger.Devices() {
		t := s.ledger.Totals(id)
		live := slices.Collect(s.ledger.Live(wire.TypeKernelLoad))
		kernels := kindsOf(live, func(lot wire.Lot) bool { return lot.Device == id })
		fmt.Fprintf(&s.out, "device %d: %s, all buffers %d, all kernels %d\n", id, totalsText(t, kernels), t.BufferBytes(), t.Kernels)
		for o := range wire.Client(4) {
			if n := s.ledger.LenOf(o); n > 0 {
				kernels := kindsOf(live, func(lot wire.Lot) bool { return lot.Device == id && lot.Owner == o })
				fmt.Fprintf(&s.out, "  owner %d of %d: %s\n", o, n, totalsText(s.ledger.TotalsOf(o, id)[id], kernels))
			}
		}
	}
	for _, id := range []int32{0, 1, 7, 8, 20, 21} {
		if t := s.ledger.On(id); t != s.ledger.Totals(id) {
			fmt.Fprintf(&s.out, "on device %d: CBs %d, bytes %d, kernels %d, bytes %d\n", id, t.CBs, t.CB, t.Loaded, t.Kernels)
		}
	}
	s.out.Write(s.ledger.AppendStatistics(nil))
}

// Hand-made records, and all that a ledger, a server and a recording say of them. -update writes
// them anew: review the difference.
func TestStories(t *testing.T) {
	const all63 = 1<<63 - 1
	var many []step
	for i := range uint64(17) {
		many = append(many, cbAlloc(wire.Client(1+i%2), 32, 64*(1+i%3)))
	}
	first := story{ledger: wire.NewLedger()}
	first.teller.T = "9"
	first.events(t, first.teller.Header()...)
	got := first.out.String()
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"a buffer of each kind", []step{alloc(1, 32, 1, 0), alloc(1, 48, 2, 1), alloc(1, 64, 3, 2), alloc(1, 80, 4, 3), alloc(1, 96, 5, 4), alloc(1, 112, 6, 5), free(1, 64)}},
		{"one process twice at an address", []step{alloc(1, 32, 16, 1), alloc(1, 32, 16, 1), free(1, 32), free(1, 32), free(1, 32), free(1, 33)}},
		{"again with another size, and another kind", []step{alloc(1, 32, 16, 1), alloc(1, 32, 8, 1), alloc(1, 32, 16, 0), alloc(1, 32, 16, 1)}},
		{"two processes at an address, the first dies", []step{alloc(1, 32, 16, 1), alloc(2, 32, 16, 1), alloc(2, 32, 16, 1), dies(1), dies(2), dies(2)}},
		{"two processes at an address, the second dies", []step{alloc(1, 32, 16, 1), alloc(2, 32, 16, 1), dies(2), free(2, 32)}},
		{"a free of an id that another process has as well", []step{alloc(1, 32, 16, 1), alloc(2, 32, 16, 1), free(1, 32), free(1, 32)}},
		{"CBs at one address, of two processes and sizes", []step{
			cbAlloc(1, 32, 64), cbAlloc(2, 32, 128), cbAlloc(1, 32, 128), cbFree(1, 32, 64), cbFree(1, 32, 0), cbFree(1, 32, 0), cbFree(1, 32, 1),
		}},
		{"a free of fewer bytes, of more, of more than all", []step{cbAlloc(1, 32, 64), cbAlloc(1, 64, 64), cbFree(1, 32, 63), cbFree(1, 64, 65), cbFree(1, 64, 64), cbFree(1, 96, 0), cbFree(1, 96, 1)}},
		{"a CB of no bytes, and CBs that end at and beyond 2^32-1", []step{
			cbAlloc(1, 32, 0), cbAlloc(1, 1<<32-65, 64), cbAlloc(1, 1<<32-64, 64), cbAlloc(1, 1<<32-1, 0), dies(1),
		}},
		{"L1 buffers that begin at 2^32-1 and beyond", []step{alloc(1, 1<<32-1, 16, 1), alloc(1, 1<<32, 16, 1), alloc(1, 1<<33, 16, 0), alloc(1, 1<<32, 16, 1), dies(1)}},
		{"kernels", []step{load(1, 1, 10, 0), load(1, 2, 20, 1), load(1, 3, 30, 2), load(1, 4, 40, 3), load(1, 5, 50, 200), unload(2, 2, 20), unload(1, 9, 0), unload(1, 3, 31), dies(1)}},
		{"frees by size: of a buffer, which has none, and of CBs of no bytes", []step{
			alloc(1, 32, 16, 1), alloc(1, 32, 8, 1), alloc(1, 32, 16, 1), {1, wire.Record{Type: wire.TypeFree, ID: 32, Size: 8}},
			cbAlloc(1, 64, 0), cbAlloc(1, 64, 64), cbFree(1, 64, 0), cbAlloc(2, 96, 0), cbAlloc(2, 96, 64), cbFree(1, 96, 0),
		}},
		{"two devices, and a death", []step{alloc(1, 32, 16, 1).on(1), cbAlloc(1, 32, 64).on(1), load(1, 32, 8, 0).on(2), alloc(1, 32, 16, 1), dies(1)}},
		{"the process id in place of a device", []step{alloc(301, 32, 1, 0).on(341), alloc(301, 32, 1, 0).on(342)}},
		{"devices that can be, and cannot", []step{
			alloc(1, 32, 1, 0).on(255), alloc(1, 32, 1, 0).on(256), alloc(1, 32, 1, 0).on(-1), alloc(1, 32, 1, 0).on(41), free(1, 32).on(300),
		}},
		{"a mesh: all under its id backs other buffers", []step{alloc(1, 32, 16, 1).on(400), alloc(1, 32, 16, 1).on(400), alloc(2, 32, 16, 1).on(400), free(1, 32).on(400), cbAlloc(1, 32, 64).on(400), load(1, 1, 5, 1).on(400)}},
		{"a mesh with the id of its first chip: buffers are the chip's, CBs and kernels are all chips'", []step{
			alloc(1, 32, 16, 1).on(7), cbAlloc(1, 32, 64).on(7), cbAlloc(1, 32, 64).on(8), load(1, 1, 5, 1).on(7), cbFree(1, 32, 64).on(8), dies(1),
		}},
		{"CBs of a mesh of two boards, one of them beyond L1", []step{cbAlloc(1, 32, 64).on(401), cbAlloc(1, 1<<32, 64).on(401), cbFree(1, 32, 64).on(401), cbAlloc(1, 32, 64).on(401), dies(1)}},
		{"sums over the chips of a mesh up to 2^63-1", []step{cbAlloc(1, 32, 1<<62).on(400), cbAlloc(1, 32, 1<<62-1).on(400), cbAlloc(1, 48, 1).on(0), cbAlloc(1, 64, 1).on(0), cbFree(1, 32, 0).on(400), cbAlloc(1, 64, 1).on(0)}},
		{"buffers of no bytes, of 100 GiB, of more", []step{alloc(1, 32, 0, 0), alloc(1, 32, 100<<30, 0), alloc(1, 48, 100<<30+1, 0)}},
		{"sums up to 2^63-1", []step{cbAlloc(1, 32, all63), cbAlloc(1, 32, 1), load(1, 1, 0, 1), load(1, 1, 1, 1), alloc(1, 32, 1, 0), cbAlloc(1, 32, 1).on(1), cbFree(1, 32, all63)}},
		{"sums of all kinds up to 2^63-1", []step{alloc(1, 32, 100<<30, 0), alloc(1, 32, 100<<30, 0), load(1, 1, 7, 1), cbAlloc(1, 32, all63-200<<30-7), cbAlloc(1, 64, 1), cbFree(1, 32, 0), cbAlloc(1, 32, all63-200<<30-6)}},
		{"queries", []step{{1, wire.Record{Type: wire.TypeQuery, Device: -5}}, {1, wire.Record{Type: wire.TypeDumpKernels}}, {1, wire.Record{Type: wire.TypeResponse}}, {1, wire.Record{Type: 13}}}},
		{"seventeen CBs under one address", append(many, cbFree(2, 32, 192), cbFree(2, 32, 0), cbFree(3, 32, 128), cbFree(3, 32, 64), cbFree(2, 32, 64), cbFree(3, 32, 0), cbFree(1, 32, 65), dies(1))},
	} {
		s := story{ledger: wire.NewLedger()}
		s.teller.T = "9"
		for id, chips := range map[int32][]int32{400: {0, 1}, 401: {20, 21}, 7: {7, 8}} {
			if !strings.Contains(c.name, "mesh") {
				break
			}
			s.ledger.Declare(id, chips...)
			s.teller.Declare(wire.DeclaredDevice{ID: id, Chips: chips})
		}
		s.teller.Declare(wire.DeclaredDevice{ID: 21, Spec: l1.N150()})
		for _, step := range c.steps {
			s.tell(t, step)
		}
		s.end()
		got += "== " + c.name + "\n" + s.out.String()
	}
	testkit.Golden(t, *update, "testdata/stories.golden", got)
}

// Live lots come in the order of their records: of some types, or of one owner alone.
func TestLive(t *testing.T) {
	l := wire.NewLedger()
	for _, s := range []step{load(1, 1, 5, 0), alloc(2, 32, 16, 1), cbAlloc(1, 32, 64), alloc(1, 32, 16, 1), cbAlloc(2, 32, 64), load(2, 9, 5, 0)} {
		_, err := l.Apply(s.owner, 5, &s.Record)
		require.NoError(t, err)
	}
	serials := func(lots func(func(wire.Lot) bool)) (out []uint64) {
		for lot := range lots {
			out = append(out, lot.Serial)
		}
		return out
	}
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6}, serials(l.Live()))
	require.Equal(t, []uint64{2, 3, 4, 5}, serials(l.Live(wire.TypeCBAlloc, wire.TypeAlloc)))
	require.Equal(t, []uint64{1, 6}, serials(l.Live(wire.TypeKernelLoad)))
	for lot := range l.Live() {
		require.EqualValues(t, 1, lot.Serial)
		break
	}
}

// A declared device keeps its name and its DRAM; a mesh is called one, once.
func TestDeclare(t *testing.T) {
	for name, want := range map[string]string{"": "mesh", "n150": "mesh n150", "mesh": "mesh"} {
		var teller wire.Translator
		d := wire.DeclaredDevice{ID: 3, Chips: []int32{1}, DRAM: 9}
		d.Spec.Name = name
		e := teller.Declare(d)[0]
		require.Equal(t, event.RoleMesh, e.Role)
		require.Equal(t, []device.ID{1}, e.Chips)
		require.Equal(t, want, e.Spec.Name)
		require.EqualValues(t, 9, e.DRAM)
		d.Chips = []int32{3, 4}
		require.Empty(t, teller.Declare(d), "its device is its first chip")
		teller = wire.Translator{}
		d.Chips = nil
		require.Equal(t, name, teller.Declare(d)[0].Spec.Name)
		d.Spec.Cols, d.Spec.Rows = 3, 2
		teller.Declare(d)
		told := teller.Came(&wire.Lot{Type: wire.TypeCBAlloc, Device: 3, ID: 32, Size: 8})
		require.Equal(t, "{[0-0 - 2-1]}", told[0].CBs[0].Cores.String(), "the latest counts")
	}
}

// Names of the values of records, for each number.
func TestNames(t *testing.T) {
	var types, buffers, kernels []string
	for n := range uint8(14) {
		types = append(types, wire.Type(n).String())
	}
	require.Equal(t, []string{
		"type 0", "ALLOC", "FREE", "QUERY", "RESPONSE", "DUMP_REMAINING", "DEVICE_INFO_QUERY", "DEVICE_INFO_RESPONSE",
		"CB_ALLOC", "CB_FREE", "KERNEL_LOAD", "KERNEL_UNLOAD", "DUMP_KERNELS", "type 13",
	}, types)
	for n := range uint8(6) {
		buffers, kernels = append(buffers, wire.BufferKind(n)), append(kernels, wire.KernelKind(n))
	}
	require.Equal(t, []string{"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE", "type 5"}, buffers)
	require.Equal(t, []string{"Application", "Fabric", "Dispatch", "Unknown", "Unknown", "Unknown"}, kernels)
	require.Equal(t, "auto", wire.Dialect{}.String())
	_, err := wire.Dialect{Size: 72, Types: 6}.Append(nil, &wire.Record{Type: 1})
	require.ErrorContains(t, err, "dialect 72/6: want auto")
	require.EqualError(t, &wire.RecordError{Record: 1, Offset: 2, Reason: "x"}, "record 1, byte 2: x")
	_, err = readAll(wire.NewReader(bytes.NewReader(append([]byte{byte(wire.TypeDeviceInfo)}, make([]byte, 143)...)), wire.Dialect{}))
	require.ErrorIs(t, err, wire.ErrUnrecognised)
	require.False(t, wire.Newest().Knows(0))
	require.True(t, wire.Newest().Knows(12))
	require.False(t, wire.Newest().Knows(13))
}

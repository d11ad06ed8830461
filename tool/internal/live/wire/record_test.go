package wire_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// golden is the start of a CB_ALLOC of the newest client; the bytes behind are zero.
const golden = `
	08 00 00 00 03 00 00 00  00 00 04 00 00 00 00 00
	00 00 00 00 92 10 00 00  00 90 01 00 00 00 00 00
	00 00 2a 36 fe 9c 97 17`

func goldenBytes(t *testing.T, size int) []byte {
	t.Helper()
	head, err := hex.DecodeString(strings.Join(strings.Fields(golden), ""))
	require.NoError(t, err)
	return append(head, make([]byte, size-len(head))...)
}

var goldenRecord = wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 262144, PID: 4242, ID: 0x19000, Time: 1700000000000000000}

func TestGolden(t *testing.T) {
	for _, size := range []int{128, 144} {
		d, err := wire.ParseDialect(map[int]string{128: "128", 144: "144"}[size])
		require.NoError(t, err)
		b, err := d.Append(nil, &goldenRecord)
		require.NoError(t, err)
		require.Equal(t, goldenBytes(t, size), b)
		var r wire.Record
		require.NoError(t, d.Decode(b, &r))
		require.Equal(t, goldenRecord, r)
	}
}

// layout is the table of A.3: where each field stands, by size of the record; -1: nowhere.
var layout = []struct {
	field string
	bytes int
	at    map[int]int
}{
	{"Type", 1, map[int]int{72: 0, 112: 0, 128: 0, 144: 0}},
	{"Device", 4, map[int]int{72: 4, 112: 4, 128: 4, 144: 4}},
	{"Size", 8, map[int]int{72: 8, 112: 8, 128: 8, 144: 8}},
	{"Kind", 1, map[int]int{72: 16, 112: 16, 128: 16, 144: 16}},
	{"PID", 4, map[int]int{72: 20, 112: 20, 128: 20, 144: 20}},
	{"ID", 8, map[int]int{72: 24, 112: 24, 128: 24, 144: 24}},
	{"Time", 8, map[int]int{72: 32, 112: 32, 128: 32, 144: 32}},
	{"DRAM", 8, map[int]int{72: 40, 112: 40, 128: 40, 144: 40}},
	{"L1", 8, map[int]int{72: 48, 112: 48, 128: 48, 144: 48}},
	{"L1Small", 8, map[int]int{72: 56, 112: 56, 128: 56, 144: 56}},
	{"Trace", 8, map[int]int{72: 64, 112: 64, 128: 64, 144: 64}},
	{"CB", 8, map[int]int{72: -1, 112: -1, 128: 72, 144: 72}},
	{"Kernel", 8, map[int]int{72: -1, 112: -1, 128: 80, 144: 80}},
	{"TotalDRAM", 8, map[int]int{72: -1, 112: 72, 128: 88, 144: 88}},
	{"TotalL1", 8, map[int]int{72: -1, 112: 80, 128: 96, 144: 96}},
	{"Arch", 4, map[int]int{72: -1, 112: 88, 128: 104, 144: 104}},
	{"DRAMChannels", 4, map[int]int{72: -1, 112: 92, 128: 108, 144: 108}},
	{"DRAMPerChannel", 4, map[int]int{72: -1, 112: 96, 128: 112, 144: 112}},
	{"L1PerCore", 4, map[int]int{72: -1, 112: 100, 128: 116, 144: 116}},
	{"Available", 4, map[int]int{72: -1, 112: 104, 128: 120, 144: 120}},
	{"Devices", 4, map[int]int{72: -1, 112: 108, 128: 124, 144: 124}},
	{"RingSize", 4, map[int]int{72: -1, 112: -1, 128: -1, 144: 128}},
	{"RingUsed", 4, map[int]int{72: -1, 112: -1, 128: -1, 144: 132}},
	{"RingPrograms", 4, map[int]int{72: -1, 112: -1, 128: -1, 144: 136}},
}

// drawRecord draws a record, and makes each field's bytes differ from its neighbours'.
func drawRecord(t *rapid.T, d wire.Dialect) wire.Record {
	var r wire.Record
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		n := rapid.Uint64().Draw(t, v.Type().Field(i).Name)
		if f.CanInt() {
			f.SetInt(int64(int32(n)))
		} else {
			f.SetUint(n << (64 - f.Type().Bits()) >> (64 - f.Type().Bits()))
		}
	}
	r.Type = wire.Type(rapid.IntRange(1, d.Types).Draw(t, "type"))
	return r
}

// TestLayouts holds every field against the table of offsets, byte by byte.
func TestLayouts(t *testing.T) {
	require.Equal(t, reflect.TypeFor[wire.Record]().NumField(), len(layout))
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(wire.Dialects()).Draw(t, "dialect")
		r := drawRecord(t, d)
		want := make([]byte, d.Size)
		kept := wire.Record{}
		for _, row := range layout {
			f := reflect.ValueOf(&r).Elem().FieldByName(row.field)
			at := row.at[d.Size]
			if at < 0 {
				continue
			}
			reflect.ValueOf(&kept).Elem().FieldByName(row.field).Set(f)
			n := uint64(0)
			if f.CanInt() {
				n = uint64(f.Int())
			} else {
				n = f.Uint()
			}
			for i := range row.bytes {
				want[at+i] = byte(n >> (8 * i))
			}
		}
		got, err := d.Append([]byte("before"), &r)
		require.NoError(t, err)
		require.Equal(t, append([]byte("before"), want...), got)
		var back wire.Record
		require.NoError(t, d.Decode(want, &back))
		require.Equal(t, kept, back)
	})
}

func TestRefusedRecords(t *testing.T) {
	for _, d := range wire.Dialects() {
		whole, err := d.Append(nil, &wire.Record{Type: wire.TypeAlloc, Size: 1})
		require.NoError(t, err)
		require.Len(t, whole, d.Size)
		pads := []int{1, 2, 3, 17, 18, 19}
		if d.Size == 144 {
			pads = append(pads, 140, 141, 142, 143)
		}
		for _, i := range pads {
			bad := append([]byte(nil), whole...)
			bad[i] = 1
			requireRefused(t, d, bad)
		}
		for n := range d.Size {
			requireRefused(t, d, whole[:n])
		}
		for typ := range 256 {
			if typ >= 1 && typ <= d.Types {
				continue
			}
			bad := append([]byte(nil), whole...)
			bad[0] = byte(typ)
			requireRefused(t, d, bad)
			b, err := d.Append([]byte("x"), &wire.Record{Type: wire.Type(typ)})
			require.ErrorAs(t, err, new(*wire.RecordError))
			require.Equal(t, "x", string(b))
		}
	}
	for _, d := range []wire.Dialect{{}, {72, 12}, {104, 5}} {
		require.ErrorAs(t, d.Decode(make([]byte, 200), new(wire.Record)), new(*wire.DialectError))
		_, err := d.Append(nil, &goldenRecord)
		require.ErrorAs(t, err, new(*wire.DialectError))
	}
}

func requireRefused(t *testing.T, d wire.Dialect, b []byte) {
	t.Helper()
	r := goldenRecord
	require.ErrorAs(t, d.Decode(b, &r), new(*wire.RecordError), "%v % x", d, b)
	require.Equal(t, goldenRecord, r)
}

func TestParseDialect(t *testing.T) {
	for _, d := range wire.Dialects() {
		got, err := wire.ParseDialect(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
	}
	for text, want := range map[string]wire.Dialect{"auto": {}, "72": {72, 5}, "112": {112, 7}, "128": {128, 11}, "144": {144, 12}} {
		got, err := wire.ParseDialect(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "73", "72/12", "144/", "/5", "144/12/1", "104"} {
		_, err := wire.ParseDialect(text)
		require.ErrorAs(t, err, new(*wire.DialectError), text)
		require.ErrorContains(t, err, "want auto, 72")
	}
}

func TestCodecDoesNotAllocate(t *testing.T) {
	b := make([]byte, 0, 144)
	d := wire.Newest()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r := goldenRecord
		b, _ = d.Append(b[:0], &r)
		if d.Decode(b, &r) != nil {
			panic("refused")
		}
	}))
}

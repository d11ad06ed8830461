package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
)

// TestMixedScratchpads: a recorded scratchpad is marked before one without address is placed, also if it comes later.
func TestMixedScratchpads(t *testing.T) {
	first, second := circularFrom(t, 0, "0-0 - 0-0 64"), circularFrom(t, 1, "0-0 - 0-0 128")
	second.addr = 111616
	first.kind, second.kind = scratchpad, scratchpad
	place([]*buffer{first, second}, Layout{Base: 111616, Align: 64})
	require.Equal(t, uint64(111616+128), first.addr)
}

func TestArchitectureByL1Size(t *testing.T) {
	for size, want := range map[uint64]Layout{
		0: {"blackhole", 111616, 64}, 1572864: {"blackhole", 111616, 64}, 12345: {"blackhole", 111616, 64},
		1499136: {"wormhole", 103712, 32}, 1048576: {"grayskull", 103712, 32},
	} {
		got, err := chooseLayout(header{l1Size: size}, nil, Options{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func circularFrom(t *testing.T, counter int, text string) *buffer {
	t.Helper()
	rest, global := strings.CutPrefix(text, "g ")
	cores, size, _ := cutLast(rest, " ")
	rects, err := parseCores("{[" + cores + "]}")
	require.NoError(t, err)
	b := &buffer{kind: circular, counter: int64(counter), local: !global, cores: distinct(rects), ranges: rects}
	_, err = fmt.Sscan(size, &b.size)
	require.NoError(t, err)
	return b
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// TestScratchpadPlacement: a scratchpad goes above every entry that it touches, not only above its own range.
func TestScratchpadPlacement(t *testing.T) {
	// Both at the base. The second does not raise the wide entry of the scratchpads, which ends at 1,000 already (hazard F).
	dataflow := []*buffer{circularFrom(t, 0, "0-0 - 0-0 1000"), circularFrom(t, 1, "2-0 - 3-0 4096")}
	pads := []*buffer{
		circularFrom(t, 2, "0-0 - 1-0 512"), // above the 1,000 of core 0-0, rounded up to 1,024
		circularFrom(t, 3, "0-0 - 3-0 512"), // own entry ends at 1,536, that of 2-0..3-0 at 4,096: no hazard here
		circularFrom(t, 4, "0-0 - 0-0 512"), // above what the wide one left on core 0-0
		circularFrom(t, 5, "9-9 - 9-9 512"), // nobody is there
	}
	for _, b := range dataflow {
		b.kind = dataflowBuffer
	}
	for _, b := range pads {
		b.kind = scratchpad
	}
	place(slices.Concat(pads, dataflow), Layout{Base: 103712, Align: 32})
	for i, offset := range []uint64{1024, 4096, 4608, 0} {
		require.Equal(t, 103712+offset, pads[i].addr, "scratchpad %d", i)
	}
}

func TestParseCores(t *testing.T) {
	old, err := parseCores("{[(x=0,y=0) - (x=7,y=6)], [(x=0,y=7) - (x=3,y=7)]}")
	require.NoError(t, err)
	now, err := parseCores("{[0-0 - 7-6], [0-7 - 3-7]}")
	require.NoError(t, err)
	require.Equal(t, old, now)
	require.Len(t, distinct(now), 60)

	overlapping, err := parseCores("{[0-0 - 2-2], [1-1 - 3-3]}")
	require.NoError(t, err)
	require.Len(t, distinct(overlapping), 14)

	for _, bad := range []string{"", "{", "[0-0 - 1-1]", "{[1-0 - 0-0]}", "{[0-0 - 256-0]}", "{[0-0]}", "{[0-0 - 1-x]}"} {
		_, err := parseCores(bad)
		require.Error(t, err, bad)
	}
}

func TestReadCores(t *testing.T) {
	want, err := parseCores("{[0-0 - 7-6], [0-7 - 3-7]}")
	require.NoError(t, err)
	list := `[{"start":{"x":0,"y":0},"end":{"x":7,"y":6}}, {"id":4,"end":{"y":7,"x":3},"start":{"x":0,"y":7}}]`
	text, err := json.Marshal(list)
	require.NoError(t, err)
	for _, raw := range []string{list, string(text), `"{[0-0 - 7-6], [0-7 - 3-7]}"`} {
		got, err := readCores(json.RawMessage(raw))
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
	}
	for _, raw := range []string{`[]`, `"[]"`, `"{}"`} {
		got, err := readCores(json.RawMessage(raw))
		require.NoError(t, err)
		require.Empty(t, got)
	}
	for _, raw := range []string{
		`7`, `[7]`, `[{}]`, `[{"start":{"x":0,"y":0},"end":{"x":0}}]`, `[{"start":{"x":0,"y":0},"end":{"x":256,"y":0}}]`,
		`[{"start":{"x":1,"y":0},"end":{"x":0,"y":0}}]`, `"[] []"`,
	} {
		_, err := readCores(json.RawMessage(raw))
		require.Error(t, err, raw)
	}
}

func TestCount(t *testing.T) {
	n, err := count([]l1.Range{{Start: 10, End: 20}, {Start: 15, End: 30}, {Start: 7, End: 7}})
	require.NoError(t, err)
	require.EqualValues(t, 20, n)
	n, err = count([]l1.Range{{Start: 10, End: 20}, {Start: 0, End: farthest + 1}})
	require.ErrorIs(t, err, errTooFar)
	require.EqualValues(t, 10, n)
}

func TestRefusals(t *testing.T) {
	cb := func(params string) string {
		return `[{"counter":0,"node_type":"circular_buffer_allocate","params":{` + params + `}}]`
	}
	for _, bad := range []string{``, `{`, `{}`, `[1]`, `[] []`} {
		_, err := L1([]byte(bad), Options{})
		require.Error(t, err, bad)
	}
	for _, bad := range []string{
		cb(`"size":1,"address":1`),
		cb(`"size":null,"address":1,"core_range_set":"{}"`),
		cb(`"size":4294967296,"address":1,"core_range_set":"{}"`),
		cb(`"size":"0x10","address":1,"core_range_set":"{}"`),
		cb(`"size":1.5,"address":1,"core_range_set":"{}"`),
		cb(`"size":-1,"address":1,"core_range_set":"{}"`),
		cb(`"size":1,"SIZE":1,"ADDRESS":1,"core_range_set":"{}"`), // a key of another case is another key
		cb(`"size":1,"address":1,"core_range_set":"{}","globally_allocated":"maybe"`),
		cb(`"size":1,"address":1,"core_range_set":"{}","device_id":4294967296`),
	} {
		m, err := L1([]byte(bad), Options{})
		require.NoError(t, err, bad)
		require.Equal(t, 1, m.Hidden["unreadable"], bad)
	}
	_, err := L1([]byte(`[]`), Options{Arch: "none such"})
	require.Error(t, err)
}

func TestFlagsAndNumbers(t *testing.T) {
	for text, local := range map[string]int{
		``: 1, `,"globally_allocated":null`: 1, `,"globally_allocated":"0"`: 1, `,"globally_allocated":0`: 1, `,"globally_allocated":false`: 1,
		`,"globally_allocated":"false"`: 1, `,"globally_allocated":"1"`: 0, `,"globally_allocated":1`: 0,
		`,"globally_allocated":true`: 0, `,"globally_allocated":"true"`: 0,
	} {
		m, err := L1([]byte("\xef\xbb\xbf"+`[{"node_type":"circular_buffer_allocate","params":{"size":"4096","address":4.096e3,"core_range_set":"{[1-1 - 1-1]}"`+text+`}}]`), Options{})
		require.NoError(t, err, text)
		require.Equal(t, uint64(4096*local), m.Devices["none"].Kinds["circular buffer"], text)
	}
}

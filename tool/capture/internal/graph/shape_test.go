package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
)

// values are in place of M.
var values = []string{
	"1", "2", "0", "4096", "4294967295", "4294967296", "999999999999999999", "1000000000000000000",
	"9223372036854775808", "-1", "-0", "1.0", "2e1", "null", `"7"`, `"08"`, `"x"`, `""`, "{}", "[3]",
}

// shaped are texts of nodes. N is the counter, M another value.
var shaped = []string{
	`{"counter":N,"node_type":"circular_buffer_allocate","params":{"address":64,"core_range_set":"{[0-0 - 1-1]}","device_id":1,"size":M}}`,
	`{"counter":N,"node_type":"circular_buffer_deallocate_all","params":{"device_id":M}}`,
	`{"connections":[M],"counter":N,"node_type":"buffer_allocate","params":{"address":4096,"size":64,"type":"L1","device_id":1}}`,
	`{"connections":[],"counter":N,"node_type":"buffer","params":{}}`,
	`{"connections":[M, M],"counter":N,"node_type":"tensor","params":{"address":M,"tensor_id":M}}`,
	`{"counter":N,"node_type":"program_execution","params":{"device_id":1,"physical_device_id":M,"runtime_id":M}}`,
	`{"counter":N,"node_type":"buffer","params":{"addr":M,"address":2}}`,
	`{"counter":N,"node_type":"buffer_allocate","params":{"addr":M,"size":"1","size":M}}`,
	`{"arguments":[M],"counter":N,"node_type":"function_start","params":{"name":"f","runtime_id":M,"runtime_id":1}}`,
	`{"counter":N,"node_type":"circular_buffer_allocate","params":{"address":M,"core_range_set":[{"start":{"x":0,"y":0},"end":{"x":M,"y":1}}],"size":M}}`,
	`{"counter":N,"node_type":"function_end","params":{"aborted":M,"abort_reason":"x"}}`,
	`{"arguments":["counter"],"counter":N,"node_type":"function_start","params":{"name":"\"counter\":7"}}`,
	`{"params":{"counter":M,"device_id":2},"node_type":"circular_buffer_deallocate_all","counter":N}`,
	`{"params":{"counter":N,"device_id":2},"node_type":"circular_buffer_deallocate_all","counter":N}`,
	`{"counter":N,"node_type":"function_end","params":{"name":"f"},"counter":N}`,
	`{"counter":N,"node_type":"function_end","params":{"name":"f","name":"f"}}`,
	`{"counter": N ,"node_type":"function_end","params":{}}`,
	"{\n\t\"counter\":   N,\n\"node_type\":\"function_end\",\"params\":{\"name\":\"f\"}\n}",
	"{\"counter\":N,\r\n\"node_type\":\"function_end\",\r\"params\":{}}",
	`{"counter":N.0,"node_type":"function_end","params":{}}`,
	`{"counter":Ne0,"node_type":"function_end","params":{}}`,
	`{"counter":Ne1,"node_type":"function_end","params":{}}`,
	`{"counter":"N","node_type":"function_end","params":{}}`,
	`{"coun\u0074er":N,"node_type":"function_end","params":{"counter":N}}`,
	`{"counter":N,"node_type":"no_such_type","params":{"name":"` + strings.Repeat("x", maxShapeSize) + `"}}`,
}

// TestShapes reads captures that say the same again and again: each node is what its text
// says alone, and so is the error of a broken one.
func TestShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(shaped), 1, 4).Draw(t, "texts")
		var text bytes.Buffer
		var want []Node
		var wantErr error
		text.WriteString("[")
		for i := range rapid.IntRange(1, 40).Draw(t, "nodes") {
			one := some[i%len(some)]
			if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				one = rapid.SampledFrom(some).Draw(t, "text")
			}
			counter := fmt.Sprint(i)
			switch rapid.IntRange(0, 99).Draw(t, "wrong") {
			case 0:
				counter = fmt.Sprint(i + 1)
			case 1:
				counter = fmt.Sprint(i / 10)
			}
			one = strings.ReplaceAll(strings.ReplaceAll(one, "N", counter), "M", rapid.SampledFrom(values).Draw(t, "M"))
			if i > 0 {
				text.WriteString(rapid.SampledFrom([]string{",", ",\n", " , "}).Draw(t, "comma"))
			}
			if wantErr == nil {
				pos := event.Pos{Offset: int64(text.Len()), Line: 1 + lines(text.Bytes()), Node: int64(i)}
				var n Node
				if wantErr = newDecoder("x").node(&n, []byte(one), pos); wantErr == nil {
					want = append(want, n)
				}
			}
			text.WriteString(one)
		}
		text.WriteString("]")
		require.True(t, json.Valid(text.Bytes()))

		in := io.Reader(&text)
		if rapid.Bool().Draw(t, "drops") {
			in = iotest.HalfReader(iotest.OneByteReader(in))
		}
		var have []Node
		var haveErr error
		for n, err := range reading(&Document{File: "x"}, in) {
			if haveErr = err; err == nil {
				kept := *n
				kept.Connections = slices.Clone(n.Connections)
				have = append(have, kept)
			}
		}
		require.Equal(t, want, have)
		require.Equal(t, wantErr, haveErr)
	})
}

// TestShapesAreFound counts the texts that are decoded when two shapes alternate, with other numbers each time. Both are
// known after their second time, also if their hashes differ in one bit, or are equal.
func TestShapesAreFound(t *testing.T) {
	text := func(i int) []byte {
		return []byte(strings.NewReplacer("N", fmt.Sprint(i), "M", fmt.Sprint(7*i)).Replace(shaped[i%2]))
	}
	for shift := range 64 {
		d := newDecoder("x")
		hash := d.again.hash
		d.again.hash = func(text []byte) uint64 { return (hash(text) & 1) << shift }
		decoded := 0
		for i := range 100 {
			n, err := d.read(text(i), event.Pos{Node: int64(i)})
			require.NoError(t, err)
			if d.pos.Node == int64(i) {
				decoded++
			}
			require.EqualValues(t, i, n.Counter)
			if i%2 == 0 {
				require.EqualValues(t, 7*i, n.Size.V)
			}
		}
		require.LessOrEqual(t, decoded, 4, "bit %d", shift)
	}
}

// TestShapesWithOneHash reads texts whose hashes are equal though they differ: each is compared with a shape before it
// is taken for one.
func TestShapesWithOneHash(t *testing.T) {
	text := func(i int, name string) []byte {
		return fmt.Appendf(nil, `{"counter":%d,"node_type":"function_end","params":{"name":%q}}`, i, name)
	}
	d := newDecoder("x")
	d.again.hash = func([]byte) uint64 { return 1 }
	for i := range 8 * maxAlike {
		name := fmt.Sprint("f", i/4%(2*maxAlike))
		n, err := d.read(text(i, name), event.Pos{Node: int64(i)})
		require.NoError(t, err)
		require.Equal(t, name, n.Function.Name)
		require.LessOrEqual(t, d.again.count, maxAlike)
	}
}

// TestShapesAreNoExcuse reads a node three times, and then one like it that cannot be read.
func TestShapesAreNoExcuse(t *testing.T) {
	for _, c := range []struct{ params, good, bad, why string }{
		{`"address":M`, "4294967295", "4294967296", "is above 2^32-1"},
		{`"address":"M"`, "64", "4294967296", "is above 2^32-1"},
		{`"address":M`, "64", "6.5", "is not a whole number"},
		{`"address":M,"address":64`, "64", "65", "is the second value of this key"},
		{`"address":64,"device_id":M`, "7", "2147483648", "is above 2^31-1"},
	} {
		d := newDecoder("x")
		for i, value := range []string{c.good, c.good, c.good, c.bad} {
			text := `{"counter":%d,"node_type":"circular_buffer_allocate",` +
				`"params":{"size":1,"core_range_set":"{[0-0 - 1-1]}",%s}}`
			n, err := d.read(fmt.Appendf(nil, text, i, strings.ReplaceAll(c.params, "M", value)), event.Pos{Node: int64(i)})
			require.NoError(t, err)
			if value == c.good {
				require.Nil(t, n.Unreadable)
			} else {
				require.ErrorContains(t, n.Unreadable, c.why)
			}
		}
	}
}

// TestShapesInOrder reads a text again and again, the last time with the counter of the
// node before.
func TestShapesInOrder(t *testing.T) {
	var text []string
	for i := range 8 {
		text = append(text, strings.NewReplacer("N", fmt.Sprint(i), "M", "2").Replace(shaped[1]))
	}
	text = append(text, text[7])
	var err error
	for _, err = range reading(&Document{File: "x"}, strings.NewReader("["+strings.Join(text, ",")+"]")) {
		continue
	}
	require.ErrorContains(t, err, "is out of order: 8 belongs here")
}

// TestShapesCounter reads counters of which the digits before the point are a part alone.
func TestShapesCounter(t *testing.T) {
	d := newDecoder("x")
	read := func(at int64, counter string) error {
		_, err := d.read(fmt.Appendf(nil, `{"counter":%s,"node_type":"function_end","params":{}}`, counter), event.Pos{Node: at})
		return err
	}
	require.NoError(t, read(10, "1.0e1"))
	require.NoError(t, read(20, "2.0e1"))
	require.NoError(t, read(30, "3.0e1"))
	require.ErrorContains(t, read(4, "4.0e1"), "is out of order: 4 belongs here")
}

// TestShapesAreBounded reads more texts than are remembered.
func TestShapesAreBounded(t *testing.T) {
	d := newDecoder("x")
	for i := range 4 * maxShapes {
		raw := fmt.Appendf(nil, `{"counter":%d,"node_type":"function_end","params":{"name":"f%d"}}`, i, i/2)
		_, err := d.read(raw, event.Pos{Node: int64(i)})
		require.NoError(t, err)
		require.LessOrEqual(t, len(d.again.known), maxShapes)
		require.LessOrEqual(t, d.again.count, maxShapes)
		require.LessOrEqual(t, len(d.again.once), maxShapes)
	}
}

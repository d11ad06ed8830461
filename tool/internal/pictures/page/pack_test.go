package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// unpack is what the script does, written anew. It reads a packed document and returns the
// one that was packed, but for how numbers are written.
func unpack(t require.TestingT, packed []byte) any {
	d := json.NewDecoder(bytes.NewReader(packed))
	d.UseNumber()
	var doc struct {
		V any   `json:"v"`
		R []any `json:"r"`
	}
	require.NoError(t, d.Decode(&doc))
	var open func(v any) any
	open = func(v any) any {
		switch v := v.(type) {
		case []any:
			out := []any{}
			for _, x := range v {
				out = append(out, open(x))
			}
			return out
		case map[string]any:
			if n, ok := v["$r"]; ok {
				i, err := n.(json.Number).Int64()
				require.NoError(t, err)
				return open(doc.R[i])
			}
			for _, exact := range []string{"$i", "$t"} {
				if n, ok := v[exact]; ok {
					return json.Number(n.(string))
				}
			}
			out := map[string]any{}
			for k, x := range v {
				out[k] = open(x)
			}
			n, ok := out["$n"]
			if !ok {
				return out
			}
			count, err := n.(json.Number).Int64()
			require.NoError(t, err)
			rows := []any{}
			for i := range count {
				row := map[string]any{}
				for k, col := range out["$c"].(map[string]any) {
					if of, ok := col.(map[string]any); ok {
						row[k] = of["$k"]
					} else {
						row[k] = col.([]any)[i]
					}
				}
				rows = append(rows, row)
			}
			return rows
		}
		return v
	}
	return open(doc.V)
}

// What is packed can be unpacked, in ASCII without a byte that could begin markup.
func TestPack(t *testing.T) {
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "</script>", "<!--", "a long name that stands in many places", "\u2028\u202e\x00", "&amp;\"'"}), rapid.String())
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := []*rapid.Generator[any]{
			rapid.Custom(func(t *rapid.T) any { return word.Draw(t, "word") }),
			rapid.Custom(func(t *rapid.T) any {
				return json.Number(rapid.SampledFrom([]string{"0", "7", "-3", "1.5", "0.10", "1e400", "9007199254740992", "9007199254740993", "18446744073709551615", "1210.000000000000000001"}).Draw(t, "number"))
			}),
			rapid.Just[any](nil), rapid.Just[any](true),
		}
		if depth == 0 {
			return rapid.OneOf(leaf...)
		}
		inner := value(depth - 1)
		return rapid.OneOf(append(leaf,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(inner, 0, 6).Draw(t, "list") }),
			rapid.Custom(func(t *rapid.T) any {
				return rapid.MapOfN(rapid.SampledFrom([]string{"op", "cb", "start"}), inner, 0, 3).Draw(t, "object")
			}),
			rapid.Custom(func(t *rapid.T) any { // rows of a table
				var rows []any
				for range rapid.IntRange(0, 6).Draw(t, "rows") {
					rows = append(rows, map[string]any{"op": inner.Draw(t, "op"), "cb": rapid.SampledFrom([]any{json.Number("1"), nil}).Draw(t, "cb")})
				}
				return rows
			}))...)
	}
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(value(4).Draw(t, "document"))
		require.NoError(t, err)
		packed, err := pack(doc)
		require.NoError(t, err)
		for _, c := range packed {
			require.True(t, ' ' <= c && c <= '~' && !strings.ContainsRune("<>&", rune(c)), "%q in %s", c, packed)
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		require.NoError(t, d.Decode(&want))
		require.Equal(t, spell(want), spell(unpack(t, packed)), "%s", packed)
	})
}

// Lists of tables, and of numbers that a double cannot hold, are no tables.
func TestPackTablesInLists(t *testing.T) {
	const row = `{"cb":0,"start":64}`
	const inner = "[" + row + "," + row + "," + row + "]"
	for _, doc := range []string{"[" + inner + "," + inner + "," + inner + "]", "[9007199254740993,9007199254740993,9007199254740993]"} {
		packed, err := pack([]byte(doc))
		require.NoError(t, err)
		require.Equal(t, doc, spell(unpack(t, packed)), "%s", packed)
	}
}

// spell returns a document in one spelling.
func spell(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// A table takes what its rows say and not what their members are called, and a name that stands in
// many rows is there once.
func TestPackIsSmall(t *testing.T) {
	var rows []string
	for i := range 1000 {
		rows = append(rows, fmt.Sprintf(`{"operation":"ttnn.matmul > MatmulDeviceOperation","start":111616,"size_bytes":%d}`, i))
	}
	doc := "[" + strings.Join(rows, ",") + "]"
	packed, err := pack([]byte(doc))
	require.NoError(t, err)
	require.Less(t, len(packed), len(doc)/10)
}

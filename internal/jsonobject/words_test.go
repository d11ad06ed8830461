package jsonobject_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/jsonobject"
)

// rows are members that are passed without looking at each byte, and ones that nearly are.
// A key of 15 bytes, a text of 31 and a number of 7 digits are the longest that fit into
// its words.
var rows = []string{
	`"a":1`, `"a": 1`, `"a" :1`, `"a":  1`, "\"a\":\n1", "\"a\":\r\n1", `"":""`, `"a":"b"`, `"a": "b"`, `"a":-1`, `"a":0`, `"a":00`, `"a":01`, `"a":-0`, `"a":-01`,
	`"a":-`, `"a":1.5`, `"a":1.`, `"a":1e5`, `"a":1E+`, `"a":1x`, `"a":x`, `"a":`, `"a"1`, `"a"`, `a:1`, `"a":,`, `"a":1 2`, `"a":+1`, `"a":.5`,
	`"a":1234567`, `"a":12345678`, `"a":123456789012345678901234`, `"a":01234567`, `"a":012345678`,
	`"abcdefg":1`, `"abcdefgh":1`, `"abcdefghijklmno":1`, `"abcdefghijklmnop":1`, `"abcdefghijklmnopq":1`,
	`"abcdefghijklmnop":"abcdefghijklmnop"`, `"abcdefghijklmnop": "abcdefghijklmnop"`, `"abcdefghijklmnop":"abcdefghijklmnopq"`,
	`"a\"b":1`, `"a\\":1`, `"a\":1`, `"a\u0041":"\u00"`, `"a":"\"`, `"a":"\\"`, `"a":"\x"`, `"a":"\n"`, `"a":"\u12g4"`,
	"\"a\x00\":1", "\"a\x1f\":1", "\"a\n\":1", "\"a\":\"\t\"", "\"\x7f\x80\xff\":\"\xc3\xa9\"", "\"a\xa2\":1", "\"\xdc\":\"\x9f\"",
	`"a":true`, `"a":false`, `"a":null`, `"a":tru`, `"a":trux`, `"a":nul`, `"a":falsx`, `"a":truex`, `"a":[]`, `"a":[1,2]`, `"a":[1,]`, `"a":[,1]`, `"a":{}`,
	`"a":{"b":1}`, `"a":{"b":1,}`, `"a":{,"b":1}`, `"a":{"b"}`, `"a":[}`, `"a":{]`, `"a":[1}`, `"a":{"b":1]`, "\"a\":[\n]", "\"a\":{\r}", "\"a\":[\t]", `"a":[1 2]`,
	`"a":[{"b":1},{"b":2}]`, `"a":[{"b":1}, {"b":2}]`, "\"a\":[{\"b\":1},\n{\"b\":2}]", `"a":[{"b":1},{"b":2}}`, `"a":[{"b":1},{}]`, `"a":[{"b":1},{]`, `"a":[{"b":1},]`,
	`"a":{"b":1},{"b":2}`, `"a":{"b":1}, {"b":2}`, `"a":[{"b":{"c":1},{"d":2}}]`, `"a":[[{"b":1},{"b":2}]]`, `"a":[{"b":[]},{"b":[}]`, "\"a\":[{\"b\":1},\r\n{\"b\":2}]",
	`"abcdefghijklmnopqrstuvwxyz01234":"abcdefghijklmnopqrstuvwxyz01234"`, `"abcdefghijklmnopqrstuvwxyz012345":"abcdefghijklmnopqrstuvwxyz012345"`,
}

// TestEverywhere puts each row at every place of a word, of a line of the cache and of the buffer:
// valid rows pass, and errors have the place that a scan byte by byte finds.
func TestEverywhere(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 5 // which comes to each place of a word
	}
	for _, row := range rows {
		for pad := 0; pad < 64; pad += step {
			for _, around := range []string{
				`{"p":"` + strings.Repeat("x", pad) + `",` + row + `,"z":12345,"zz":"ab","zzz":1,"zzzz":1}`,
				`[{` + strings.Repeat(" ", pad) + row + `},[` + strings.Repeat("1,", 40) + `1]]`,
			} {
				want := json.Valid([]byte(around))
				slow := document(iotest.OneByteReader(strings.NewReader(around)), 16)
				require.Equal(t, want, slow == nil, "%q: %v", around, slow)
				for _, size := range []int{4096, 64 + pad, 97} {
					require.Equal(t, slow, document(strings.NewReader(around), size), "%q in a buffer of %d", around, size)
				}
				got, err := captured(strings.NewReader(around), 4096, len(around))
				require.Equal(t, slow, err, "%q", around)
				if want {
					require.Equal(t, around, string(got))
				}
			}
		}
	}
}

// TestEveryLength has keys and texts of every length, of bytes that would be a value elsewhere.
func TestEveryLength(t *testing.T) {
	for n := range 40 {
		inside := strings.Repeat("1,", 20)[:n]
		for _, row := range []string{`"` + inside + `":%s`, `"a":"` + inside + `","b":%s`, `"` + inside + `":"` + inside + `","b":%s`} {
			for _, value := range []string{"1", "x", "01", `"b"`, `"b`, "[]", "[", "12345678"} {
				text := `[{` + fmt.Sprintf(row, value) + `,` + strings.Repeat(`"z":1,`, 12) + `"zz":1}]`
				require.Equal(t, json.Valid([]byte(text)), document(strings.NewReader(text), 4096) == nil, "%s", text)
			}
		}
	}
}

// TestRowsOfEverything puts rows behind each other, so that each follows each.
func TestRowsOfEverything(t *testing.T) {
	var right []string
	for _, row := range rows {
		if json.Valid([]byte("{" + row + "}")) {
			right = append(right, row)
		}
	}
	require.Greater(t, len(right), 30)
	for _, first := range right {
		for _, comma := range []string{",", ", ", ",\n", " ,", ",\r\n  "} {
			var all []string
			for _, then := range right {
				all = append(all, first, then)
			}
			text := "{" + strings.Join(all, comma) + "}"
			require.NoError(t, document(strings.NewReader(text), 4096), "%q with %q", first, comma)
			for _, cut := range []int{1, 2, 3, 17, len(text) / 2} {
				broken := text[:len(text)-cut]
				slow := document(iotest.OneByteReader(strings.NewReader(broken)), 16)
				require.Error(t, slow)
				require.Equal(t, slow, document(strings.NewReader(broken), 4096))
			}
		}
	}
}

// TestWherePassed says the same offset and line after each value, whatever way it was
// passed.
func TestWherePassed(t *testing.T) {
	places := func(s *jsonobject.Scanner) (all []string) {
		require.NoError(t, s.Enter())
		for {
			more, err := s.More()
			require.NoError(t, err)
			if !more {
				return all
			}
			require.NoError(t, s.Skip())
			all = append(all, fmt.Sprint(s.Offset(), " in line ", s.Line()))
		}
	}
	for _, rows := range []string{
		"{\"a\":1,\"b\":\"x\"},\n\r\n {\n\"c\":[1,\n2,\r3]},\r",
		"{\"a\":1,\"b\":\"x\"},{\"a\":[{\"b\":2},\n{\"b\":3}]},",
		"{\"a\":1,\"b\":\"x\"},\n{\"a\":[{\"b\":2}, {\"b\":3}]},\n",
		"[{\"a\":1},\n{\"a\":2}],[{\"a\":1},\r\n{\"a\":2}],",
	} {
		text := "[" + strings.Repeat(rows, 50) + "0]"
		slow := places(jsonobject.New(iotest.OneByteReader(strings.NewReader(text)), 16))
		require.Len(t, slow, 101)
		for _, size := range []int{64, 100, 4096} {
			require.Equal(t, slow, places(jsonobject.New(bytes.NewReader([]byte(text)), size)), "%q", rows)
		}
	}
}

package jsonobject_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/jsonobject"
)

// document checks a whole document by skipping its value.
func document(r io.Reader, size int) error {
	s := jsonobject.New(r, size)
	if err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}

// captured checks a whole document and returns the bytes of its value.
func captured(r io.Reader, size, limit int) ([]byte, error) {
	s := jsonobject.New(r, size)
	b, err := s.Capture(limit)
	if err != nil {
		return nil, err
	}
	b = bytes.Clone(b)
	return b, s.End()
}

// walked checks a whole document by entering every container.
func walked(s *jsonobject.Scanner) error {
	type frame struct{ object bool }
	var stack []frame
	for {
		k, err := s.Kind()
		if err != nil {
			return err
		}
		switch k {
		case jsonobject.KindArray, jsonobject.KindObject:
			if err := s.Enter(); err != nil {
				return err
			}
			stack = append(stack, frame{k == jsonobject.KindObject})
		case jsonobject.KindString:
			text, err := s.Text()
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, text); err != nil {
				return err
			}
		default:
			if err := s.Skip(); err != nil {
				return err
			}
		}
		for {
			if len(stack) == 0 {
				return s.End()
			}
			more, err := s.More()
			if err != nil {
				return err
			}
			if !more {
				stack = stack[:len(stack)-1]
				continue
			}
			if stack[len(stack)-1].object {
				if _, _, err := s.Key(); err != nil {
					return err
				}
			}
			break
		}
	}
}

var accepted = []string{
	`[]`, `{}`, `0`, `-0`, `-0.0e-0`, `1e1000000000`, `123.456E+7`, `""`, `"\ud800"`, `"\u0000"`, `true`, `false`, `null`,
	` [ 1 , 2 ] `, "\t\r\n{\"a\":[{\"b\":{}}],\"a\":1}\n", `[[[[]]],{"":[]}]`, "\"\xff\xfe\"", `"\"\\\/\b\f\n\r\t\u00Ff"`,
	"\"\x7f\u2028\"", "[1,\r\n2]", `"` + strings.Repeat("x", 100) + `"`, `[` + strings.Repeat("1", 100) + `]`,
}

var refused = []string{
	``, ` `, `[`, `{`, `"`, `[1`, `[1,`, `[1,]`, `[,1]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{1:1}`, `{"a" 1}`,
	`[1 2]`, `[1}`, `{"a":1]`, `]`, `}`, `01`, `-`, `+1`, `.5`, `1.`, `1.e1`, `1e`, `1e+`, `0x10`, `NaN`, `Infinity`, `-Infinity`,
	`tru`, `trux`, `True`, `nul`, `nulll`, `fals`, `'a'`, `"\x"`, `"\u12g4"`, `"\u12`, "\"\n\"", "\"\x00\"", "\"\x1f\"", `[] []`, `[]x`, "[]\x00",
	"\x00", "\xef\xbb", "\xff", `/**/[]`, `[]//`, `--1`, `1-1`, `1ee1`, `[1]]`, "\xc2\xa0[]", "\v[]", `1,`, `,`,
}

func TestSyntax(t *testing.T) {
	check := func(text string, want bool) {
		require.Equal(t, want, json.Valid([]byte(text)), "the table itself: %q", text)
		for _, size := range []int{16, 17, 64, 4096} {
			for name, r := range readers(text) {
				require.Equal(t, want, document(r, size) == nil, "skip %q, buffer %d, %s", text, size, name)
			}
			for name, r := range readers(text) {
				got, err := captured(r, size, 1<<20)
				require.Equal(t, want, err == nil, "capture %q, buffer %d, %s: %v", text, size, name, err)
				if want {
					require.Equal(t, strings.Trim(text, " \t\r\n"), string(got))
				}
			}
			for name, r := range readers(text) {
				require.Equal(t, want, walked(jsonobject.New(r, size)) == nil, "walk %q, buffer %d, %s", text, size, name)
			}
		}
	}
	for _, text := range accepted {
		check(text, true)
	}
	for _, text := range refused {
		check(text, false)
	}
}

func readers(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":    strings.NewReader(text),
		"bytes":    iotest.OneByteReader(strings.NewReader(text)),
		"halves":   iotest.HalfReader(strings.NewReader(text)),
		"data+EOF": iotest.DataErrReader(strings.NewReader(text)),
	}
}

func TestByteOrderMark(t *testing.T) {
	for _, r := range readers("\xef\xbb\xbf[1]") {
		s := jsonobject.New(r, 16)
		_, err := s.Kind()
		require.NoError(t, err)
		require.EqualValues(t, 3, s.Offset())
		require.NoError(t, s.Skip())
		require.NoError(t, s.End())
	}
	require.Error(t, document(strings.NewReader("\xef\xbb\xbf"), 16))
	require.Error(t, document(strings.NewReader("\xef\xbb\xbf\xef\xbb\xbf[]"), 16))
	require.Error(t, document(strings.NewReader("[\xef\xbb\xbf]"), 16))
}

func TestPositions(t *testing.T) {
	for _, c := range []struct {
		text         string
		offset, line int64
		reason       error
		msg          string
	}{
		{"", 0, 1, io.ErrUnexpectedEOF, "input ends where a value belongs"},
		{"[1,\n2,\n", 7, 3, io.ErrUnexpectedEOF, "input ends where a value belongs"},
		{"[1,\r\n2,\r\nx]", 9, 3, nil, `unexpected 'x' where a value belongs`},
		{"[1,\r2,\rx]", 7, 3, nil, `unexpected 'x' where a value belongs`},
		{"[1,\r\r2,\n\r\nx]", 10, 5, nil, `unexpected 'x' where a value belongs`},
		{"[1,\r \n\n2x]", 8, 4, nil, `unexpected 'x' after a value in an array`},
		{"[1]\n\x00", 4, 2, jsonobject.ErrTrailing, "NUL bytes after the end of the JSON value"},
		{"{}\n{}", 3, 2, jsonobject.ErrTrailing, "a second JSON value after the first"},
		{"{}\n7", 3, 2, jsonobject.ErrTrailing, "'7' after the end of the JSON value"},
		{"\"a\n\"", 2, 1, nil, "unexpected byte 0x0a inside a string"},
		{"[\"\xff", 3, 1, io.ErrUnexpectedEOF, "input ends inside a string"},
		{"[\xff", 1, 1, nil, "unexpected byte 0xff where a value belongs"},
		{"{\"a\":01}", 6, 1, nil, "unexpected '1' after a value in an object"},
	} {
		for name, r := range readers(c.text) {
			err := document(r, 16)
			var e *jsonobject.Error
			require.ErrorAs(t, err, &e, "%q", c.text)
			require.Equal(t, jsonobject.Error{Offset: c.offset, Line: c.line, Reason: c.msg, Err: c.reason}, *e, "%q %s", c.text, name)
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	require.NoError(t, document(strings.NewReader(nest(jsonobject.MaxDepth)), 64))
	require.ErrorIs(t, document(strings.NewReader(nest(jsonobject.MaxDepth+1)), 64), jsonobject.ErrDepth)
	require.ErrorIs(t, walked(jsonobject.New(strings.NewReader(nest(jsonobject.MaxDepth+1)), 64)), jsonobject.ErrDepth)

	var e *jsonobject.Error
	err := document(strings.NewReader(strings.Repeat(`{"a":[`, 50_000)), 64)
	require.ErrorAs(t, err, &e)
	require.EqualValues(t, 6*jsonobject.MaxDepth/2, e.Offset, "refused at the bracket that is one too many")
}

func TestCaptureLimit(t *testing.T) {
	value := `"` + strings.Repeat("x", 98) + `"`
	for _, size := range []int{16, 50, 100, 1000} {
		got, err := captured(strings.NewReader(" "+value+" "), size, 100)
		require.NoError(t, err)
		require.Equal(t, value, string(got))

		_, err = captured(strings.NewReader("\n"+value), size, 99)
		require.ErrorIs(t, err, jsonobject.ErrLimit)
		var e *jsonobject.Error
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, 1, e.Offset, "the start of the value")
		require.EqualValues(t, 2, e.Line)

		_, err = captured(strings.NewReader(strings.Repeat("1", 100)), size, 99)
		require.ErrorIs(t, err, jsonobject.ErrLimit)
		got, err = captured(strings.NewReader(strings.Repeat("1", 99)), size, 99)
		require.NoError(t, err)
		require.Len(t, got, 99)
	}
}

func TestFailureIsKept(t *testing.T) {
	s := jsonobject.New(strings.NewReader(`[x]`), 16)
	first := s.Skip()
	require.Error(t, first)
	_, err := s.Kind()
	require.Equal(t, first, err)
	_, err = s.Capture(10)
	require.Equal(t, first, err)
	_, err = s.More()
	require.Equal(t, first, err)
	_, _, err = s.Key()
	require.Equal(t, first, err)
	_, err = s.Text()
	require.Equal(t, first, err)
	require.Equal(t, first, s.Enter())
	require.Equal(t, first, s.End())
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	const text = `{"key": ["text", 1.5, true]} `
	for n := range len(text) + 1 {
		r := io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken))
		require.ErrorIs(t, document(r, 16), broken, "after %d bytes", n)
		r = io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(broken))
		require.ErrorIs(t, walked(jsonobject.New(r, 16)), broken, "after %d bytes", n)
	}
	require.ErrorIs(t, document(stuck{}, 16), io.ErrNoProgress)
	require.Error(t, document(liar{}, 16))
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

type liar struct{}

func (liar) Read(p []byte) (int, error) { return len(p) + 1, nil }

func TestText(t *testing.T) {
	for _, text := range []string{
		`""`, `"plain"`, `"a\"b\\c\/d\b\f\n\r\t"`, `"\u0041\u00e9\u20ac"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`,
		`"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\u0041"`, `"é 日本"`, `"` + strings.Repeat(`\"`, 100) + `"`,
	} {
		var want string
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		for _, wrap := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.OneByteReader} {
			for name, r := range readers("[" + text + "]") {
				s := jsonobject.New(r, 16)
				require.NoError(t, s.Enter())
				more, err := s.More()
				require.NoError(t, err)
				require.True(t, more)
				tr, err := s.Text()
				require.NoError(t, err)
				got, err := io.ReadAll(wrap(tr))
				require.NoError(t, err)
				require.Equal(t, want, string(got), "%s %s", text, name)
				more, err = s.More()
				require.NoError(t, err)
				require.False(t, more)
				require.NoError(t, s.End())
			}
		}
	}
}

func TestKey(t *testing.T) {
	long := strings.Repeat("k", 256)
	s := jsonobject.New(strings.NewReader(`{"s\u0069ze":1, "`+long+`":2, "`+long+`k":3, "`+strings.Repeat(`\n`, 5000)+`":4, "":5}`), 16)
	require.NoError(t, s.Enter())
	for _, want := range []struct {
		key   string
		whole bool
	}{{"size", true}, {long, true}, {long, false}, {strings.Repeat("\n", 256), false}, {"", true}} {
		more, err := s.More()
		require.NoError(t, err)
		require.True(t, more)
		key, whole, err := s.Key()
		require.NoError(t, err)
		require.Equal(t, want.key, string(key))
		require.Equal(t, want.whole, whole)
		require.NoError(t, s.Skip())
	}
	more, err := s.More()
	require.NoError(t, err)
	require.False(t, more)
	require.NoError(t, s.End())
}

func TestWrongKind(t *testing.T) {
	require.ErrorContains(t, jsonobject.New(strings.NewReader("null"), 16).Enter(), "null where an array or object belongs")
	_, err := jsonobject.New(strings.NewReader("{}"), 16).Text()
	require.ErrorContains(t, err, "an object where a string belongs")
	for k, want := range map[jsonobject.Kind]string{
		jsonobject.KindObject: "an object", jsonobject.KindArray: "an array", jsonobject.KindString: "a string", jsonobject.KindNumber: "a number",
		jsonobject.KindTrue: "true", jsonobject.KindFalse: "false", jsonobject.KindNull: "null", 1: "kind 1",
	} {
		require.Equal(t, want, k.String())
	}
}

func TestMemory(t *testing.T) {
	const huge = 300 << 20
	pattern := strings.Repeat(`{"size": 4096, "name": "ttnn::add", "x": [1.5e3, null, true]}, `, 1000)
	for name, r := range map[string]io.Reader{
		"string": io.MultiReader(strings.NewReader(`["`), testkit.Repeat(strings.Repeat("x", 4096), huge), strings.NewReader(`"]`)),
		"number": io.MultiReader(strings.NewReader(`[1`), testkit.Repeat(strings.Repeat("1", 4096), huge), strings.NewReader(`]`)),
		"array":  io.MultiReader(strings.NewReader(`[`), testkit.Repeat(pattern, huge/int64(len(pattern))*int64(len(pattern))), strings.NewReader(`1]`)),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		require.NoError(t, document(r, 256<<10), name)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20), "bytes allocated in all for a %s", name)
	}
}

func TestBufferShrinks(t *testing.T) {
	before := testkit.Kept()
	large := `"` + strings.Repeat("x", 10<<20) + `"`
	r := io.MultiReader(strings.NewReader("["+large+","), testkit.Repeat("1,1,", 4<<20), strings.NewReader("1]"))
	s := jsonobject.New(r, 64<<10)
	require.NoError(t, s.Enter())
	_, err := s.More()
	require.NoError(t, err)
	raw, err := s.Capture(16 << 20)
	require.NoError(t, err)
	require.Len(t, raw, len(large))
	for {
		more, err := s.More()
		require.NoError(t, err)
		if !more {
			break
		}
		require.NoError(t, s.Skip())
	}
	require.NoError(t, s.End())
	large, raw, r = "", nil, nil
	require.Less(t, testkit.Kept()-before, int64(8<<20), "the buffer that held 10 MiB is gone: %d %d", len(raw), len(large))
	runtime.KeepAlive(s)
	_ = r
}

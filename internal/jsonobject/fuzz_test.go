package jsonobject_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/jsonobject"
)

// FuzzScanner compares the scanner with encoding/json and with jsontext. By every route and
// through buffers and readers of every size the same documents are accepted, and captured or
// decoded values are the same. The bytes come alone, and behind and before others, so that they
// stand at each place of the scanned words and of the buffer.
func FuzzScanner(f *testing.F) {
	for i, text := range append(append([]string(nil), accepted...), refused...) {
		f.Add([]byte(text), uint8(i))
	}
	for i, row := range rows {
		f.Add([]byte("{"+row+"}"), uint8(i))
	}
	f.Add([]byte("[0]                "), uint8(75)) // white space behind a value is not captured
	f.Add([]byte("\xef\xbb\xbf{\"a\":\"\\ud83d\\ude00\"}"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		requireInside(t, data, int(size))
		plain := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		want := json.Valid(plain)
		second := jsontext.Value(plain).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

		errs := []error{
			document(bytes.NewReader(data), int(size)),
			document(iotest.OneByteReader(bytes.NewReader(data)), int(size)),
			walked(jsonobject.New(iotest.HalfReader(bytes.NewReader(data)), int(size))),
		}
		got, err := captured(iotest.DataErrReader(bytes.NewReader(data)), int(size), len(data))
		errs = append(errs, err)
		for _, err := range errs {
			if errors.Is(err, jsonobject.ErrDepth) {
				return
			}
			require.Equal(t, want, err == nil, "%q: %v", data, err)
			require.Equal(t, second, err == nil, "jsontext, %q: %v", data, err)
			var e *jsonobject.Error
			if err != nil {
				require.ErrorAs(t, err, &e)
				require.LessOrEqual(t, e.Offset, int64(len(data)))
				require.Positive(t, e.Line)
				require.Equal(t, errs[0], err, "every route finds the same fault")
			}
		}
		if !want {
			return
		}
		require.Equal(t, string(bytes.Trim(plain, " \t\r\n")), string(got))

		s := jsonobject.New(bytes.NewReader(data), int(size))
		if k, _ := s.Kind(); k == jsonobject.KindString {
			var text string
			require.NoError(t, json.Unmarshal(plain, &text))
			r, err := s.Text()
			require.NoError(t, err)
			decoded, err := io.ReadAll(r)
			require.NoError(t, err)
			// encoding/json also replaces bytes that are not UTF-8.
			require.Equal(t, text, string([]rune(string(decoded))))
		}
	})
}

// requireInside reads data as a value among others, pad bytes from the start, in a large
// buffer and in one that ends near it.
func requireInside(t *testing.T, data []byte, pad int) {
	text := slices.Concat([]byte(`[{"pad":"`), bytes.Repeat([]byte("x"), pad), []byte(`","data":`), data, []byte(`,"n":[1,2,"abcdefgh"],"z":1}`),
		[]byte(`,{"after":0,"that":"it goes on"}]`), bytes.Repeat([]byte("\n"), 64))
	slow := document(iotest.OneByteReader(bytes.NewReader(text)), 16)
	if errors.Is(slow, jsonobject.ErrDepth) {
		return
	}
	require.Equal(t, json.Valid(text), slow == nil, "%q: %v", text, slow)
	for _, size := range []int{4096, 64 + pad, 16 + pad + len(data)} {
		require.Equal(t, slow, document(bytes.NewReader(text), size), "%q in a buffer of %d", text, size)
	}
}

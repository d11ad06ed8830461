package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/jsonscan"
)

// FuzzScanner holds the scanner against encoding/json: by every route and through
// buffers and readers of every size the same documents are accepted, and what is
// captured or decoded is the same.
func FuzzScanner(f *testing.F) {
	for i, text := range append(append([]string(nil), accepted...), refused...) {
		f.Add([]byte(text), uint8(i))
	}
	f.Add([]byte("\xef\xbb\xbf{\"a\":\"\\ud83d\\ude00\"}"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		plain := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		want := json.Valid(plain)

		errs := []error{
			document(bytes.NewReader(data), int(size)),
			document(iotest.OneByteReader(bytes.NewReader(data)), int(size)),
			walked(jsonscan.New(iotest.HalfReader(bytes.NewReader(data)), int(size))),
		}
		got, err := captured(iotest.DataErrReader(bytes.NewReader(data)), int(size), len(data))
		errs = append(errs, err)
		for _, err := range errs {
			if errors.Is(err, jsonscan.ErrDepth) {
				return
			}
			require.Equal(t, want, err == nil, "%q: %v", data, err)
			var e *jsonscan.Error
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

		s := jsonscan.New(bytes.NewReader(data), int(size))
		if k, _ := s.Kind(); k == jsonscan.String {
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

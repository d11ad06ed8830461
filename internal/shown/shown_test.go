package shown_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/shown"
)

func TestCuts(t *testing.T) {
	require.Equal(t, "abcdef", shown.Head("abcdef", 6))
	require.Equal(t, "ab...", shown.Head("abcdef", 5))
	require.Equal(t, "...", shown.Head("abcdef", 2))
	require.Equal(t, "abcdef", shown.Tail("abcdef", 6))
	require.Equal(t, "...ef", shown.Tail("abcdef", 5))
	require.Equal(t, "...", shown.Tail("abcdef", 2))
	require.Equal(t, `\u00e4b...`, shown.Name("äb"+strings.Repeat("c", 100), 10))
	require.Equal(t, `...b\u00e4`, shown.Path(strings.Repeat("c", 100)+"bä", 10))
	require.Len(t, shown.Value(make([]byte, 1000)), shown.MaxValue)
	require.Equal(t, "\x00", shown.Value([]byte{0}))
}

func TestEscape(t *testing.T) {
	require.Equal(t, `a\u202e\t\xff\ufffd\U0001f600"\`, shown.Escape("a\u202e\t\xff\ufffd\U0001f600\"\\"))
}

// What is shown is printable ASCII, never longer than asked for, and the escapes say
// exactly what was there.
func TestShownIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(3, 40).Draw(t, "n")
		for _, out := range []string{shown.Escape(s), shown.Name(s, n), shown.Path(s, n)} {
			for _, b := range []byte(out) {
				require.True(t, ' ' <= b && b <= '~')
			}
		}
		require.LessOrEqual(t, len(shown.Name(s, n)), n)
		require.LessOrEqual(t, len(shown.Path(s, n)), n)
		if !strings.ContainsAny(s, `"\`) {
			back, err := strconv.Unquote(`"` + shown.Escape(s) + `"`)
			require.NoError(t, err)
			require.Equal(t, s, back)
		}
	})
}

package shown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/shown"
)

func TestClip(t *testing.T) {
	long := strings.Repeat("n", 70_000)
	require.Equal(t, "matmul", shown.Clip("matmul", 64))
	require.Equal(t, strings.Repeat("n", 64), shown.Clip(long[:64], 64))
	require.Equal(t, strings.Repeat("n", 64-len("... (70,000 bytes)"))+"... (70,000 bytes)", shown.Clip(long, 64))
	require.Equal(t, "a > b", shown.ClipJoined([]string{"a", "b"}, " > ", 64))
	require.Empty(t, shown.ClipJoined(nil, " > ", 64))
}

// Names that are joined are clipped as the text that they make, whatever characters it has.
func TestClipJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("nö世🙂")), 0, 40, -1), 0, 8).Draw(t, "names")
		n := rapid.IntRange(64, 100).Draw(t, "n")
		all := strings.Join(names, " > ")
		got := shown.ClipJoined(names, " > ", n)
		require.Equal(t, shown.Clip(all, n), got)
		require.LessOrEqual(t, len(got), n)
		require.True(t, utf8.ValidString(got))
	})
}

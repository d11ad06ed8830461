package shown_test

import (
	"math"
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
	require.Equal(t, "abcdef", shown.TailText("abcdef", 6))
	require.Equal(t, "...ef", shown.TailText("abcdef", 5))
	require.Equal(t, "...", shown.TailText("abcdef", 2))
	require.Equal(t, `\u00e4b...`, shown.Name("äb"+strings.Repeat("c", 100), 10))
	require.Equal(t, `...ccccbä`, shown.Path(strings.Repeat("c", 100)+"bä", 10))
	require.Len(t, shown.Value(make([]byte, 1000)), shown.MaxValue)
	require.Equal(t, "\x00", shown.Value([]byte{0}))
}

func TestEscape(t *testing.T) {
	require.Equal(t, `a\u202e\t\xff\ufffd\U0001f600"\`, shown.Escape("a\u202e\t\xff\ufffd\U0001f600\"\\"))
	for in, want := range map[string]string{
		"":                         "",
		"ttnn::add <T&> \"x\" \\n": "ttnn::add <T&> \"x\" \\n",
		"a\nb\r\tc":                `a\nb\r\tc`,
		"\x1b[31mred\x1b[0m":       `\x1b[31mred\x1b[0m`,
		"\x00\x07\x7f":             `\x00\a\x7f`,
		"\u009b31m":                `\u009b31m`, // C1: starts a control sequence
		"\x9b31m":                  `\x9b31m`,   // the same, not UTF-8
		"\u202egnp.exe\u2066":      `\u202egnp.exe\u2066`,
		"\u200f\u061c\u200b\ufeff": `\u200f\u061c\u200b\ufeff`,
		"\u2028\u2029\u0085":       `\u2028\u2029\u0085`,
		"é漢\U0001f600":             `\u00e9\u6f22\U0001f600`,
		"e\u0301":                  `e\u0301`,
		"\ufffd":                   `\ufffd`, // a real one
		"\xff\xc3":                 `\xff\xc3`,
		"\xed\xa0\x80":             `\xed\xa0\x80`, // a surrogate
	} {
		require.Equal(t, want, shown.Escape(in), "%q", in)
	}
}

func TestNamesAreCut(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	require.Equal(t, strings.Repeat("x", 17)+"...", shown.Name(long, 20))
	require.Equal(t, "..."+strings.Repeat("x", 17), shown.Path(long, 20))
	require.Len(t, shown.Name(strings.Repeat("\u202e", 64<<10), 20), 20)
	require.Equal(t, `...e\u202e\u202e`, shown.Path(strings.Repeat("\u202e", 64<<10), 16))
	require.Equal(t, "short", shown.Name("short", 20))
	require.Equal(t, "a/short", shown.Path("a/short", 20))
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"é漢 a\n\u202e\xff\u2028\u200b\"\\": `é漢 a\n\u202e\xff\u2028\u200b"\`,
		"größe/Ωμέγα/слой/層/\U0001f600":    "größe/Ωμέγα/слой/層/\U0001f600",
		"e\u0301":                         "e\u0301",                              // two ways to write é
		"A\x80\u0301":                     `A\x80\u0301`,                          // nor behind a byte that is none
		"\u0301e, 1\u0301":                `\u0301e, 1\u0301`,                     // no mark without its letter
		"e\u0301\u0302\u0303\u0304\u0305": "e\u0301\u0302\u0303" + `\u0304\u0305`, // not over the lines above
		"e\u202e\u0301":                   `e\u202e\u0301`,
		"\u05d0\u0627\u0661":              `\u05d0\u0627\u0661`, // right to left
		"\ufffd":                          `\ufffd`,
		"\u3164\u115f\ufe0f\u00ad":        `\u3164\u115f\ufe0f\u00ad`, // nothing to be seen
		"\u009b\x1b[31m\ufeff\U000e0041":  `\u009b\x1b[31m\ufeff\U000e0041`,
	} {
		require.Equal(t, want, shown.Visible(in), "%q", in)
		require.Equal(t, want, shown.Visible(shown.Visible(in)), "%q: shown twice", in)
	}
}

func TestColumns(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 3, "größe": 5, "e\u0301": 1, "漢字": 4, "\U0001f600": 2, "\u1112\u1161\u11ab": 2} {
		require.Equal(t, want, shown.Width(in), in)
	}
	require.Equal(t, "漢字漢字", shown.Start("漢字漢字", 8))
	require.Equal(t, "漢字...", shown.Start("漢字漢字", 7))
	require.Equal(t, "漢...", shown.Start("漢字漢字", 6))
	require.Equal(t, "...漢字", shown.End("漢字漢字", 7))
	require.Equal(t, "...字", shown.End("漢字漢字", 6))
	require.Equal(t, "ae\u0301...", shown.Start("ae\u0301bcdef", 5))
	require.Equal(t, "...fe\u0301", shown.End("abcdefe\u0301", 5))
	require.Equal(t, "...f", shown.End("abcde\u0301f", 4), "the mark went with its letter")
	require.Equal(t, "...", shown.End("漢漢", 3))
	long := strings.Repeat("e\u0301\u0301\u0301", 1000)
	require.Equal(t, strings.Repeat("e\u0301\u0301\u0301", 37)+"...", shown.Start(long, 40))
	require.Equal(t, "..."+strings.Repeat("e\u0301\u0301\u0301", 37), shown.End(long, 40))
}

func TestTailText(t *testing.T) {
	require.Equal(t, "éaé", shown.TailText("éaé", 5))
	require.Equal(t, "...cd", shown.TailText("abcd\u00e9cd", 6)) // half of the é is not there
	require.Equal(t, "...écd", shown.TailText("abcd\u00e9cd", 7))
	require.Equal(t, "...", shown.TailText("abcdef", 2))
	require.Equal(t, "...", shown.TailText("\x80\x80\x80\x80\x80\x80", 5)) // no character begins there
}

// A text shown to people prints, fits its columns, and is the same when shown again.
func TestVisibleIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(3, 40).Draw(t, "n")
		for _, out := range []string{shown.Visible(s), shown.Start(s, n), shown.End(s, n), shown.Path(s, n)} {
			for _, r := range out {
				require.True(t, strconv.IsPrint(r), "%q in %q", r, out)
			}
			require.Equal(t, out, shown.Visible(out))
		}
		require.LessOrEqual(t, shown.Width(shown.Start(s, n)), n)
		require.LessOrEqual(t, shown.Width(shown.End(s, n)), n)
		if plain := shown.Escape(s); plain == s {
			require.Equal(t, shown.Name(s, n), shown.Start(s, n))
			require.Equal(t, shown.Path(s, n), shown.End(s, n))
		}
	})
}

// An escaped text is printable ASCII, never longer than the limit, and its escapes are exact.
func TestShownIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(3, 40).Draw(t, "n")
		for _, out := range []string{shown.Escape(s), shown.Name(s, n)} {
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

func TestPlural(t *testing.T) {
	require.Equal(t, "0 cores", shown.Plural(0, "core"))
	require.Equal(t, "1 core", shown.Plural(uint64(1), "core"))
	require.Equal(t, "2 cores", shown.Plural(int64(2), "core"))
	require.Equal(t, "18,446,744,073,709,551,615 bytes", shown.Plural(uint64(math.MaxUint64), "byte"))
}

// The outermost function stays whole up to two thirds of the columns; else the innermost one does. A name alone loses its
// middle.
func TestOp(t *testing.T) {
	long := func(name string, n int) string { return name + strings.Repeat("_", n-len(name)-1) + "Z" }
	for _, c := range []struct{ path, want string }{
		{long("short", 30), long("short", 30)},
		{long("single", 31), "single______...______________Z"},
		{"matmul > a > b > Device", "matmul > a > b > Device"},
		{"matmul > aaaaaaaa > b > Device", "matmul > aaaaaaaa > b > Device"},
		{"matmul > aaaaaaaaa > b > Device", "matmul > ... > Device"},
		{long("a", 20) + " > Device_Device", long("a", 20) + " > Devi..."},
		{long("a", 21) + " > Device_DeviceX", "a_________... > Device_DeviceX"},
		{long("a", 21) + " > x > Device_DeviceXY", "a________... > Device_DeviceXY"},
		{long("a", 21) + " > Device_DeviceXYZ", long("a", 21) + " > Dev..."},
		{long("a", 31) + " > x > Device_Device_DeviceX", "a___________..._Device_DeviceX"},
	} {
		got := shown.Op(c.path, 30)
		require.Equal(t, c.want, got, c.path)
		require.LessOrEqual(t, shown.Width(got), 30)
	}
}

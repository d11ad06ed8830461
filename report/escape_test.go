package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEscape(t *testing.T) {
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
		require.Equal(t, want, Escape(in), "%q", in)
	}
}

func TestNamesAreCut(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	require.Equal(t, strings.Repeat("x", 17)+"...", name(long, 20))
	require.Equal(t, "..."+strings.Repeat("x", 17), fileName(long, 20))
	require.Len(t, name(strings.Repeat("\u202e", 64<<10), 20), 20)
	require.Len(t, fileName(strings.Repeat("\u202e", 64<<10), 20), 20)
	require.Equal(t, "short", name("short", 20))
	require.Equal(t, "a/short", fileName("a/short", 20))
}

func TestOpName(t *testing.T) {
	for _, c := range []struct {
		op   string
		n    int
		want string
	}{
		{"ttnn.add > Binary", 40, "ttnn.add > Binary"},
		{"ttnn.add > a > b > Binary", 40, "ttnn.add > a > b > Binary"},
		{"ttnn.add > aaaaaaaaaa > b > Binary", 25, "ttnn.add > ... > Binary"},
		{"ttnn.add > Binary", 10, "ttnn.ad..."},
		{"ttnn.add", 40, "ttnn.add"},
		{"", 40, "(outside any function)"},
		{"a\n > b", 40, `a\n > b`},
	} {
		require.Equal(t, c.want, opName(c.op, c.n))
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1: "-1", -123: "-123", -1234: "-1,234",
	} {
		require.Equal(t, want, grouped(n))
	}
	require.Equal(t, "18,446,744,073,709,551,615", grouped(uint64(1<<64-1)))
	for _, c := range []struct {
		part, whole uint64
		want        string
	}{
		{0, 1000, "0.0%"}, {1, 1 << 20, "<0.1%"}, {1, 1000, "0.1%"}, {1, 3, "33.3%"}, {999_999, 1_000_000, "99.9%"},
		{5, 5, "100.0%"}, {3, 2, "150.0%"}, {1 << 63, 1 << 62, "200.0%"},
	} {
		require.Equal(t, c.want, percent(c.part, c.whole))
	}
	require.Equal(t, "-", times(0, 0))
	require.Equal(t, "22.7x", times(1_029_566_464, 45_350_912))
	require.Equal(t, "1 core", plural(1, "core"))
	require.Equal(t, "0 cores", plural(0, "core"))
}

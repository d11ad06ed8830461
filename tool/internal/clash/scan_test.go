package clash_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

const (
	grow = "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1600512 B which is beyond max L1 size of 1499136 B"
	meet = "Statically allocated circular buffers in program 5 clash with L1 buffers on core range [0-0 - 7-6]. L1 buffer allocated at 600064 and static circular buffer region ends at 700000"
)

func TestScanKinds(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // fields of the kind
	}{
		{"Statically allocated circular buffers on core range [0-0 - 1-0] grow to 3 B which is beyond max L1 size of 2 B",
			"grow circular {[0-0 - 1-0]} 3 2"},
		{"Statically allocated dataflow buffers in program 0 on core range [0-0 - 1-0] grow to 3 B which is beyond max L1 size of 2",
			"grow dataflow p0 {[0-0 - 1-0]} 3 2"},
		{"Statically allocated dataflow buffers in program 18446744073709551615 clash with L1 buffers on core range [(x=1,y=0) - (x=1,y=0)]. L1 buffer allocated at 2 and static dataflow buffer region ends at 3",
			"clash dataflow p18446744073709551615 {[1-0 - 1-0]} 3 2"},
		{"Statically allocated circular buffers clash with L1 buffers on core range {[0-0 - 0-0], [2-2 - 3-3]}. L1 buffer allocated at 2 and static circular buffer region ends at 9223372036854775807",
			"clash circular {[0-0 - 0-0], [2-2 - 3-3]} 9223372036854775807 2"},
		{"Circular buffers on service-core range [0-9 - 1-9] in program 6 clash with ServiceCoreManager-allocated L1 (lowest service allocation at 20, CB region ends at 30)",
			"service-clash circular p6 {[0-9 - 1-9]} 30 20"},
		{"Circular buffer core range [0-0 - 8-7] in program 6 exceeds device compute grid (8x7) and is not entirely on cores claimed via ServiceCoreManager",
			"grid circular p6 {[0-0 - 8-7]} 8x7"},
		{"Circular buffer core range {[(x=0,y=0) - (x=8,y=7)]} in program 6 exceeds device compute grid (8x7)",
			"grid circular p6 {[0-0 - 8-7]} 8x7"},
		{"Local buffer address 10 has to append to last L1 region [5, 12) or be at a higher address", "append circular 10 [5,12)"},
		{"Invalid circular buffer index: Cannot add circular buffer at index 31, another circular buffer already exists", "index-reuse circular 31"},
		{"Cannot set circular buffer size to 20. This is larger than the associated dynamically allocated L1 buffer bank size of 10 B",
			"backing-buffer circular 20 10 false"},
		{"Circular buffer size 20 B exceeds allocated L1 buffer bank size of 10 B", "backing-buffer circular 20 10 true"},
		{"Total circular buffer size 20 B must be divisible by page size 3 B", "page-size circular 20 3"},
	} {
		for _, around := range [][2]string{
			{"", ""}, {"", "."}, {"", "\n"}, {"TT_THROW: ", " (assert.hpp:104)"}, {"Always | FATAL | ", ""},
			{"(EngineCore_DP0 pid=230) ", "\x1b[0m"}, {`{"msg": "x\n`, `\nbacktrace"}`}, {"Statically allocated circular ", "\n2026"},
			{"Circular buffer size 12 ", ", and"}, {"SCLIT", "\x00"}, {"\x1b[31;1m\x1b]8;;http://a\x1b\\", "\x1b]0;t\x07"}, {"\ufeff\u2500 ", " \u2502"},
		} {
			found := read(t, around[0]+c.text+around[1])
			require.Len(t, found.Messages, 1, "%q", around[0]+c.text+around[1])
			m := found.Messages[0]
			require.Equal(t, c.want, fields(m))
			require.True(t, strings.HasPrefix(m.Text, c.text) || strings.Contains(c.text, "{[(x=0"), "%q\n%q", c.text, m.Text)
		}
	}
}

func fields(m clash.Message) string {
	words := []any{m.Kind, m.What}
	n := m.Numbers
	if program, ok := n["program"]; ok {
		words = append(words, fmt.Sprintf("p%d", program))
	}
	if m.Cores.Len() > 0 {
		words = append(words, m.Cores)
	}
	switch m.Kind {
	case clash.Grow, clash.Clash, clash.ServiceClash:
		words = append(words, n["end"], n["limit"])
	case clash.Grid:
		words = append(words, fmt.Sprintf("%dx%d", n["cols"], n["rows"]))
	case clash.Append:
		words = append(words, n["address"], l1.Range{Start: n["start"], End: n["stop"]})
	case clash.IndexReuse:
		words = append(words, n["index"])
	case clash.BackingBuffer:
		words = append(words, n["size"], n["tensor"], m.Warning)
	case clash.PageSize:
		words = append(words, n["size"], n["page"])
	}
	return strings.TrimSuffix(fmt.Sprintln(words...), "\n")
}

// Every way of laying out the same message that must not matter.
func TestScanLayout(t *testing.T) {
	const wantGrow, wantMeet = "grow circular {[0-0 - 7-7]} 1600512 1499136", "clash circular p5 {[0-0 - 7-6]} 700000 600064"
	words := func(sep string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, " ", sep) }
	}
	hard := func(width int, sep string) func(string) string { // as a terminal wraps, but for the last number
		return func(s string) string {
			var b strings.Builder
			for i := range len(s) {
				if i > 0 && i%width == 0 && i < len(s)-8 {
					b.WriteString(sep)
				}
				b.WriteByte(s[i])
			}
			return b.String()
		}
	}
	layouts := map[string]func(string) string{
		"as is":              words(" "),
		"tabs":               words("\t\t"),
		"each word a line":   words("\n"),
		"CRLF":               words("\r\n"),
		"CR":                 words("\r"),
		"blank lines":        words(" \n\n  \n "),
		"no-break spaces":    words("\u00a0"),
		"line separators":    words("\u2028"),
		"frame":              words(" \u2502\n\u2502 "),
		"colours":            words(" \x1b[31m\x1b[0m\n\x1b[1;31m"),
		"charset":            words("\x1b(B \x1b7"),
		"C1":                 words(" \u009b31m"),
		"zero width, bidi":   words("\u200b \u202e\u2066"),
		"NUL":                words("\x00 \x00"),
		"other controls":     words("\x01 \x7f\b"),
		"hard 40":            hard(40, "\n"),
		"hard 7 CRLF":        hard(7, "\r\n"),
		"hard 1":             hard(1, "\n"),
		"prefix":             func(s string) string { return "(EngineCore_DP0 pid=230) " + words("\n(EngineCore_DP0 pid=230) ")(s) },
		"prefix and more":    func(s string) string { return "(E pid=2) ERROR TT_THROW: " + words("\n(E pid=2) ERROR ")(s) },
		"prefix half":        func(s string) string { return "(E pid=2) ERROR TT_THROW: " + words("\n(E pid=2) ")(s) },
		"prefix colour":      func(s string) string { return "\x1b[36m(E pid=2)\x1b[0m x: " + words("\n\x1b[36m(E pid=2)\x1b[0m ")(s) },
		"prefix inside word": func(s string) string { return "(E pid=2) x: " + hard(33, "\n(E pid=2) ")(s) },
		"prefix digits":      func(s string) string { return "12 " + words("\n12 ")(s) },
		"prefix no blank":    func(s string) string { return ">" + words("\n>")(s) },
		"prefix bracket":     func(s string) string { return "[1,0]<stderr>: " + words("\n[1,0]<stderr>: ")(s) },
		"pytest":             func(s string) string { return "E       RuntimeError: " + hard(50, "\nE       ")(s) },
		"times": func(s string) string {
			return "2026-01-02T03:04:05.123Z x " + words("\n2026-01-02T03:04:06.999Z ")(s)
		},
		"dates": func(s string) string { return "2026-01-02 03:04:05 | a | " + words("\n2026-01-02 03:04:06 | a | ")(s) },
		"UTF-16": func(s string) string {
			var b []byte
			for _, u := range utf16.Encode([]rune(s)) {
				b = append(b, byte(u), byte(u>>8))
			}
			return "\xff\xfe" + string(b)
		},
	}
	for name, lay := range layouts {
		for text, want := range map[string]string{grow: wantGrow, meet: wantMeet} {
			text = lay(text)
			found := read(t, "first\n"+text+"\nlast 7\n")
			require.Len(t, found.Messages, 1, "%s: %q", name, text)
			require.Equal(t, want, fields(found.Messages[0]), "%s: %q", name, text)
			require.EqualValues(t, 2, found.Messages[0].Line, "%s: %q", name, text)
		}
	}
}

func TestScanRefuses(t *testing.T) {
	for _, text := range []string{
		"",
		"\n\n",
		"Statically",
		grow[:len(grow)-10],
		strings.Replace(grow, "1600512", "", 1),
		strings.Replace(grow, "1600512", "-1600512", 1),
		strings.Replace(grow, "1600512", "0x1600", 1),
		strings.Replace(grow, "1600512", "1e6", 1),
		strings.Replace(grow, "1600512", "1.5", 1),
		strings.Replace(grow, "1600512", "1600512\n\n\n1 x", 1),
		strings.Replace(grow, "1499136 B", "1499136KB", 1),
		strings.Replace(grow, "1499136 B", "1499136.5 B", 1),
		strings.Replace(grow, "circular", "triangular", 1),
		strings.Replace(grow, "on core", "at core", 1),
		strings.Replace(grow, "[0-0 - 7-7]", "[7-7 - 0-0]", 1),
		strings.Replace(grow, "[0-0 - 7-7]", "[0-0 - 7-256]", 1),
		strings.Replace(grow, "[0-0 - 7-7]", "[0-0 - 7-7", 1),
		strings.Replace(grow, "[0-0 - 7-7]", "{[0-0 - 7-7]", 1),
		strings.Replace(grow, "[0-0 - 7-7]", "0-0 - 7-7", 1),
		strings.Replace(grow, "[0-0 - 7-7]", "["+strings.Repeat("(", 100_000), 1),
		strings.Replace(grow, " B which", " KB which", 1),
		strings.Replace(grow, "1499136 B", "1464 KiB", 1),
		strings.Replace(meet, "program 5", "program x", 1),
		strings.Replace(meet, "program 5 ", "program 5", 1),
		strings.Replace(meet, "static circular", "static cubic", 1),
		strings.Replace(meet, "700000", "700000a", 1),
		strings.ToUpper(grow),
		"Local buffer address 10 has to append to last L1 region [12, 5) or be at a higher address",
		"Circular buffer core range [0-0 - 8-7] in program 6 exceeds device compute grid (8x70000000)",
		// of different processes
		"0: " + strings.Replace(strings.ReplaceAll(grow, " ", "\n0: "), "0: 1600512", "1: 1600512", 1),
		// longer than a message may be
		strings.Replace(grow, "circular buffers", "circular "+strings.Repeat("\u200b", 9)+"buffers"+strings.Repeat("x", 9000), 1),
	} {
		found := read(t, text)
		require.Empty(t, found.Messages, "%.200q", text)
		require.Zero(t, found.More)
	}
}

// A message cut short does not hide the next one.
func TestScanRestarts(t *testing.T) {
	for n := 1; n < len(meet)-6; n++ {
		found := read(t, meet[:n]+grow)
		require.Len(t, found.Messages, 1, "%q", meet[:n])
		require.Equal(t, clash.Grow, found.Messages[0].Kind)
	}
}

// A line that breaks inside the last number looks like one that ends
// there. It must not become a wrong excess.
func TestScanLastNumberBroken(t *testing.T) {
	m := read(t, meet[:len(meet)-1]+"\n"+meet[len(meet)-1:]).Messages[0]
	require.EqualValues(t, 70000, m.Numbers["end"])
	_, ok := m.Over()
	require.False(t, ok)
}

func TestReadCounts(t *testing.T) {
	old := strings.Replace(meet, "[0-0 - 7-6]", "[(x=0,y=0) - (x=7,y=6)]", 1)
	other := strings.Replace(meet, "program 5", "program 6", 1)
	found := read(t, strings.Join([]string{"x", "TT_THROW: " + meet, "info:", old, grow, meet + ".", other}, "\n"))
	var got []string
	for _, m := range found.Messages {
		got = append(got, fmt.Sprintln(fields(m), m.Line, m.Count))
	}
	require.Equal(t, []string{
		"clash circular p5 {[0-0 - 7-6]} 700000 600064 2 3\n",
		"grow circular {[0-0 - 7-7]} 1600512 1499136 5 1\n",
		"clash circular p6 {[0-0 - 7-6]} 700000 600064 7 1\n",
	}, got)
	require.Contains(t, found.Messages[0].Text, "[0-0 - 7-6]", "the text is the first one's")
}

// Messages count as one if all that they say is equal, and only then: 0 is said, and no number is not.
func TestReadCountsEqualMessages(t *testing.T) {
	number := regexp.MustCompile(`[0-9]+`)
	absent := regexp.MustCompile(` in program [0-9]+| on MeshDevice [0-9]+| across [0-9]+ banks|, where each bank needs to store [0-9]+ B|` +
		`,( but)? bank size is (only )?[0-9]+ B|,( free:| largest free block:| largest) [0-9]+ B| on cores \{[^}]*\}`)
	words := [][2]string{
		{"circular", "dataflow"}, {"TENSIX", "ACTIVE_ETH"}, {" bank size of", " size of"}, {" buffer size of", " buffer bank size of"},
		{"Circular buffer size", "Cannot set to globally allocated buffer. Circular buffer size"},
	}
	for _, file := range []string{"testdata/all_kinds.txt", "testdata/retold.txt"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range read(t, string(data)).Messages {
			text := strings.Replace(m.Text, " buffers on core range", " buffers in program 7 on core range", 1)
			texts := []string{m.Text, text}
			for _, pair := range words {
				texts = append(texts, strings.ReplaceAll(m.Text, pair[0], pair[1]))
			}
			for _, at := range absent.FindAllStringIndex(text, -1) {
				texts = append(texts, text[:at[0]]+text[at[1]:])
			}
			for _, at := range number.FindAllStringIndex(text, -1) {
				for _, other := range []string{"0", "1", "..."} {
					texts = append(texts, text[:at[0]]+other+text[at[1]:])
				}
			}
			requireCounted(t, texts)
		}
	}
}

// requireCounted compares how often messages count in one log with what each one says alone.
func requireCounted(t *testing.T, texts []string) {
	t.Helper()
	said := func(m clash.Message) string {
		m.Text, m.Line, m.Count = "", 0, 0
		return fmt.Sprintf("%+v", m)
	}
	var want, got []string
	count := map[string]int64{}
	for _, text := range texts {
		for _, m := range read(t, text).Messages {
			if count[said(m)]++; count[said(m)] == 1 {
				want = append(want, said(m))
			}
		}
	}
	for _, m := range read(t, strings.Join(texts, "\n\n\n\n")).Messages {
		got = append(got, said(m))
		require.Equal(t, count[said(m)], m.Count, "%s", m.Text)
	}
	require.Equal(t, want, got, "%s", texts[0])
}

func TestReadKeepsNoMoreThanMaxDistinct(t *testing.T) {
	var b strings.Builder
	for i := range clash.MaxDistinct + 7 {
		b.WriteString(strings.Replace(meet, "program 5", fmt.Sprintf("program %d", i), 1) + "\n")
	}
	found := read(t, b.String()+b.String())
	require.Len(t, found.Messages, clash.MaxDistinct)
	require.EqualValues(t, 14, found.More)
	require.EqualValues(t, 2, found.Messages[0].Count)
}

// How the input arrives, and where in the window a message falls, must not matter.
func TestScanWindows(t *testing.T) {
	for _, pad := range []int{0, 1, 100, 32<<10 - 300, 32<<10 - 100, 48<<10 - 200, 48<<10 - 1, 48 << 10, 300_000} {
		for _, fill := range []string{"x", "S", "\n", "x ", "Statically allocated "} {
			text := strings.Repeat(fill, pad/len(fill)) + "\n(E pid=2) a: " + strings.ReplaceAll(grow, " ", "\n(E pid=2) ") + "\ntail"
			found := read(t, text)
			require.Len(t, found.Messages, 1, "pad %d of %q", pad, fill)
			require.EqualValues(t, 1+strings.Count(text[:strings.LastIndex(text, "(E pid=2) a: ")], "\n"), found.Messages[0].Line)
		}
	}
	// On one line, at every place around the end of a window.
	for pad := 32<<10 - 50; pad < 48<<10+50; pad += 397 {
		found := read(t, strings.Repeat("-", pad)+meet+"; "+grow)
		require.Len(t, found.Messages, 2, "pad %d", pad)
		require.EqualValues(t, 1, found.Messages[1].Line)
	}
	text := "a\n" + strings.ReplaceAll(meet, " ", "\n\x1b[0m\u00a0") + "\n"
	for _, r := range []io.Reader{
		iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text)),
	} {
		found, err := clash.Read(r)
		require.NoError(t, err)
		require.Len(t, found.Messages, 1)
	}
}

func TestScanPrefixAcrossWindows(t *testing.T) {
	// The line begins in one window and its message in another.
	for pad := 30 << 10; pad < 60<<10; pad += 2503 {
		text := "(E pid=2) " + strings.Repeat("-", pad) + " " + strings.ReplaceAll(grow, " ", "\n(E pid=2) ")
		require.Len(t, read(t, text).Messages, 1, "pad %d", pad)
		two := "(E pid=2) " + strings.Repeat("y", pad) + "\n(E pid=2) " + strings.Repeat("-", 40<<10) + " " + strings.ReplaceAll(grow, " ", "\n(E pid=2) ")
		require.Len(t, read(t, two).Messages, 1, "pad %d", pad)
	}
}

func TestScanReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, tail := range []string{"", "\x1b", "\x1b[", "\x1b]x", "\xe2\x80"} {
		found, err := clash.Read(io.MultiReader(strings.NewReader(grow+"\n"+tail), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)
		require.Len(t, found.Messages, 1)
	}
}

func TestScanStops(t *testing.T) {
	n := 0
	for _, err := range clash.Scan(strings.NewReader(grow + "\n" + meet)) {
		require.NoError(t, err)
		n++
		break
	}
	require.Equal(t, 1, n)
}

// Malformed and endless escape sequences lose at most themselves.
func TestScanEscapes(t *testing.T) {
	for _, escape := range []string{
		"\x1b", "\x1b[", "\x1b[12", "\x1b[\n", "\x1b]0;title", "\x1bP1$r", "\x1b_x\x1b", "\x1b(", "\u009b", "\x1b[" + strings.Repeat("1", 10_000),
		"\x1b]" + strings.Repeat("1", 10_000), "\xff", "\xe2\x80", "\xc3", "\xed\xa0\x80",
	} {
		found := read(t, escape+"\n"+grow+"\n"+escape)
		require.Len(t, found.Messages, 1, "%.20q", escape)
	}
}

// Memory does not grow with the input, in whatever way it is long.
func TestScanBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 42 MiB: needs a run without -short")
	}
	for _, unit := range []string{"x", "\n", "x\n", "\x1b[0m", " ", "\x1b]", "Statically allocated circular buffers on core range [ "} {
		r := io.MultiReader(io.LimitReader(repeat{[]byte(strings.Repeat(unit, 4096))}, 6<<20), strings.NewReader("\n"+grow))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found, err := clash.Read(r)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.LessOrEqual(t, len(found.Messages), 1)
		if !strings.Contains(unit, "core range") { // texts that start a message cost some garbage
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3<<20), "%q", unit)
		}
	}
}

type repeat struct{ block []byte }

func (r repeat) Read(p []byte) (int, error) { return bytes.NewReader(r.block).Read(p) }

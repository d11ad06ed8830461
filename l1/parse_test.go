package l1_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
)

// requireParseError checks the data of a *ParseError and the promises of its text.
func requireParseError(t require.TestingT, err error, what, text string, pos int, reason string) {
	var bad *l1.ParseError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, what, bad.What)
	require.Equal(t, text, bad.Text)
	require.Equal(t, pos, bad.Pos, "%q", text)
	require.Contains(t, bad.Reason, reason, "%q", text)
	requireOneLine(t, err)
}

// requireOneLine checks that an error's text can go into a log or a terminal.
func requireOneLine(t require.TestingT, err error) {
	require.LessOrEqual(t, len(err.Error()), 300)
	for _, r := range err.Error() {
		require.True(t, r < unicode.MaxASCII && unicode.IsPrint(r), "%q", err.Error())
	}
}

func TestCoreTexts(t *testing.T) {
	for _, tc := range []struct {
		core        l1.Core
		text, older string
	}{
		{l1.Core{X: 0, Y: 0}, "0-0", "(x=0,y=0)"},
		{l1.Core{X: 7, Y: 9}, "7-9", "(x=7,y=9)"},
		{l1.Core{X: 255, Y: 255}, "255-255", "(x=255,y=255)"},
	} {
		require.Equal(t, tc.text, tc.core.String())
		require.Equal(t, tc.older, tc.core.Legacy())
		for _, text := range []string{tc.text, tc.older, " " + tc.text + "\n", "\t" + tc.older + "\r"} {
			got, err := l1.ParseCore(text)
			require.NoError(t, err, text)
			require.Equal(t, tc.core, got)
		}
	}
	got, err := l1.ParseCore(" ( x = 1 , y = 2 ) ")
	require.NoError(t, err)
	require.Equal(t, l1.Core{X: 1, Y: 2}, got)
	got, err = l1.ParseCore("007 - 0")
	require.NoError(t, err)
	require.Equal(t, l1.Core{X: 7}, got)
}

func TestParseCoreErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		pos  int
		want string
	}{
		{"", 0, "coordinate expected"},
		{"   ", 3, "coordinate expected"},
		{"7", 1, "'-' expected"},
		{"7-", 2, "coordinate expected"},
		{"-1-0", 0, "coordinate expected"},
		{"0--1", 2, "coordinate expected"},
		{"+1-0", 0, "coordinate expected"},
		{"256-0", 0, "coordinate above 255"},
		{"0-256", 2, "coordinate above 255"},
		{"99999999999999999999999-0", 0, "coordinate above 255"},
		{"0-0 ", -1, ""},
		{"0-0x", 3, "text after the end"},
		{"0-0,", 3, "text after the end"},
		{"(x=0,y=0", 8, "')' expected"},
		{"(x=0 y=0)", 5, "',' expected"},
		{"(y=0,x=0)", 1, "'x' expected"},
		{"(x:0,y=0)", 2, "'=' expected"},
		{"(x=,y=0)", 3, "coordinate expected"},
		{"(x=0,y=256)", 7, "coordinate above 255"},
		{"(x=0,y=0))", 9, "text after the end"},
		{"(0,0)", 1, "'x' expected"},
		{"x=0,y=0", 0, "coordinate expected"},
		{"0x1-0", 1, "'-' expected"},
		{"٣-0", 0, "coordinate expected"},
		{"0\u00a0-0", 1, "'-' expected"},
		{"0\x00-0", 1, "'-' expected"},
	} {
		_, err := l1.ParseCore(tc.text)
		if tc.pos < 0 {
			require.NoError(t, err, tc.text)
			continue
		}
		requireParseError(t, err, "core", tc.text, tc.pos, tc.want)
	}
}

func TestCoreRangeTexts(t *testing.T) {
	for _, tc := range []struct {
		r           l1.CoreRange
		text, older string
	}{
		{l1.CoreRange{}, "[0-0 - 0-0]", "[(x=0,y=0) - (x=0,y=0)]"},
		{l1.CoreRange{End: l1.Core{X: 7, Y: 7}}, "[0-0 - 7-7]", "[(x=0,y=0) - (x=7,y=7)]"},
		{l1.CoreRange{Start: l1.Core{X: 1, Y: 2}, End: l1.Core{X: 255, Y: 255}}, "[1-2 - 255-255]", "[(x=1,y=2) - (x=255,y=255)]"},
	} {
		require.Equal(t, tc.text, tc.r.String())
		require.Equal(t, tc.older, tc.r.Legacy())
		for _, text := range []string{tc.text, tc.older, strings.ReplaceAll(tc.text, " ", ""), strings.ReplaceAll(tc.older, " ", "\n\t ")} {
			got, err := l1.ParseCoreRange(text)
			require.NoError(t, err, text)
			require.Equal(t, tc.r, got)
		}
	}
}

func TestParseCoreRangeErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		pos  int
		want string
	}{
		{"", 0, "'[' expected"},
		{"0-0 - 7-7", 0, "'[' expected"},
		{"[]", 1, "coordinate expected"},
		{"[0-0]", 4, "'-' expected"},
		{"[0-0 - 7-7", 10, "']' expected"},
		{"[0-0 - 7]", 8, "'-' expected"},
		{"[1-0 - 0-0]", 0, "start lies beyond end"},
		{"  [0-1 - 0-0]", 2, "start lies beyond end"},
		{"[(x=3,y=3) - (x=4,y=2)]", 0, "start lies beyond end"},
		{"[0-0 - 300-0]", 7, "coordinate above 255"},
		{"[0-0 - 7-7]]", 11, "text after the end"},
		{"[0-0 - 7-7],", 11, "text after the end"},
	} {
		_, err := l1.ParseCoreRange(tc.text)
		requireParseError(t, err, "core range", tc.text, tc.pos, tc.want)
	}
}

func TestParseCoreRangeSet(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		cores      int
	}{
		{"{}", "{}", 0},
		{" { } ", "{}", 0},
		{"{[0-0 - 0-0]}", "{[0-0 - 0-0]}", 1},
		{"{[0-0 - 7-7], [0-8 - 3-8]}", "{[0-0 - 7-7], [0-8 - 3-8]}", 68},
		{"{[0-8 - 3-8],[0-0 - 7-7]}", "{[0-8 - 3-8], [0-0 - 7-7]}", 68}, // order is kept
		{"{[(x=0,y=0) - (x=7,y=7)]}", "{[0-0 - 7-7]}", 64},
		{"{[(x=0,y=0) - (x=7,y=7)], [0-8 - 3-8]}", "{[0-0 - 7-7], [0-8 - 3-8]}", 68}, // mixed
		{"{[0-0 - 1-1], [1-1 - 2-2], [0-0 - 1-1]}", "{[0-0 - 1-1], [1-1 - 2-2], [0-0 - 1-1]}", 7},
		{"{[0-0 - 255-255]}", "{[0-0 - 255-255]}", 65_536},
	} {
		s, err := l1.ParseCoreRangeSet(tc.text)
		require.NoError(t, err, tc.text)
		require.Equal(t, tc.want, s.String())
		require.Equal(t, tc.cores, s.Cores().Len())
		again, err := l1.ParseCoreRangeSet(s.Legacy())
		require.NoError(t, err)
		require.True(t, s.Equal(again))
		require.True(t, s.Equal(l1.MustParseCoreRangeSet(tc.text)))
	}
}

func TestParseCoreRangeSetErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		pos  int
		want string
	}{
		{"", 0, "'{' expected"},
		{"[0-0 - 7-7]", 0, "'{' expected"},
		{"{", 1, "'[' expected"},
		{"{,}", 1, "'[' expected"},
		{"{[0-0 - 7-7]", 12, `"," or "}" expected`},
		{"{[0-0 - 7-7] [0-8 - 3-8]}", 13, `"," or "}" expected`},
		{"{[0-0 - 7-7],}", 13, "'[' expected"},
		{"{[0-0 - 7-7],, [0-0 - 1-1]}", 13, "'[' expected"},
		{"{[0-0 - 7-7], [7-7 - 0-0]}", 14, "start lies beyond end"},
		{"{[0-0 - 7-7]}}", 13, "text after the end"},
		{"{}{}", 2, "text after the end"},
		{"null", 0, "'{' expected"},
		{"\ufeff{}", 0, "'{' expected"},
	} {
		s, err := l1.ParseCoreRangeSet(tc.text)
		requireParseError(t, err, "core range set", tc.text, tc.pos, tc.want)
		require.Zero(t, s.Len())
		require.Panics(t, func() { l1.MustParseCoreRangeSet(tc.text) })
	}
}

// Texts that come from anywhere: whatever is in them, the error is one short line.
func TestHostileTexts(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("{", 1<<20),
		strings.Repeat("\x1b[31m", 1000),
		"{[0-0 - 7-7]\n\x1b]0;title\a",
		strings.Repeat("\u202e", 100),
		strings.Repeat("\xff", 100),
		strings.Repeat(`"`, 1000),
		strings.Repeat("\x00", 60),
		strings.Repeat("\U0010ffff", 20),
		"{[" + strings.Repeat("9", 1<<20) + "-0 - 0-0]}",
		"<script>alert(1)</script>",
		"%d%s%n",
	} {
		_, err := l1.ParseCoreRangeSet(text)
		require.Error(t, err)
		requireOneLine(t, err)
		_, err = l1.ParseCore(text)
		requireOneLine(t, err)
		_, err = l1.ParseBytes(text)
		requireOneLine(t, err)
		_, err = l1.ParseArch(text)
		requireOneLine(t, err)
		requireOneLine(t, l1.Spec{Name: text, Cols: -1}.Check())
	}
	// Long and legal is neither refused nor slow.
	long := "{" + strings.Repeat("[0-0 - 255-255], ", 1000) + "[0-0 - 0-0]}"
	s, err := l1.ParseCoreRangeSet(long)
	require.NoError(t, err)
	require.Equal(t, 1001, s.Len())
	require.Equal(t, 65_536, s.Cores().Len())
}

// FuzzParseCoreRangeSet: what can be read prints in both spellings as a text that
// reads the same; what cannot be read gives a *ParseError of one short line.
func FuzzParseCoreRangeSet(f *testing.F) {
	for _, text := range []string{
		"{}", "{[0-0 - 7-7]}", "{[0-0 - 7-7], [0-8 - 3-8]}", "{[(x=0,y=0) - (x=7,y=7)]}",
		"{[(x=0,y=0) - (x=7,y=7)], [0-8 - 3-8]}", "{[255-255 - 255-255]}", "{[1-0 - 0-0]}",
		"[0-0 - 7-7]", "7-7", "(x=7,y=7)", "{[0-0 - 256-0]}", "{[-1--1 - 0-0]}", " {\n[0-0\t-7-7 ] }\r\n", "{[0-0 - 7-7],}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := l1.ParseCoreRangeSet(text)
		if err != nil {
			var bad *l1.ParseError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, text, bad.Text)
			require.True(t, 0 <= bad.Pos && bad.Pos <= len(text))
			require.Zero(t, s.Len())
			requireOneLine(t, err)
			return
		}
		for _, printed := range []string{s.String(), s.Legacy()} {
			again, err := l1.ParseCoreRangeSet(printed)
			require.NoError(t, err)
			require.True(t, s.Equal(again))
		}
		for r := range s.All() {
			require.NoError(t, r.Check())
		}
	})
}

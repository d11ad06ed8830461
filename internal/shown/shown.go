package shown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"

	"github.com/cbl1/cbl1/l1"
)

// Ellipsis marks a cut.
const Ellipsis = "..."

// MaxValue is the length in bytes that no result of Value exceeds.
const MaxValue = 128

// Head returns the start of s, in at most n bytes; n is 3 or more.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:max(n-len(Ellipsis), 0)] + Ellipsis
}

// TailText returns the end of s, in at most n bytes; n is 3 or more. It cuts no character in two.
func TailText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-max(n-len(Ellipsis), 0):]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return Ellipsis + s
}

// Op returns the functions of a path, joined by " > ", as Visible shows them, in at most n columns; n is 16 or more. The
// outermost one, which was called, stays whole if it leaves a third for the innermost one, which ran. If it does not, the
// innermost one stays whole where that leaves a few columns. All else is cut in the middle.
func Op(path string, n int) string {
	const between, few = " > ", 12
	path = Visible(path)
	if Width(path) <= n {
		return path
	}
	first, last, nested := strings.Cut(path, between)
	if i := strings.LastIndex(last, between); i >= 0 {
		last = last[i+len(between):]
		path = first + between + Ellipsis + between + last
	}
	room := n - Width(last) - len(between)
	switch {
	case Width(path) <= n:
		return path
	case nested && Width(first) > 2*n/3 && room >= few:
		return Start(first, room) + between + last
	case nested && Width(first) <= n:
		return Start(path, n)
	}
	head := n/2 - len(Ellipsis)
	return strings.TrimSuffix(Start(path, head+len(Ellipsis)), Ellipsis) + End(path, n-head)
}

// Nested is Op, with words for no function.
func Nested(op string, n int) string {
	if op == "" {
		return "(outside any function)"
	}
	return Op(op, n)
}

// MaxName is the length in bytes to which names are kept. MaxOutput is their length in the JSON of
// this module: a log may repeat one name for each of its lines. MaxPath is the length for nested
// operations: the outer ones in MaxOutput, " > ", and the innermost.
const (
	MaxName   = 64 << 10
	MaxOutput = 1 << 10
	MaxPath   = MaxOutput + 3 + MaxName
)

// Clip returns s if it has at most n bytes. Of a longer one it is the start and the length,
// in at most n bytes: "conv2d... (70,000 bytes)". No character is cut in two. n is 64 or more.
func Clip(s string, n int) string { return ClipStart(s, len(s), n) }

// ClipStart is Clip of a text of length bytes; s is its start, n bytes or all of it.
func ClipStart(s string, length, n int) string {
	if length <= n {
		return s
	}
	mark := Ellipsis + " (" + Plural(length, "byte") + ")"
	end := n - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// ClipJoined is Clip of names joined by sep. Its cost follows n, and the number of names.
func ClipJoined(names []string, sep string, n int) string {
	var b strings.Builder
	length := 0
	add := func(s string) {
		length += len(s)
		b.WriteString(s[:min(len(s), n-b.Len())])
	}
	for i, name := range names {
		if i > 0 {
			add(sep)
		}
		add(name)
	}
	return ClipStart(b.String(), length, n)
}

// Plural returns a number, which is not negative, and its noun: "1 record", "1,024 records".
func Plural[T int | int64 | uint64](n T, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return l1.Bytes(n).Exact() + " " + noun
}

// Name returns the start of s, escaped, in at most n bytes.
func Name(s string, n int) string {
	if len(s) > 4*n { // no need to escape 64 KiB to show 40 of them
		s = s[:4*n]
	}
	return Head(Escape(s), n)
}

// Path returns the end of s as Visible shows it, in at most n bytes; n is 3 or more.
func Path(s string, n int) string {
	for columns := n; columns >= len(Ellipsis); columns-- {
		if out := End(s, columns); len(out) <= n {
			return out
		}
	}
	return Ellipsis
}

// Start returns the start of s as Visible shows it, in at most n columns; n is 3 or more.
func Start(s string, n int) string {
	s = Visible(s[:min(len(s), perColumn*n)])
	if Width(s) <= n {
		return s
	}
	free := n - len(Ellipsis)
	for i, r := range s {
		if free -= columns(r); free < 0 {
			return s[:i] + Ellipsis
		}
	}
	return s
}

// End returns the end of s as Visible shows it, in at most n columns; n is 3 or more.
func End(s string, n int) string {
	s = Visible(s[max(0, len(s)-perColumn*n):])
	over := Width(s) - n
	if over <= 0 {
		return s
	}
	over += len(Ellipsis)
	for i, r := range s {
		if over <= 0 && columns(r) > 0 && !unicode.IsMark(r) { // a mark stays with its letter
			return Ellipsis + s[i:]
		}
		over -= columns(r)
	}
	return Ellipsis
}

// perColumn is more bytes than one column can take: a letter and three marks.
const perColumn = 4*4 + 1

// Width returns how many columns s takes on a terminal. It is for text that Visible returned.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

func columns(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), 0x1160 <= r && r <= 0x11ff: // marks; vowels and finals of Korean syllables
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Value returns a copy of the start of raw, in at most MaxValue bytes. It is not escaped.
func Value(raw []byte) string {
	if len(raw) <= MaxValue {
		return string(raw)
	}
	return string(raw[:MaxValue-len(Ellipsis)]) + Ellipsis
}

// Escape returns s with everything but printable ASCII as the escapes of a Go string. It
// is not quoted.
func Escape(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return escape(s, func(r rune) bool { return ' ' <= r && r <= '~' })
		}
	}
	return s
}

// Visible is like Escape, but keeps what prints in scripts that run from left to right.
// Right-to-left letters are escaped like the signs that turn the direction: they would
// move the figures beside them. Three marks may stand on a letter, and none on anything
// else: more would cover the lines above. U+FFFD is
// escaped, too: it stands for what somebody else could not read.
func Visible(s string) string {
	const most = 3
	marks := most
	return escape(s, func(r rune) bool {
		if ' ' <= r && r <= '~' {
			marks = most
			if unicode.IsLetter(r) {
				marks = 0
			}
			return true
		}
		switch {
		case !strconv.IsPrint(r), r == utf8.RuneError, unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), rightToLeft(r):
			marks = most
			return false
		case unicode.IsMark(r):
			marks++
			return marks <= most
		case unicode.IsLetter(r):
			marks = 0
		default:
			marks = most
		}
		return true
	})
}

func rightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN
}

func escape(s string, plain func(rune) bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		asItIs := plain(r)
		switch {
		case r == utf8.RuneError && n == 1: // not UTF-8: the byte itself
			b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(s[0]), 16)[1:])
		case asItIs:
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

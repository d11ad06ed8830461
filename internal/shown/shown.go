package shown

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Ellipsis marks what was cut.
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

// Tail returns the end of s, in at most n bytes; n is 3 or more.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Ellipsis + s[len(s)-max(n-len(Ellipsis), 0):]
}

// TailText is like Tail, and cuts no character in two.
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

// Name returns the start of s, escaped, in at most n bytes.
func Name(s string, n int) string {
	if len(s) > 4*n { // no need to escape 64 KiB to show 40 of them
		s = s[:4*n]
	}
	return Head(Escape(s), n)
}

// Path returns the end of s, escaped, in at most n bytes.
func Path(s string, n int) string {
	if len(s) > 8*n {
		s = s[len(s)-8*n:]
	}
	return Tail(Escape(s), n)
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

// Visible is like Escape, but keeps what prints in any script. What ends a line or turns
// the writing direction does not print.
func Visible(s string) string { return escape(s, strconv.IsPrint) }

func escape(s string, plain func(rune) bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1: // not UTF-8: the byte itself
			b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(s[0]), 16)[1:])
		case plain(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

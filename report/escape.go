package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape returns s with everything but printable ASCII as the escapes of a Go
// string: text from a file can neither steer a terminal, nor end a line, nor turn
// the writing direction.
func Escape(s string) string {
	plain := func(r rune) bool { return ' ' <= r && r <= '~' }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 { // not UTF-8: the byte itself
			b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(s[i]), 16)[1:])
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// ellipsis marks what was cut.
const ellipsis = "..."

// name makes text from a file fit for a line: escaped, and cut to n bytes.
func name(s string, n int) string {
	if len(s) > 4*n { // no need to escape 64 KiB to show 40 of them
		s = s[:4*n]
	}
	return head(Escape(s), n)
}

// head returns the start of s, in at most n bytes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-len(ellipsis)] + ellipsis
}

// fileName is like name, but keeps the end: of a path it tells more.
func fileName(s string, n int) string {
	if len(s) > 8*n {
		s = s[len(s)-8*n:]
	}
	if s = Escape(s); len(s) > n {
		s = ellipsis + s[len(s)-n+len(ellipsis):]
	}
	return s
}

// between joins the functions of ProgramDetail.Op.
const between = " > "

// opName shortens a path of functions to n bytes. The outermost is what the user
// called and the innermost what ran, so the ones between go first.
func opName(op string, n int) string {
	if op == "" {
		return "(outside any function)"
	}
	if first, rest, ok := strings.Cut(op, between); ok && len(op) > n {
		if i := strings.LastIndex(rest, between); i >= 0 {
			op = first + between + ellipsis + between + rest[i+len(between):]
		}
	}
	return name(op, n)
}

// caller is the outermost function of an op.
func caller(op string) string {
	first, _, _ := strings.Cut(op, between)
	return first
}

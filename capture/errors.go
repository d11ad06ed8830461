package capture

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cbl1/cbl1/event"
)

// The errors of this package are those of package event.
var (
	ErrNotCapture = event.ErrNotCapture
	ErrTooLarge   = event.ErrTooLarge
	ErrTooDeep    = event.ErrTooDeep
	ErrExpands    = event.ErrExpands
	ErrChanged    = event.ErrChanged
)

// An InputError says what in an input cannot be read, and where.
type InputError = event.InputError

// maxError is the length in bytes that no error text exceeds.
const maxError = 300

const ellipsis = "..."

// head returns the start of s, in at most n bytes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-len(ellipsis)] + ellipsis
}

// visible returns s with control characters, and everything that is not ASCII, as
// the escapes of a Go string; it is not quoted.
func visible(s string) string {
	// Texts may be long and no more than maxError bytes of the result are shown.
	// The end is kept too because of paths.
	if len(s) > 4*maxError {
		s = s[:2*maxError] + ellipsis + s[len(s)-2*maxError:]
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return escape(s)
		}
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case ' ' <= r && r <= '~':
			b.WriteRune(r)
		case r == utf8.RuneError:
			_, n := utf8.DecodeRuneInString(s[i:])
			if n == 1 { // not UTF-8: the byte itself
				b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(s[i]), 16)[1:])
				continue
			}
			b.WriteString(`\ufffd`)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// clip returns a copy of the start of raw, which may be huge.
func clip(raw []byte) string {
	const most = 128
	if len(raw) <= most {
		return string(raw)
	}
	return string(raw[:most-len(ellipsis)]) + ellipsis
}

package event

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cbl1/cbl1/internal/packed"
)

// What an *InputError may match with errors.Is, besides io.ErrUnexpectedEOF for
// input that is cut and the error of whatever could not be read or parsed.
var (
	// ErrNotCapture: the input is something else; the error says what it looks like.
	ErrNotCapture = errors.New("not a graph capture")
	// ErrTooLarge: a node or section is larger than MaxNode.
	ErrTooLarge = errors.New("larger than 16 MiB")
	// ErrTooDeep: arrays and objects nest more than 1,000 deep.
	ErrTooDeep = errors.New("nested too deeply")
	// ErrExpands: compressed input expands more than 1000:1 after 64 MiB of output.
	ErrExpands = packed.ErrExpands
	// ErrChanged: a file was written to while it was read.
	ErrChanged = errors.New("changed while it was read")
)

// An InputError says what in an input cannot be read, and where. All failures of
// this package's readers are of this type.
type InputError struct {
	File   string // as given; "#captured_graph" is added for a capture inside a JSON string
	Offset int64  // bytes of (decompressed) input before the offending one
	Line   int64  // from 1; 0: the error has no position
	Node   int64  // counter of the node, -1 outside nodes
	Field  string // the key of the value at fault, or ""
	Value  string // that value as JSON text, cut after 128 bytes, or ""
	Reason string // what is wrong with it
	Err    error  // the cause, or nil
}

// maxError is the length in bytes that no error text exceeds.
const maxError = 300

// Error is one line of at most 300 bytes. What came from the input is shown with
// everything but printable ASCII escaped.
func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(tail(visible(e.File), 100))
	if e.Line > 0 {
		b.WriteString(":" + strconv.FormatInt(e.Line, 10) + ": byte " + strconv.FormatInt(e.Offset, 10))
	}
	if e.Node >= 0 {
		b.WriteString(": node " + strconv.FormatInt(e.Node, 10))
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(head(visible(e.Field), 60) + ": ")
	}
	if e.Value != "" {
		b.WriteString(head(visible(e.Value), 60) + " ")
	}
	b.WriteString(visible(e.Reason))
	return head(strings.TrimPrefix(b.String(), ": "), maxError)
}

func (e *InputError) Unwrap() error { return e.Err }

const ellipsis = "..."

// head returns the start of s, in at most n bytes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-len(ellipsis)] + ellipsis
}

// tail returns the end of s, in at most n bytes: of a path the end tells more.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return ellipsis + s[len(s)-n+len(ellipsis):]
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

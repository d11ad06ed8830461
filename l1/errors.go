package l1

import (
	"fmt"
	"strconv"
)

// MaxAddr is the largest address, and the largest end of a range, that the API
// accepts: 2^63-1 bytes. Sums of lengths within one core never overflow.
const MaxAddr = 1<<63 - 1

// A RangeError reports that [Start, End) is not a range: start above end, or an end beyond MaxAddr.
type RangeError struct {
	Start  uint64 // as given
	End    uint64 // as given, or Start + Size; 0 where that sum is beyond 2^64-1
	Size   uint64 // bytes, as given to RangeOf; 0 where an end was given
	Reason string
}

func (e *RangeError) Error() string {
	if e.Size > 0 && e.End < e.Start {
		return fmt.Sprintf("range of %d bytes at %d: %s", e.Size, e.Start, e.Reason)
	}
	return fmt.Sprintf("range [%d, %d): %s", e.Start, e.End, e.Reason)
}

// A ParseError names the part of a text that could not be read, and its place.
type ParseError struct {
	What   string // the expected form: "core", "core range", "core range set", "size", ...
	Text   string // the whole text
	Pos    int    // byte offset in Text
	Reason string
}

// Error is one line of at most 300 bytes without control characters.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s %s: position %d: %s", e.What, clip(e.Text), e.Pos, e.Reason)
}

// clip quotes a text that may come from anywhere so that it is safe and short.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return limit(strconv.QuoteToASCII(s))
	}
	return limit(strconv.QuoteToASCII(s[:most])) + "..."
}

func limit(quoted string) string {
	const most = 150
	if len(quoted) <= most {
		return quoted
	}
	return quoted[:most] + `"`
}

// A SpecError names the field of a Spec that makes no sense, and its value.
type SpecError struct {
	Spec   string // Spec.Name
	Field  string
	Value  string
	Reason string
}

func (e *SpecError) Error() string {
	return fmt.Sprintf("spec %s: %s %s: %s", clip(e.Spec), e.Field, clip(e.Value), e.Reason)
}

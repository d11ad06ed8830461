package jsonobject

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// The limits that callers use: of any number, of an address or size in L1 in bytes, of an id or
// count that fits into 31 bits, of any other id.
const (
	MaxWhole = math.MaxInt64
	MaxL1    = math.MaxUint32
	MaxInt   = math.MaxInt32
	maxID    = math.MaxUint64
)

// MaxDigits is how long a number may be spelled, in bytes. No writer needs more
// than 20, and a million digits take time.
const MaxDigits = 64

// Whole reads a JSON value that states a whole number from 0 to 2^63-1: a number, or (older
// writers) a string of decimal digits. Otherwise wrong has the reason, as the end of a sentence. It
// takes no more time than the value's length.
func Whole(raw []byte) (v uint64, wrong string) { return upTo(raw, MaxWhole) }

// upTo is Whole for numbers up to most, which may be above 2^63-1.
func upTo(raw []byte, most uint64) (v uint64, wrong string) {
	text, quoted := raw, raw[0] == '"'
	if quoted {
		text, most = unescaped(raw), min(most, MaxWhole)
	}
	plain := false
	if len(text) <= 20 { // no longer number is below 2^64
		n, err := strconv.ParseUint(string(text), 10, 64)
		v, plain = n, err == nil
	}
	if !plain {
		v, wrong = spelled(text, quoted)
	}
	switch {
	case wrong != "":
		return 0, wrong
	case v > MaxWhole && most <= MaxWhole:
		return 0, Above(MaxWhole)
	case v > most:
		return 0, Above(most)
	}
	return v, ""
}

// Above returns the end of a sentence about a number that is too large.
func Above(most uint64) string {
	switch most {
	case MaxL1:
		return "is above 2^32-1, the largest L1 address"
	case MaxInt:
		return "is above 2^31-1"
	case MaxWhole:
		return "is above 2^63-1"
	}
	return "is above " + strconv.FormatUint(most, 10)
}

// spelled reads a number that is not just digits, or no number: 4096.0 and 4.096e3 are
// whole numbers too.
func spelled(raw []byte, quoted bool) (v uint64, wrong string) {
	switch {
	case quoted && (len(raw) == 0 || len(bytes.Trim(raw, "0123456789")) > 0):
		return 0, "is not a whole number"
	case !quoted && raw[0] != '-' && !isDigit(raw[0]):
		return 0, "is not a number"
	case len(raw) > MaxDigits:
		return 0, "is not a number of at most 64 characters"
	}
	// The value is digits, times 10^exp.
	text, negative := strings.CutPrefix(string(raw), "-")
	text, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(text, ".")
	e, _ := strconv.ParseInt(exponent, 10, 16) // none is 0, and one that is too large is the largest
	all := strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(all, "0")
	exp := int(e) - len(fraction) + len(all) - len(digits)
	switch {
	case digits == "":
		return 0, "" // also as -0 and 0e9
	case negative:
		return 0, "is negative"
	case exp < 0:
		return 0, "is not a whole number"
	case len(digits)+exp > 19:
		return 0, Above(MaxWhole)
	}
	if v, _ = strconv.ParseUint(digits+strings.Repeat("0", exp), 10, 64); v > MaxWhole {
		return 0, Above(MaxWhole)
	}
	return v, ""
}

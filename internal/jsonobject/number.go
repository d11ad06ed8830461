package jsonobject

import (
	"bytes"
	"math"
	"strconv"
)

// The largest values that are asked for: of any number, of an address or size in L1 in
// bytes, and of an id or count that fits into 31 bits.
const (
	MaxWhole = math.MaxInt64
	MaxL1    = math.MaxUint32
	MaxInt   = math.MaxInt32
)

// above says, as the end of a sentence, that a number is too large.
func above(most uint64) string {
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

// MaxDigits is how long a number may be spelled, in bytes. No writer needs more
// than 20, and nobody should wait for a million digits.
const MaxDigits = 64

// Whole reads a JSON value that states a whole number from 0 to 2^63-1: a number,
// or (older writers) a string of decimal digits. Otherwise it says in wrong, as the
// end of a sentence, why not. It takes no more time than the value's length.
func Whole(raw []byte) (v uint64, wrong string) {
	switch c := raw[0]; {
	case c == '"':
		digits := raw[1 : len(raw)-1]
		if bytes.IndexByte(digits, '\\') >= 0 {
			digits = []byte(Unquote(raw))
		}
		if len(digits) == 0 {
			return 0, "is not a whole number"
		}
		for _, c := range digits {
			if c < '0' || c > '9' {
				return 0, "is not a whole number"
			}
		}
		return number(digits)
	case c == '-' || '0' <= c && c <= '9':
		return number(raw)
	}
	return 0, "is not a number"
}

// WholeID is Whole for ids, which may be above 2^63-1.
func WholeID(raw []byte) (id uint64, wrong string) {
	if len(raw) <= 20 {
		if id, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
			return id, ""
		}
	}
	return Whole(raw)
}

// number reads a number that follows JSON's grammar, or digits. 4096.0 and 4.096e3
// are whole numbers too.
func number(raw []byte) (v uint64, wrong string) {
	if len(raw) > MaxDigits {
		return 0, "is not a number of at most 64 characters"
	}
	// The value is digits[:n] as an integer, times 10^exp.
	var digits [MaxDigits]byte
	n, exp, point := 0, 0, false
	i := 0
	negative := raw[0] == '-'
	if negative {
		i++
	}
	for ; i < len(raw) && raw[i] != 'e' && raw[i] != 'E'; i++ {
		if raw[i] == '.' {
			point = true
			continue
		}
		digits[n] = raw[i] - '0'
		n++
		if point {
			exp--
		}
	}
	if i < len(raw) {
		exp += exponent(raw[i+1:])
	}
	first := 0
	for first < n && digits[first] == 0 {
		first++
	}
	if first == n {
		return 0, "" // 0, also as -0 and 0e9
	}
	for digits[n-1] == 0 {
		n--
		exp++
	}
	switch {
	case negative:
		return 0, "is negative"
	case exp < 0:
		return 0, "is not a whole number"
	case n-first+exp > 19:
		return 0, above(MaxWhole)
	}
	for _, d := range digits[first:n] {
		v = v*10 + uint64(d)
	}
	for range exp {
		v *= 10
	}
	if v > MaxWhole {
		return 0, above(MaxWhole)
	}
	return v, ""
}

// exponent reads what follows the e of a number, and stops counting where more
// would make no difference.
func exponent(raw []byte) int {
	const enough = 1000
	sign, e := 1, 0
	for _, c := range raw {
		switch c {
		case '-':
			sign = -1
		case '+':
		default:
			e = min(e*10+int(c-'0'), enough)
		}
	}
	return sign * e
}

// Flag reads a JSON value that states yes or no in one of the ways that writers
// have used.
func Flag(raw []byte) (v, ok bool) {
	switch string(raw) {
	case `true`, `"true"`, `1`, `"1"`:
		return true, true
	case `false`, `"false"`, `0`, `"0"`:
		return false, true
	}
	return false, false
}

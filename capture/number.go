package capture

import (
	"bytes"
	"math"
)

// The largest values that a capture may state.
const (
	maxWhole    = math.MaxInt64  // of any number
	maxL1       = math.MaxUint32 // of an address or size in L1, in bytes
	maxDeviceID = math.MaxInt32
)

// maxDigits is how long a number may be spelled, in bytes. No writer needs more
// than 20, and nobody should wait for a million digits.
const maxDigits = 64

// whole reads a JSON value that states a whole number from 0 to 2^63-1: a number,
// or (older writers) a string of decimal digits. Otherwise it says in wrong, as the
// end of a sentence, why not. It takes no more time than the value's length.
func whole(raw []byte) (v uint64, wrong string) {
	switch c := raw[0]; {
	case c == '"':
		digits := raw[1 : len(raw)-1]
		if bytes.IndexByte(digits, '\\') >= 0 {
			digits = []byte(unquote(raw))
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

// number reads a number that follows JSON's grammar, or digits. 4096.0 and 4.096e3
// are whole numbers too.
func number(raw []byte) (v uint64, wrong string) {
	if len(raw) > maxDigits {
		return 0, "is not a number of at most 64 characters"
	}
	// The value is digits[:n] as an integer, times 10^exp.
	var digits [maxDigits]byte
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
		return 0, "is above 2^63-1"
	}
	for _, d := range digits[first:n] {
		v = v*10 + uint64(d)
	}
	for range exp {
		v *= 10
	}
	if v > maxWhole {
		return 0, "is above 2^63-1"
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

// flag reads a JSON value that states yes or no in one of the ways that writers
// have used.
func flag(raw []byte) (v, ok bool) {
	switch string(raw) {
	case `true`, `"true"`, `1`, `"1"`:
		return true, true
	case `false`, `"false"`, `0`, `"0"`:
		return false, true
	}
	return false, false
}

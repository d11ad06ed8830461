package l1

import (
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Bytes is a number of bytes that prints for people: "512 B", "12.0 KiB",
// "29.0 MiB". Print Exact beside it where exactness matters.
type Bytes uint64

// Exact returns the number itself, with a comma between each three digits: "1,572,864".
func (n Bytes) Exact() string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const byteUnits = "KMGTPE"

// String returns n with one decimal in the largest unit of 1024 that is not above
// it, rounded to nearest; below 1 KiB it is exact.
func (n Bytes) String() string {
	if n < 1024 {
		return fmt.Sprintf("%d B", uint64(n))
	}
	unit := uint(bits.Len64(uint64(n))-1) / 10
	t := n.tenths(unit)
	if t == 10240 && unit < uint(len(byteUnits)) { // 1023.95 KiB is 1.0 MiB
		unit++
		t = n.tenths(unit)
	}
	return fmt.Sprintf("%d.%d %ciB", t/10, t%10, byteUnits[unit-1])
}

// tenths returns n in tenths of 1024^unit, rounded to nearest.
func (n Bytes) tenths(unit uint) uint64 {
	shift := 10 * unit
	hi, lo := bits.Mul64(uint64(n), 10)
	lo, carry := bits.Add64(lo, 1<<(shift-1), 0)
	return (hi+carry)<<(64-shift) | lo>>shift
}

// ParseBytes reads "4096", "4096 B", "64KiB", "1.5 MiB", and units of 1000: "64KB" and
// "64kB" are 64,000 bytes. A decimal fraction must come out at whole bytes. Errors are *ParseError.
func ParseBytes(text string) (Bytes, error) {
	fail := func(pos int, reason string) (Bytes, error) {
		return 0, &ParseError{What: "size", Text: text, Pos: pos, Reason: reason}
	}
	end := 0
	for end < len(text) && ('0' <= text[end] && text[end] <= '9' || text[end] == '.') {
		end++
	}
	number := text[:end]
	if number == "" || number[0] == '.' || number[end-1] == '.' || strings.Count(number, ".") > 1 {
		return fail(0, "number expected")
	}
	if len(number) > 40 {
		return fail(0, "number too long")
	}
	factor := big.NewInt(1)
	unit := strings.TrimLeft(text[end:], " ")
	if unit == "kB" {
		unit = "KB"
	}
	switch {
	case unit == "" || unit == "B":
	case len(unit) == 3 && unit[1:] == "iB" && strings.IndexByte(byteUnits, unit[0]) >= 0:
		factor.Exp(big.NewInt(1024), big.NewInt(int64(strings.IndexByte(byteUnits, unit[0])+1)), nil)
	case len(unit) == 2 && unit[1] == 'B' && strings.IndexByte(byteUnits, unit[0]) >= 0:
		factor.Exp(big.NewInt(1000), big.NewInt(int64(strings.IndexByte(byteUnits, unit[0])+1)), nil)
	default:
		return fail(len(text)-len(unit), "unit expected: B, KiB, MiB, GiB, KB, MB, GB")
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return fail(0, "number expected")
	}
	value.Mul(value, new(big.Rat).SetInt(factor))
	switch {
	case !value.IsInt():
		return fail(0, "not a whole number of bytes")
	case !value.Num().IsInt64():
		return fail(0, "above 2^63-1 bytes")
	}
	return Bytes(value.Num().Uint64()), nil
}

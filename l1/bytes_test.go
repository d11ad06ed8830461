package l1_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/cbl1/cbl1/l1"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBytesString(t *testing.T) {
	for _, tc := range []struct {
		n    l1.Bytes
		want string
	}{
		{0, "0 B"},
		{1, "1 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1075, "1.0 KiB"},
		{1076, "1.1 KiB"}, // 1.0508
		{1_536, "1.5 KiB"},
		{12_288, "12.0 KiB"},
		{1 << 20, "1.0 MiB"},
		{1<<20 - 1, "1.0 MiB"}, // not 1024.0 KiB
		{1<<20 - 51, "1.0 MiB"},
		{1<<20 - 52, "1023.9 KiB"},
		{1_499_136, "1.4 MiB"},
		{1_572_864, "1.5 MiB"},
		{1<<30 - 1, "1.0 GiB"},
		{1<<40 - 1, "1.0 TiB"},
		{1<<50 - 1, "1.0 PiB"},
		{1<<60 - 1, "1.0 EiB"},
		{1 << 60, "1.0 EiB"},
		{math.MaxInt64, "8.0 EiB"},
		{1 << 63, "8.0 EiB"},
		{math.MaxUint64, "16.0 EiB"},
	} {
		require.Equal(t, tc.want, tc.n.String(), "%d", uint64(tc.n))
	}
}

// The text is the number in tenths of its unit, rounded to nearest, and the unit is
// the right one. (In rationals, to have no rounding of their own.)
func TestBytesExact(t *testing.T) {
	for n, want := range map[l1.Bytes]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 123_456: "123,456", 1_234_567: "1,234,567", 1<<64 - 1: "18,446,744,073,709,551,615",
	} {
		require.Equal(t, want, n.Exact())
	}
}

func TestBytesStringIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Min(1024).Draw(t, "n")
		number, unit, ok := strings.Cut(l1.Bytes(n).String(), " ")
		require.True(t, ok)
		power := strings.Index("KMGTPE", unit[:1]) + 1
		require.Positive(t, power)
		shown, ok := new(big.Rat).SetString(number)
		require.True(t, ok)
		size := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*power)))
		shown.Mul(shown, size)
		off := new(big.Rat).Sub(shown, new(big.Rat).SetInt(new(big.Int).SetUint64(n)))
		require.LessOrEqual(t, off.Abs(off).Cmp(size.Mul(size, big.NewRat(1, 20))), 0, "%d shown as %s", n, l1.Bytes(n))
		whole, _, _ := strings.Cut(number, ".")
		require.LessOrEqual(t, len(whole), 4)
		require.NotEqual(t, "1024", whole)
		require.NotEqual(t, "0", whole)
	})
}

func TestParseBytes(t *testing.T) {
	for _, tc := range []struct {
		text string
		want l1.Bytes
	}{
		{"0", 0},
		{"4096", 4096},
		{"4096 B", 4096},
		{"4096B", 4096},
		{"010", 10}, // not octal
		{"64KiB", 64 << 10},
		{"64   KiB", 64 << 10},
		{"1.5 MiB", 1_572_864},
		{"1464 KiB", 1_499_136},
		{"0.5 KiB", 512},
		{"1.0000000000 KiB", 1024},
		{"0.0009765625 KiB", 1},
		{"2 GiB", 2 << 30},
		{"3 TiB", 3 << 40},
		{"4 PiB", 4 << 50},
		{"7 EiB", 7 << 60},
		{"4KB", 4000},
		{"4 kB", 4000},
		{"1.5 MB", 1_500_000},
		{"0.001 KB", 1},
		{"2 GB", 2_000_000_000},
		{"9 EB", 9_000_000_000_000_000_000},
		{"9223372036854775807", math.MaxInt64},
	} {
		got, err := l1.ParseBytes(tc.text)
		require.NoError(t, err, tc.text)
		require.Equal(t, tc.want, got, tc.text)
	}
}

func TestParseBytesErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		pos  int
		want string
	}{
		{"", 0, "number expected"},
		{" 1", 0, "number expected"},
		{"-1", 0, "number expected"},
		{"+1", 0, "number expected"},
		{".5 KiB", 0, "number expected"},
		{"5. KiB", 0, "number expected"},
		{"1.2.3 KiB", 0, "number expected"},
		{"KiB", 0, "number expected"},
		{"four", 0, "number expected"},
		{"0x10", 1, "unit expected"},
		{"1e3", 1, "unit expected"},
		{"1_000", 1, "unit expected"},
		{"1,000", 1, "unit expected"},
		{"4 mB", 2, "unit expected"},
		{"4 BB", 2, "unit expected"},
		{"4 ZB", 2, "unit expected"},
		{"0.0001 KB", 0, "not a whole number"},
		{"10 EB", 0, "above 2^63-1"},
		{"4 kiB", 2, "unit expected"},
		{"4 K", 2, "unit expected"},
		{"4 KiB ", 2, "unit expected"},
		{"4 iB", 2, "unit expected"},
		{"4 ZiB", 2, "unit expected"},
		{"4\tB", 1, "unit expected"},
		{"4096 bytes", 5, "unit expected"},
		{"1.5", 0, "not a whole number"},
		{"0.0001 KiB", 0, "not a whole number"},
		{"8 EiB", 0, "above 2^63-1"},
		{"9223372036854775808", 0, "above 2^63-1"},   // 2^63
		{"18446744073709551615", 0, "above 2^63-1"},  // 2^64-1
		{"18446744073709551616", 0, "above 2^63-1"},  // 2^64
		{strings.Repeat("9", 40), 0, "above 2^63-1"}, // as long as may be
		{strings.Repeat("9", 41), 0, "number too long"},
		{strings.Repeat("9", 100_000), 0, "number too long"},
	} {
		got, err := l1.ParseBytes(tc.text)
		requireParseError(t, err, "size", tc.text, tc.pos, tc.want)
		require.Zero(t, got)
	}
}

// An exact size printed for people can be read again: whole KiB and so on come back unchanged.
func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.IntRange(0, 5).Draw(t, "unit")
		n := l1.Bytes(rapid.Uint64Range(1, 1023).Draw(t, "n") << (10 * unit))
		got, err := l1.ParseBytes(n.String())
		require.NoError(t, err)
		require.Equal(t, n, got)
	})
	for _, n := range []l1.Bytes{0, 7 << 60, 1 << 60} {
		got, err := l1.ParseBytes(n.String())
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	// Above 2^63-1 bytes can be printed but are no size.
	for _, n := range []l1.Bytes{1 << 63, math.MaxUint64} {
		_, err := l1.ParseBytes(n.String())
		require.ErrorContains(t, err, "above 2^63-1")
	}
}

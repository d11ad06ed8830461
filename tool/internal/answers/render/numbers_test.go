package render

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567",
	} {
		require.Equal(t, want, grouped(n))
	}
	require.Equal(t, "18,446,744,073,709,551,615", grouped(uint64(1<<64-1)))
	for _, c := range []struct {
		part, whole uint64
		want        string
	}{
		{0, 1000, "0.0%"}, {1, 1 << 20, "<0.1%"}, {1, 1000, "0.1%"}, {1, 3, "33.3%"}, {999_999, 1_000_000, "99.9%"},
		{9, 10_000, "<0.1%"}, {9_995, 10_000, "99.9%"}, {9_994, 10_000, "99.9%"}, // what rounds to 0.1% and to 100.0%, and what does not
		{5, 5, "100.0%"}, {3, 2, "150.0%"}, {1 << 63, 1 << 62, "200.0%"},
	} {
		require.Equal(t, c.want, percent(c.part, c.whole), "%d of %d", c.part, c.whole)
	}
}

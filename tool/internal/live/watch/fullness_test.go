package watch

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/answer"
)

func TestFullness(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	for _, c := range []struct {
		d         answer.LiveDevice
		bytes, of uint64
		what      string
	}{
		{answer.LiveDevice{}, 0, 0, ""},
		{answer.LiveDevice{Usable: 10, Core: n(3), TrackedCore: n(2)}, 3, 10, "registered CBs on the fullest core"},
		{answer.LiveDevice{Usable: 10, Core: n(3), TrackedCore: n(4)}, 4, 10, "tracked on the fullest core"},
		{answer.LiveDevice{Usable: 10, Core: n(3), TrackedCore: n(14), Below: n(10)}, 10, 10, "tracked on the fullest core"},
		{answer.LiveDevice{Usable: 10, Cores: 2, Registered: n(15)}, 15, 20, "registered CBs"},
		{answer.LiveDevice{Dispatched: n(15)}, 15, 0, "resident CBs"},
	} {
		bytes, of, what := Fullness(&c.d)
		require.Equal(t, c.bytes, bytes)
		require.Equal(t, c.of, of)
		require.Equal(t, c.what, what)
	}
}

// Fullness follows the larger figure of the fullest core, and CBs count if both are equal.
func TestFullnessOfEquals(t *testing.T) {
	for _, c := range []struct {
		core, tracked uint64
		want          string
	}{
		{3, 3, "tracked on the fullest core"}, {4, 3, "registered CBs on the fullest core"}, {0, 0, "registered CBs on the fullest core"}, {0, 1, "tracked on the fullest core"},
	} {
		_, _, what := Fullness(&answer.LiveDevice{Core: &c.core, TrackedCore: &c.tracked})
		require.Equal(t, c.want, what)
	}
	bytes, _, what := Fullness(&answer.LiveDevice{TrackedCore: new(uint64(5))})
	require.Equal(t, "5 tracked on the fullest core", fmt.Sprint(bytes, " ", what))
}

// What a device has at the moment is shown: resident CBs, or registered ones where none was dispatched.
func TestCBs(t *testing.T) {
	r, d := new(uint64(1)), new(uint64(2))
	for _, c := range []struct {
		device answer.LiveDevice
		want   *uint64
	}{
		{answer.LiveDevice{}, nil},
		{answer.LiveDevice{Registered: r}, r},
		{answer.LiveDevice{Dispatched: d}, d},
		{answer.LiveDevice{Registered: r, Dispatched: d}, r},
		{answer.LiveDevice{Registered: r, Dispatched: d, Peak: &answer.LivePeak{}}, r},
		{answer.LiveDevice{Registered: r, Dispatched: d, Peak: &answer.LivePeak{Dispatched: new(uint64(0))}}, r},
		{answer.LiveDevice{Registered: r, Dispatched: d, Peak: &answer.LivePeak{Dispatched: new(uint64(1))}}, d},
	} {
		require.Equal(t, c.want, CBs(&c.device))
	}
}

// The L1 of all cores is a number, or not known.
func TestPhysical(t *testing.T) {
	require.EqualValues(t, 20, physical(&answer.LiveDevice{Cores: 2, Usable: 10}))
	require.Zero(t, physical(&answer.LiveDevice{Cores: -1, Usable: 10}))
	require.Equal(t, uint64(1<<63), physical(&answer.LiveDevice{Cores: 2, Usable: 1 << 62}))
	require.Zero(t, physical(&answer.LiveDevice{Cores: 2, Usable: 1 << 63}))
}

// Figures that count bytes more than once are named: sums, and figures without cores. A union
// larger than L1 does not fit.
func TestAccounting(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	for _, c := range []struct {
		d    answer.LiveDevice
		want string
	}{
		{answer.LiveDevice{Core: n(9), Logical: n(20), Sum: n(20), Registered: n(21), Dispatched: n(21)}, ""},
		{answer.LiveDevice{Core: n(9), Logical: n(21)}, "the sum of sizes x cores"},
		{answer.LiveDevice{Core: n(9), Sum: n(21)}, "the protocol's sum"},
		{answer.LiveDevice{Registered: n(20), Dispatched: n(20)}, ""},
		{answer.LiveDevice{Registered: n(21)}, "what is registered"},
		{answer.LiveDevice{Dispatched: n(21)}, "what is resident"},
	} {
		require.Empty(t, accounting(&c.d), "nobody knows how much there is")
		c.d.Cores, c.d.Usable = 2, 10
		require.Equal(t, c.want, accounting(&c.d))
	}
}

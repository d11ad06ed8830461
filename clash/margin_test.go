package clash_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/clash"
	"github.com/cbl1/cbl1/l1"
)

// Of several captures the one with the least room counts, in any order and the first of equals,
// and one that does not fit as it is counts most.
func TestMargin(t *testing.T) {
	found := read(t, "Program size (79760) too large for kernel config buffer (70656) on TENSIX")
	margin := func(name string, free uint64, failed int64) clash.Margin {
		return clash.Margin{Run: clash.Run{Capture: name, Op: "op", Event: 7}, Free: free, Failed: failed}
	}
	for _, c := range []struct {
		margins []clash.Margin
		want    string
	}{
		{[]clash.Margin{margin("a", 9152, 0)}, "of all runs of a this one leaves the least room above its CBs, 9,152 bytes (8.9 KiB): op, node 7 of a. " +
			"worker_l1_size can shrink by no more than that, and 9,152 are needed: the CBs of all runs still fit"},
		{[]clash.Margin{margin("a", 9151, 0), margin("b", 9152, 0)}, "of all runs of a this one leaves the least room above its CBs, 9,151 bytes (8.9 KiB): op, node 7 of a. " +
			"worker_l1_size can shrink by no more than that, and 9,152 are needed: too little, by 1 byte"},
		{[]clash.Margin{margin("b", 64, 0), margin("a", 64, 0)}, "of all runs of b this one leaves the least room above its CBs, 64 bytes: op, node 7 of b. " +
			"worker_l1_size can shrink by no more than that, and 9,152 are needed: too little, by 9,088 bytes (8.9 KiB)"},
		{[]clash.Margin{margin("a", 1, 0), margin("b", 9152, 2), margin("c", 0, 0)}, "runs of b that do not fit as it is: 2; worker_l1_size can shrink by nothing"},
	} {
		for _, merged := range []bool{false, true} {
			all := clash.Compare(found, l1.Spec{})
			for _, m := range c.margins {
				one := all
				if merged {
					one = clash.Compare(found, l1.Spec{})
				}
				one.AddMargin(m)
				if merged {
					all.Merge(one)
				}
			}
			e := clash.Explain(found.Messages[0], l1.Spec{})
			e.Add(all.Matches()[0])
			require.Equal(t, c.want, note(t, e, "change"))
		}
	}
}

// A program as large as the ring is refused by some releases: one more step of it is needed.
func TestRing(t *testing.T) {
	for text, want := range map[string]string{
		"Program size (70656) too large for kernel config buffer (70656) on TENSIX":     "smaller by 64 bytes:",
		"Program size (70657) too large for kernel config buffer (70656) on TENSIX":     "smaller by 64 bytes:",
		"Program size (70720) too large for kernel config buffer (70656)":               "on TENSIX cores a smaller worker_l1_size, on others none",
		"Program size (70721) too large for kernel config buffer (70656) on TENSIX":     "smaller by 128 bytes:",
		"Program size (70721) too large for kernel config buffer (70656) on NEW_2":      "no parameter of open_device",
		"Program size (<n>) too large for kernel config buffer (70656) on TENSIX":       "a smaller worker_l1_size",
		"Program size (25601) too large for kernel config buffer (25600) on ACTIVE_ETH": "no parameter",
	} {
		e := explain(t, text, l1.Spec{})
		require.False(t, e.Damaged)
		require.Contains(t, note(t, e, "open"), want, text)
	}
	for _, text := range []string{
		"Program size (70655) too large for kernel config buffer (70656) on TENSIX",
		"Creating trace buffers of size 5B on MeshDevice 0, but only 5B is allocated for trace region",
	} {
		require.True(t, explain(t, text, l1.Spec{}).Damaged, text)
	}
}

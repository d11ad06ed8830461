package wire_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// The DRAM of each board is known by its channels. The declared size of a device counts more.
func TestDRAM(t *testing.T) {
	want := map[string]uint64{ // GiB, and MiB that the firmware has
		"wormhole": 12 << 30, "blackhole": 32<<30 - 128<<20, "grayskull": 8 << 30, "p100": 28<<30 - 112<<20,
	}
	for _, board := range l1.Boards() {
		d := wire.DRAMOf(board.Name, 0)
		require.Equal(t, cmp.Or(want[board.Name], want[string(board.Arch)]), d.Bytes, board.Name)
		require.Equal(t, d.Bytes, uint64(d.Channels)*uint64(d.PerChannel))
		require.Equal(t, d, wire.DRAMOf(board.Name, d.Bytes))
		require.Equal(t, wire.DRAM{Bytes: 5}, wire.DRAMOf(board.Name, 5))
	}
	for _, unknown := range []string{"", "unknown", "blackhole", "mesh n150"} {
		require.Zero(t, wire.DRAMOf(unknown, 0))
		require.Equal(t, wire.DRAM{Bytes: 5}, wire.DRAMOf(unknown, 5))
	}
}

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/live/wire"
	"github.com/cbl1/cbl1/l1"
)

// The DRAM of each board is known, by its channels; what somebody says of a device counts more.
func TestDRAM(t *testing.T) {
	want := map[string]uint64{ // GiB, and MiB that the firmware has
		"n150": 12 << 30, "n300": 12 << 30, "galaxy": 12 << 30, "e150": 8 << 30, "e75": 8 << 30,
		"p150": 32<<30 - 128<<20, "p150b": 32<<30 - 128<<20, "p100": 28<<30 - 112<<20,
	}
	for _, board := range l1.Boards() {
		d := wire.DRAMOf(board.Name, 0)
		require.Equal(t, want[board.Name], d.Bytes, board.Name)
		require.Equal(t, d.Bytes, uint64(d.Channels)*uint64(d.PerChannel))
		require.Equal(t, d, wire.DRAMOf(board.Name, d.Bytes))
		require.Equal(t, wire.DRAM{Bytes: 5}, wire.DRAMOf(board.Name, 5))
	}
	for _, unknown := range []string{"", "unknown", "blackhole", "mesh n150"} {
		require.Zero(t, wire.DRAMOf(unknown, 0))
		require.Equal(t, wire.DRAM{Bytes: 5}, wire.DRAMOf(unknown, 5))
	}
}

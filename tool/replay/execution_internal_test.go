package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// The overlays that are known are bounded, also where each is empty: its program has a global circular buffer alone.
func TestKnownOverlaysAreBounded(t *testing.T) {
	x, left := newExecutions(), (*overlay)(nil)
	for id := range program.ID(maxKnown + 10) {
		p, err := program.Place(id, "", l1.N150(), program.CB{Cores: l1.N150().Grid(), Global: true})
		require.NoError(t, err)
		c, err := source.NewContent([]*program.Program{p}, func(_, _ int) bool { return false })
		require.NoError(t, err)
		left, err = x.write(c, left)
		require.NoError(t, err)
		require.Zero(t, left.bytes)
		require.LessOrEqual(t, len(x.known), maxKnown)
	}
}

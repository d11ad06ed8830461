package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
)

// A footprint of many groups has an index by core, so that a query need not visit each.
func TestManyGroupsAreFoundByCore(t *testing.T) {
	for _, groups := range []int{1, manyGroups - 1, manyGroups, 64} {
		b := NewBuilder(1)
		for i := range groups {
			x, y := uint8(i%8), uint8(i/8)
			b.Range(l1.Rect(x, y, x, y), l1.Range{Start: uint64(64 * i), End: uint64(64*i + 64)})
		}
		p, err := b.Build(l1.Spec{})
		require.NoError(t, err)
		for _, f := range []Footprint{p.Occupied(CircularBuffer), p.Reserved(CircularBuffer)} {
			require.Equal(t, groups, f.NumGroups())
			require.Equal(t, groups >= manyGroups, f.where != nil)
		}
	}
}

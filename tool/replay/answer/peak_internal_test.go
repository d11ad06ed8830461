package answer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
)

// TestResidentsThatAreCut: the lowest residents are named, and the others are counted.
func TestResidentsThatAreCut(t *testing.T) {
	all := heldGroup{held: make([]fit.Resident, 3)}
	for most, more := range map[int]int{0: 3, 2: 1, 3: 0, 4: 0} {
		list, n := all.residents(most, func(fit.Resident) L1Resident { return L1Resident{} })
		require.Equal(t, more, n)
		require.Len(t, list, 3-more)
	}
}

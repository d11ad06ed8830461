package answer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramRowsShare: what rows have in common is kept once, wherever they begin and end.
func TestProgramRowsShare(t *testing.T) {
	a, b := newProgramRow(ProgramDetail{First: 1, Last: 2, Cores: 3}), newProgramRow(ProgramDetail{First: 4, Last: 5, Cores: 3})
	require.Equal(t, a.rest, b.rest)
}

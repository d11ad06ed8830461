package residue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device/internal/lookup"
)

// A recall is off when 16 more residues were new than met, and until as many more were met.
func TestRecall(t *testing.T) {
	var m recall
	for range 2 {
		for i := range patience {
			require.False(t, m.off, i)
			m.note(false)
		}
		for range 100 { // in vain
			m.note(false)
		}
		for i := range patience {
			require.True(t, m.off, i)
			m.note(true)
		}
	}
	require.False(t, m.off)
	for range 100 {
		m.note(true)
		m.note(false)
	}
	require.False(t, m.off, "as many are met as are new")
}

// A recall takes down what comes by from when it is off for the first time.
func TestRecallOfWhatCame(t *testing.T) {
	const h, same = lookup.Hash(5<<32 | 7), lookup.Hash(6<<32 | 7 + remembered)
	var m recall
	require.False(t, m.came(h))
	require.False(t, m.came(h), "it was on")
	m.off = true
	require.False(t, m.came(h))
	require.True(t, m.came(h))
	m.off = false
	require.True(t, m.came(h), "it was off before")
	require.False(t, m.came(same), "another one at the same place")
	require.False(t, m.came(h), "which took it")
	require.True(t, m.came(5<<32|7+remembered), "it may be wrong")
	require.Len(t, m.seen, remembered)
}

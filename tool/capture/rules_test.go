package capture

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// TestRules compares the event logs of captures that tell rules apart, as TestFew does: testdata/rules.txt.
func TestRules(t *testing.T) {
	testkit.Sections(t, "testdata/rules.txt", *update, func(asked []string) []string { return writtenEvents(t, asked) })
}

// TestSpoolLimit: as many bytes as are kept at most can be read, and no more.
func TestSpoolLimit(t *testing.T) {
	const size = 2 * spoolInMemory
	for most, want := range map[int64]error{size: nil, size - 1: event.ErrTooLarge} {
		s := &spool{src: pipe{bytes.NewReader(make([]byte, size))}, dir: t.TempDir(), most: most}
		_, err := io.ReadAll(s)
		require.ErrorIs(t, err, want)
		require.NoError(t, s.close())
	}
	require.Equal(t, "8 GiB", inUnits(maxSpool))
}

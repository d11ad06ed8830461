package clash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

func read(t testing.TB, text string) clash.Messages {
	t.Helper()
	found, err := clash.Read(strings.NewReader(text))
	require.NoError(t, err)
	return found
}

// value is a number of a row; 0 if it is not known.
func value(n *uint64) uint64 {
	if n == nil {
		return 0
	}
	return *n
}

// message is the text of a sample, in the new spelling of cores.
func message(s sample, cores string) string {
	if s.kind == clash.Grow {
		return fmt.Sprintf("Statically allocated %s buffers on core range %s grow to %d B which is beyond max L1 size of %d B",
			s.what, cores, s.end, s.limit)
	}
	return fmt.Sprintf("Statically allocated %s buffers in program %d clash with L1 buffers on core range %s. "+
		"L1 buffer allocated at %d and static %s buffer region ends at %d", s.what, s.program, cores, s.limit, s.what, s.end)
}

func spellings(s sample) map[string]string {
	set := l1.MustParseCoreRangeSet(s.cores)
	inner := func(s string) string { return s[1 : len(s)-1] }
	text := message(s, inner(set.String()))
	return map[string]string{
		"new":     text,
		"old":     message(s, inner(set.Legacy())),
		"braces":  message(s, set.String()),
		"stop":    text + ".",
		"wrapped": "TT_THROW: " + strings.ReplaceAll(text, " ", "\r\n\t "),
		"prefix":  "[rank 1] a: " + strings.ReplaceAll(text, " ", "\n[rank 1] "),
	}
}

// requireSound checks what holds for every explanation.
func requireSound(t testing.TB, e clash.MessageRow) {
	t.Helper()
	m := e.Message
	over, ok := m.Over()
	require.Equal(t, over, e.Over, "%+v", m)
	require.Less(t, over, uint64(1)<<63)
	if !ok {
		require.Zero(t, over)
	}
	require.NotEmpty(t, e.Summary)
	require.LessOrEqual(t, 1+len(e.Notes), 13+min(1, len(m.Missing)), "%+v", e.Notes)
	require.GreaterOrEqual(t, e.OverPercent, 0.0)
	require.LessOrEqual(t, e.OverPercent, 100.0)
	if e.Region != 0 {
		require.Equal(t, m.Numbers["end"]-*e.Base, e.Region)
		require.Equal(t, m.Numbers["limit"]-*e.Base, *e.Room)
		require.LessOrEqual(t, *e.Base, m.Numbers["limit"])
	} else {
		require.Nil(t, e.Base)
		require.Nil(t, e.Room)
	}
	if e.Above != 0 {
		require.Equal(t, e.L1Size-m.Numbers["limit"], e.Above)
		require.Less(t, m.Numbers["limit"], e.L1Size)
	}
	for _, n := range e.Notes {
		require.NotEmpty(t, n.Label)
		require.NotContains(t, n.Text, "%!")
		require.LessOrEqual(t, len(n.Text), 400, n.Text)
	}
}

package clash_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// FuzzScan: any bytes are read without a panic; what is found has fields within
// their bounds, an excess that never wraps, and a text that reads as the same
// message again.
func FuzzScan(f *testing.F) {
	for _, name := range []string{"all_kinds.txt", "numbers.txt", "torn.log", "retold.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(text)
		for line := range bytes.Lines(text) {
			f.Add(line)
		}
	}
	for _, s := range published() {
		for _, text := range spellings(s) {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte("a \x1b[0mb\u2502" + strings.ReplaceAll(grow, " ", "\r\n\x00a ")))
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := clash.Read(bytes.NewReader(text))
		require.NoError(t, err)
		lines := int64(bytes.Count(text, []byte("\n")) + 1)
		last := int64(0)
		for _, m := range found.Messages {
			require.LessOrEqual(t, last, m.Line)
			last = m.Line
			require.LessOrEqual(t, m.Line, lines)
			require.Positive(t, m.Line)
			require.LessOrEqual(t, m.Count*int64(len("Total circular buffer")), int64(len(text)))
			for name, n := range m.Numbers {
				require.True(t, n <= l1.MaxAddr || name == "program", name)
			}
			require.LessOrEqual(t, m.Numbers["start"], m.Numbers["stop"])
			if over, ok := m.Over(); ok && (m.Kind == clash.Grow || m.Kind == clash.Clash || m.Kind == clash.ServiceClash) {
				require.Equal(t, m.Numbers["end"]-m.Numbers["limit"], over)
				require.Greater(t, m.Numbers["end"], m.Numbers["limit"])
			}
			for _, given := range []l1.Spec{{}, l1.N150(), l1.P150b(), {CBBase: 1}} {
				requireSound(t, clash.Explain(m, given))
			}

			again := read(t, m.Text)
			require.Len(t, again.Messages, 1, m.Text)
			again.Messages[0].Line, again.Messages[0].Count = m.Line, m.Count
			require.Equal(t, m, again.Messages[0])
		}
		doc, err := json.Marshal(clash.NewDocument(found, l1.Spec{}))
		require.NoError(t, err)
		for _, c := range doc {
			require.True(t, ' ' <= c && c <= '~', "%q", doc)
		}
	})
}

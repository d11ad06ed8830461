package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

// explained is the text that explains messages.
func explained(t *testing.T, found clash.Messages, given l1.Spec) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, render.Explain(clash.NewDocument(found, given)).Text(&b, 0))
	return b.String()
}

func TestExplainText(t *testing.T) {
	for _, c := range []struct {
		input, name string
		given       l1.Spec
	}{
		{"all_kinds.txt", "all_kinds", l1.Spec{}},
		{"numbers.txt", "numbers", l1.Spec{}},
		{"numbers.txt", "numbers_n150", l1.N150()},
		{"numbers.txt", "numbers_base", l1.Spec{CBBase: 103_424}},
		{"torn.log", "torn", l1.Spec{}},
		{"retold.txt", "retold", l1.Spec{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			input, err := os.Open(filepath.Join("../../clash/testdata", c.input))
			require.NoError(t, err)
			defer func() { _ = input.Close() }()
			found, err := clash.Read(input)
			require.NoError(t, err)
			testkit.Golden(t, *update, filepath.Join("testdata", "explain_"+c.name+".golden"), explained(t, found, c.given))
		})
	}
}

// A message that differs from an earlier one in its program alone takes one line.
func TestExplainTextOfOtherPrograms(t *testing.T) {
	const at = " clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 600064 and static circular buffer region ends at "
	found, err := clash.Read(strings.NewReader("Statically allocated circular buffers in program 5" + at + "700000\n" +
		"Statically allocated circular buffers in program 6" + at + "700000\nStatically allocated circular buffers in program 6" + at + "700001\n"))
	require.NoError(t, err)
	text := explained(t, found, l1.Spec{})
	require.Contains(t, text, "\nline 2: the same as on line 1, in program 6\n")
	require.NotContains(t, text, "line 3: the same")
	require.Equal(t, 1, strings.Count(text, "  why "), "what holds for both stands once")
}

// Messages that somebody makes by hand cannot reach the terminal.
func TestExplainTextIsInert(t *testing.T) {
	evil := "\x1b[31m\u202e\u009b\r\n\x00\xff\ud7ff\u2028 <b>é"
	text := explained(t, clash.Messages{Messages: []clash.Message{
		{Kind: clash.Kind(evil), What: evil, Text: evil, Line: 1, Count: 1},
		{Kind: clash.Grow, What: evil, Numbers: map[string]uint64{"limit": 1, "end": 2}, Text: evil, Line: 2, Count: 1},
	}}, l1.Spec{Name: evil, Arch: l1.Arch(evil), L1Size: 1})
	for _, r := range text {
		require.True(t, r == '\n' || ' ' <= r && r <= '~' || r == 'é', "%q", r)
	}
	require.Contains(t, text, `\x1b[31m\u202e\u009b\r\n\x00\xff`)
}

func TestExplainTextMore(t *testing.T) {
	require.Contains(t, explained(t, clash.Messages{More: 3}, l1.Spec{}), "3 further messages not shown")
	require.Error(t, render.Explain(clash.Document{}).Text(full(0), 0))
}

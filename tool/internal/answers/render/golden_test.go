package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
)

// TestGolden compares the text of every capture, with all tables, and holds it to
// what a screen can show.
func TestGolden(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			result := f.replay(t)
			screen := text(t, result, render.Options{})
			requirePlain(t, screen)
			lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
			require.LessOrEqual(t, len(lines), 24, "one screen")
			for i, line := range lines {
				most := 108
				if i == 0 {
					most = 128 // file, verdict and number
				}
				require.LessOrEqual(t, len(line), most, "%s", line)
				require.Equal(t, strings.TrimRight(line, " "), line)
			}
			whole := text(t, result, render.Options{Programs: true, Cores: true})
			require.True(t, strings.HasPrefix(whole, screen), "tables come after the screen")
			requireGolden(t, f.name, whole)
		})
	}
}

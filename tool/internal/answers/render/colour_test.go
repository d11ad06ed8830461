package render_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

// On a terminal the verdict, headings and the arrow have colours. The text is the same without them.
func TestColours(t *testing.T) {
	for name, d := range map[string]render.Output{
		"\x1b[1;32mthe same\x1b[m  ":       render.Diff(diffs(t)["same"]),
		"\x1b[1;39mdiffers\x1b[m  ":        render.Diff(diffs(t)["clash"]),
		"\x1b[1;31mgrown too much\x1b[m  ": render.Diff(diffs(t)["grown"]),
	} {
		var plain, coloured bytes.Buffer
		require.NoError(t, d.Draw(&plain, draw.Style{ASCII: true}))
		require.NoError(t, d.Draw(&coloured, draw.Style{ASCII: true, Colour: true}))
		require.NotContains(t, plain.String(), "\x1b")
		require.True(t, strings.HasPrefix(coloured.String(), name), coloured.String())
		require.Equal(t, plain.String(), regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured.String(), ""))
		require.Equal(t, strings.Count(plain.String(), "\n\ndevice"), strings.Count(coloured.String(), "\n\n\x1b[1mdevice"))
	}
}

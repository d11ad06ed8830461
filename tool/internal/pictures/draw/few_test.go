package draw_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

// TestFew compares whole pictures: testdata/few.txt has a section for each, with its blocks or cores, and behind > the
// picture.
//
//	column BASE END
//	block START END FILL NAME
//	blocks N START SIZE STEP        so many, each STEP higher
//	grid COLS ROWS FULL
//	shade CORE BYTES
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		var c draw.Column
		var g draw.ShadedGrid
		for _, line := range asked {
			f := strings.Fields(line)
			var n [4]uint64
			for i := range min(len(n), len(f)-1) {
				_, err := fmt.Sscan(f[i+1], &n[i])
				require.True(t, err == nil || f[0] == "block" && i == 3 || f[0] == "shade" && i == 0, line)
			}
			switch f[0] {
			case "column":
				c.Name, c.Base, c.End = "core", n[0], n[1]
			case "block":
				c.Blocks = append(c.Blocks, draw.Block{Range: l1.Range{Start: n[0], End: n[1]}, Name: f[4], Fill: draw.Fill(n[2])})
			case "blocks":
				for i := range n[0] {
					at := n[1] + i*n[3]
					c.Blocks = append(c.Blocks, draw.Block{Range: l1.Range{Start: at, End: at + n[2]}, Name: fmt.Sprint("b", i)})
				}
			case "grid":
				g = draw.ShadedGrid{Name: "device", Cols: int(n[0]), Rows: int(n[1]), Full: n[2], FullIs: "usable L1"}
			case "shade":
				one, err := l1.ParseCore(f[1])
				require.NoError(t, err)
				g.Shades = append(g.Shades, draw.Shade{Cores: l1.CoreSetOf(one), Bytes: n[1]})
			default:
				t.Fatalf("%q is no word", f[0])
			}
		}
		var p draw.Picture = c
		if g.Cols > 0 {
			p = g
		}
		return strings.Split(strings.TrimSuffix(text(p, draw.Style{Columns: 80, ASCII: true}), "\n"), "\n")
	})
}

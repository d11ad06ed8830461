package draw_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the difference")

func grid() draw.ShadedGrid {
	return draw.ShadedGrid{
		Name: "devices 0..7 (8 chips, equal), at the peak: ttnn.matmul (node 12)", Cols: 13, Rows: 10, Full: 1_461_248, FullIs: "usable L1",
		Shades: []draw.Shade{
			{Cores: l1.Rect(0, 0, 7, 3).Cores(), Bytes: 1_461_248}, {Cores: l1.Rect(0, 4, 7, 7).Cores(), Bytes: 800_000},
			{Cores: l1.Rect(8, 0, 12, 1).Cores(), Bytes: 14_000}, {Cores: l1.Rect(8, 2, 12, 2).Cores(), Bytes: 500_000},
			{Cores: l1.Rect(12, 9, 12, 9).Cores(), Bytes: 1_600_000},
		},
	}
}

func column() draw.Column {
	block := func(start, end uint64, name string, fill draw.Fill) draw.Block {
		return draw.Block{Range: l1.Range{Start: start, End: end}, Name: name, Fill: fill}
	}
	return draw.Column{Name: "core 0-0, like 31 others [0-0 - 7-3], of device 0", Base: 111_616, End: 1_572_864, Blocks: []draw.Block{
		block(111_616, 242_688, "CB 0, ttnn.matmul (node 10)", draw.FillCB), block(242_688, 766_976, "CB 1, ttnn.matmul (node 10)", draw.FillCB),
		block(704_512, 900_000, "L1 buffer, ttnn.zeros (node 2)", draw.FillBuffer), block(1_500_000, 1_572_864, "L1 buffer, 世界 (node 3)", draw.FillBuffer),
	}}
}

func text(p draw.Picture, s draw.Style) string {
	var b bytes.Buffer
	p.Text(&b, s)
	return b.String()
}

func TestGolden(t *testing.T) {
	var all strings.Builder
	for _, s := range []draw.Style{{Columns: 80, ASCII: true}, {Columns: 80}, {Columns: 56, ASCII: true}, {Columns: 200}, {Columns: 80, Colour: true}} {
		for _, p := range []draw.Picture{grid(), column()} {
			fmt.Fprintf(&all, "%+v\n%s\n", s, strings.ReplaceAll(text(p, s), "\x1b", "ESC"))
		}
	}
	testkit.Golden(t, *update, filepath.Join("testdata", "pictures.golden"), all.String())
	var svg bytes.Buffer
	require.NoError(t, draw.SVG(&svg, "map: at most 1,461,248 bytes on a core", []string{"basis: tracked"}, grid(), column()))
	testkit.Golden(t, *update, filepath.Join("testdata", "pictures.svg.golden"), svg.String())
}

// No line is wider than the terminal, and files have plain ASCII.
func TestWidth(t *testing.T) {
	for _, columns := range []int{40, 60, 80, 120, 200} {
		for _, size := range [][2]int{{13, 10}, {8, 8}, {1, 1}, {256, 256}, {256, 1}, {1, 256}, {64, 30}} {
			g := grid()
			g.Cols, g.Rows = size[0], size[1]
			for _, p := range []draw.Picture{g, column()} {
				for _, s := range []draw.Style{{Columns: columns}, {Columns: columns, ASCII: true}} {
					lines := strings.Split(strings.TrimSuffix(text(p, s), "\n"), "\n")
					require.LessOrEqual(t, len(lines), 80)
					for _, line := range lines {
						if strings.Contains(line, "up to") || strings.Contains(line, "fullest") { // the legend
							continue
						}
						require.LessOrEqual(t, shown.Width(line), max(columns, 56), "%q", line)
						require.Equal(t, strings.TrimRight(line, " "), line)
					}
				}
			}
		}
	}
}

// A cell shows the share of the fullest core in it.
func TestGridCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full := rapid.Uint64Range(1, 1000).Draw(t, "full")
		want := map[l1.Core]uint64{}
		g := draw.ShadedGrid{Name: "g", Cols: 6, Rows: 5, Full: full, FullIs: "L1"}
		for y := range 5 {
			for x := range 6 {
				if n := rapid.Uint64Range(0, 1200).Draw(t, "bytes"); n > 0 {
					core := l1.Core{X: uint8(x), Y: uint8(y)}
					want[core] = n
					g.Shades = append(g.Shades, draw.Shade{Cores: l1.CoreSetOf(core), Bytes: n})
				}
			}
		}
		lines := strings.Split(text(g, draw.Style{ASCII: true}), "\n")
		for y := range 5 {
			line := lines[y+2] + strings.Repeat(" ", 40)
			for x := range 6 {
				cell := line[5+5*x : 5+5*x+4]
				n := want[l1.Core{X: uint8(x), Y: uint8(y)}]
				sign, share := 0, "   "
				switch p := n * 100 / full; {
				case n == 0:
				case n > full:
					sign = 5
				default:
					sign = min(int(n*4/full), 3) + 1
					if share = fmt.Sprintf("%3d", p); p == 0 {
						share = " <1"
					}
				}
				require.Equal(t, string(".:+#@!"[sign]), cell[:1], "%d of %d", n, full)
				if sign < 5 {
					require.Equal(t, share, cell[1:])
				}
			}
		}
	})
}

// Every address stands in one part, from the end of L1 down to 0, with what holds it.
func TestColumnParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw.Column{Name: "c", Base: 10, End: 64}
		for i := range rapid.IntRange(0, 6).Draw(t, "blocks") {
			start := rapid.Uint64Range(0, 70).Draw(t, "start")
			end := rapid.Uint64Range(start, 72).Draw(t, "end")
			c.Blocks = append(c.Blocks, draw.Block{Range: l1.Range{Start: start, End: end}, Name: fmt.Sprintf("b%d", i), Fill: draw.Fill(i % 2)})
		}
		high := uint64(64)
		for _, b := range c.Blocks {
			if !b.Range.IsEmpty() {
				high = max(high, b.Range.End)
			}
		}
		edge, label := high, ""
		for _, line := range strings.Split(text(c, draw.Style{ASCII: true}), "\n")[1:] {
			address, rest, ok := strings.Cut(strings.TrimLeft(line, " "), " ")
			switch {
			case ok && strings.HasPrefix(rest, "+"):
				at, err := strconv.ParseUint(address, 10, 64)
				require.NoError(t, err)
				if label == "" {
					require.Equal(t, high, at, "the top")
				}
				for a := at; a < edge; a++ {
					requireHolds(t, c, a, label)
				}
				edge = at
			case strings.Count(line, "|") == 2:
				if text := strings.TrimSpace(line[strings.LastIndex(line, "|")+1:]); text != "" {
					_, label, _ = strings.Cut(text, "  ")
				}
			}
		}
		require.Zero(t, edge)
	})
}

func requireHolds(t *rapid.T, c draw.Column, a uint64, label string) {
	var names []string
	for _, b := range c.Blocks {
		if b.Range.Has(a) {
			names = append(names, b.Name)
		}
	}
	switch {
	case len(names) == 0 && a < c.Base:
		require.Contains(t, label, "below the base")
	case len(names) == 0:
		require.Equal(t, "free", label)
	case len(names) == 1:
		require.Equal(t, names[0], label)
	default:
		require.True(t, strings.HasPrefix(label, "both: "), "%d: %s", a, label)
		shown := 0
		for _, name := range names {
			if strings.Contains(label, name) {
				shown++
			}
		}
		require.Equal(t, min(len(names), 3), shown, "%d: %s of %v", a, label, names)
	}
}

// Of many parts the largest are drawn, and the rest is joined and counted.
func TestColumnOfManyParts(t *testing.T) {
	c := draw.Column{Name: "c", Base: 0, End: 1 << 20}
	for i := range uint64(5000) {
		c.Blocks = append(c.Blocks, draw.Block{Range: l1.Range{Start: i * 64, End: i*64 + 32}, Name: "small", Fill: draw.FillBuffer})
	}
	c.Blocks = append(c.Blocks, draw.Block{Range: l1.Range{Start: 900_000, End: 1_000_000}, Name: "large", Fill: draw.FillCB})
	got := text(c, draw.Style{ASCII: true})
	require.Contains(t, got, "  large\n")
	require.Contains(t, got, " parts\n")
	require.Contains(t, got, "the 905 smallest are not drawn")
	require.Less(t, strings.Count(got, "\n"), 200)
}

// Names are text, wherever they stand.
func TestHostileNames(t *testing.T) {
	for _, evil := range []string{
		"<script>alert(1)</script>", "</title></svg>", "\x1b[2J", "\u202eabc", "]]>", "&lt;", `" onload="x`, "a\nb", strings.Repeat("x", 70_000), "\xff", "\ufffe", "<!--",
	} {
		g, c := grid(), column()
		g.Name, c.Name, c.Blocks[0].Name, g.FullIs = evil, evil, evil, "usable L1"
		for _, p := range []draw.Picture{g, c} {
			got := text(p, draw.Style{Columns: 80})
			require.NotContains(t, got, "\x1b")
			require.NotContains(t, got, "\u202e")
			require.Less(t, len(got), 10_000)
		}
		var b bytes.Buffer
		require.NoError(t, draw.SVG(&b, evil, []string{evil}, g, c))
		require.Less(t, b.Len(), 200_000)
		dec := xml.NewDecoder(&b)
		for {
			token, err := dec.Token()
			if token == nil {
				require.ErrorContains(t, err, "EOF")
				break
			}
			if start, ok := token.(xml.StartElement); ok {
				require.Contains(t, []string{"svg", "title", "style", "rect", "text"}, start.Name.Local)
				for _, a := range start.Attr {
					require.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
				}
			}
		}
	}
}

func TestTerminal(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			if i := slices.Index(pairs, name); i >= 0 {
				return pairs[i+1]
			}
			return ""
		}
	}
	utf8 := env("LANG", "de_DE.UTF-8", "TERM", "xterm")
	require.Equal(t, draw.Style{Columns: 90, Colour: true}, draw.Terminal(90, "auto", utf8))
	require.Equal(t, draw.Style{Columns: 90}, draw.Terminal(90, "never", utf8))
	require.Equal(t, draw.Style{ASCII: true}, draw.Terminal(0, "auto", utf8), "a file")
	require.Equal(t, draw.Style{ASCII: true, Colour: true}, draw.Terminal(0, "always", utf8))
	require.Equal(t, draw.Style{Columns: 90}, draw.Terminal(90, "auto", env("LANG", "C.utf8", "NO_COLOR", "1", "TERM", "xterm")))
	require.Equal(t, draw.Style{Columns: 90, ASCII: true}, draw.Terminal(90, "auto", env("LC_ALL", "C", "LANG", "de_DE.UTF-8", "TERM", "dumb")))
}

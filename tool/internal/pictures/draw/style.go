package draw

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// A Picture can be drawn as text and as a part of an SVG.
type Picture interface {
	// Text draws for a terminal. Lines end with a newline, and have no blanks before it.
	Text(b *bytes.Buffer, s Style)
	svg(c *canvas)
}

// A Style describes the abilities of a terminal. The zero Style has 100 columns, and signs of
// Unicode without colour.
type Style struct {
	Columns int  // 0: 100
	Colour  bool // 256 colours, by the sequences that xterm knows
	ASCII   bool // no sign beyond ASCII
}

// Terminal returns the Style of a terminal with so many columns, 0 for a file. getenv reads its
// environment: NO_COLOR and TERM=dumb have no colour, and a locale that is not UTF-8 has ASCII
// alone, as a file has. colour is "always", "never", or anything else to follow the environment.
func Terminal(columns int, colour string, getenv func(string) string) Style {
	s := Style{Columns: columns, ASCII: columns == 0 || !unicodeLocale(getenv)}
	switch colour {
	case "always":
		s.Colour = true
	case "never":
	default:
		s.Colour = columns > 0 && getenv("NO_COLOR") == "" && getenv("TERM") != "" && getenv("TERM") != "dumb"
	}
	return s
}

// unicodeLocale reports whether the first set variable of the locale names UTF-8.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

func (s Style) width() int {
	if s.Columns <= 0 {
		return 100
	}
	return max(s.Columns, 56)
}

// paint returns text in a colour of the terminal, on another one.
func (s Style) paint(text string, c colour) string {
	if !s.Colour {
		return text
	}
	return fmt.Sprintf("\x1b[38;5;%dm\x1b[48;5;%dm%s\x1b[0m", c.text, c.ground, text)
}

// A colour is a pair of the 256 that terminals have.
type colour struct{ text, ground int }

// levels is the number of shades between nothing and full. The one above is of more than full.
const levels = 4

// level returns the shade of bytes: 0 for nothing, levels for up to full, levels+1 for more.
func level(bytes, full uint64) int {
	switch {
	case bytes == 0 || full == 0:
		return 0
	case bytes > full:
		return levels + 1
	}
	n := int(float64(bytes) / float64(full) * levels)
	return min(n, levels-1) + 1
}

// shade returns the sign of a level.
func (s Style) shade(n int) string {
	if s.ASCII {
		return string(".:+#@!"[n])
	}
	return string([]rune("·░▒▓█!")[n])
}

func shadeColour(n int) colour {
	return []colour{{244, 236}, {255, 24}, {16, 37}, {16, 114}, {16, 220}, {231, 160}}[n]
}

// percent is a share in three signs: " 57", " <1", "100"; "!!!" from 1,000 on.
func percent(bytes, full uint64) string {
	switch p := float64(bytes) * 100 / float64(full); {
	case bytes == 0 || full == 0:
		return "  0"
	case p < 1:
		return " <1"
	case p > 999:
		return "!!!"
	case bytes > full: // never 100, which is full
		return fmt.Sprintf("%3d", max(101, int(p)))
	default:
		return fmt.Sprintf("%3d", int(p))
	}
}

func exact(n uint64) string { return l1.Bytes(n).Exact() }

func line(b *bytes.Buffer, format string, args ...any) {
	b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	b.WriteByte('\n')
}

func fitted(text string, n int) string { return shown.Start(text, max(n, 8)) }

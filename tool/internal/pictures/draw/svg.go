package draw

import (
	"bytes"
	"fmt"
	"html"
	"io"

	"github.com/cbl1/cbl1/internal/shown"
)

// canvasWidth is how wide a picture is, in pixels.
const canvasWidth = 900

// A canvas is an SVG in the making, from the top down.
type canvas struct {
	b bytes.Buffer
	y int // where the next thing goes
}

// style has the colours: levels of shades (s) and the text on them (t), fills of blocks (f).
const style = `<style>
svg{--back:#fff;--ink:#1a1a1a;--soft:#666;--s0:#ececec;--s1:#c9dff2;--s2:#7db4de;--s3:#2f7fbd;--s4:#0f4a80;--few:#111;--many:#fff;font:13px system-ui,sans-serif}
@media (prefers-color-scheme:dark){svg{--back:#16181c;--ink:#eee;--soft:#a8adb5;--s0:#26292f;--s1:#173a5a;--s2:#1f6aa8;--s3:#62a8dc;--s4:#c3e2f9;--few:#fff;--many:#111}}
text{fill:var(--ink)}.title{font-size:16px;font-weight:600}.axis{fill:var(--soft);font-size:11px}.label{font-size:12px}
.mid{text-anchor:middle}.end{text-anchor:end}rect{stroke:var(--back);stroke-width:1}.back{fill:var(--back);stroke:none}
.s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}.s5{fill:#c62828}
.t1,.t2{fill:var(--few)}.t3,.t4{fill:var(--many)}.t5{fill:#fff}
.f0{fill:#1b5e9b}.f1{fill:#d9a441}.f2{fill:var(--s0)}.f3{fill:#9aa0a6}.f4{fill:#c62828}.f5{fill:#7a6aa8}
</style>
`

// SVG writes pictures below each other, in one file without a script. It is for light and dark
// pages alike. Names in it are text, whatever they are.
func SVG(w io.Writer, title string, notes []string, pictures ...Picture) error {
	var c canvas
	c.y = 16
	c.heading(title)
	for _, p := range pictures {
		p.svg(&c)
	}
	for _, note := range notes {
		c.text(24, c.y, "axis", shown.Start(note, 150))
		c.y += 18
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img"><title>%s</title>
%s<rect class="back" width="%d" height="%d"/>
%s</svg>
`, canvasWidth, c.y+10, canvasWidth, c.y+10, escaped(title), style, canvasWidth, c.y+10, c.b.Bytes())
	return err
}

// escaped returns text that is text in XML.
func escaped(text string) string { return html.EscapeString(shown.Visible(text)) }

func (c *canvas) heading(text string) {
	c.y += 12
	c.text(24, c.y, "title", shown.Start(text, 105))
	c.y += 20
}

func (c *canvas) text(x, y int, class, text string) {
	fmt.Fprintf(&c.b, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, escaped(text))
}

func (c *canvas) rect(x, y, w, h int, class, title string) {
	fmt.Fprintf(&c.b, `<rect x="%d" y="%d" width="%d" height="%d" class="%s"><title>%s</title></rect>`+"\n", x, y, w, h, class, escaped(title))
}

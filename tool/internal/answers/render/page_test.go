package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

// A page makes all text visible, in whichever block it stands.
func TestPageIsVisible(t *testing.T) {
	const foreign = "EVIL\x1b[2J\u009b31m\u202e\r\n\x7f<b>"
	blocks := map[string]func(p *page){
		"line":    func(p *page) { p.line("%s", foreign) },
		"label":   func(p *page) { p.note(note{foreign, "text"}) },
		"note":    func(p *page) { p.note(note{"label", foreign}) },
		"apart":   func(p *page) { p.apart([]note{{"label", foreign}}) },
		"title":   func(p *page) { p.table(foreign, table{}) },
		"more":    func(p *page) { p.table("", table{more: []string{foreign}}) },
		"cell":    func(p *page) { var t table; t.add("head"); t.add(foreign); p.table("", t) },
		"heading": func(p *page) { var t table; t.add(foreign); t.add("1"); p.table("", t) },
		"name": func(p *page) {
			t := table{most: 60}
			t.add("head")
			t.named(func(int) string { return foreign })
			p.table("", t)
		},
	}
	for name, add := range blocks {
		var p page
		add(&p)
		for _, columns := range []int{0, 60} {
			var text, markdown bytes.Buffer
			p.text(&text, draw.Style{Columns: columns})
			p.markdown(&markdown)
			for _, got := range []string{text.String(), markdown.String()} {
				require.Contains(t, got, "EVIL", name)
				for line := range strings.SplitSeq(got, "\n") {
					require.Equal(t, shown.Visible(line), line, name)
				}
			}
			require.NotContains(t, markdown.String(), "<b>", name)
		}
	}
}

package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the style and the script
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// MaxBytes is how large a page is at most. Lists are cut until it is not larger, and say how
// many rows they leave out.
const MaxBytes = 3_000_000

// Moments is how much of replay.Options.Moments a page can show.
const Moments = 1 << 14

// Write writes a page about Results, judged on some terms, and about what changed if d is not
// nil. Results should come of replay.Options with Buffers, Groups, Timeline and Moments.
func Write(w io.Writer, results []*answer.Result, terms answer.Terms, d *diff.Document) error {
	var b bytes.Buffer
	words(&b, results, terms, d)
	frame := len(head("")) + b.Len() + len(script) + len(style) + 200
	data, err := block(results, terms, d, MaxBytes-frame)
	if err != nil {
		return err
	}
	title := "cbl1"
	if len(results) > 0 {
		title = shown.End(results[0].File, 60) + " - cbl1"
	}
	for _, part := range []string{
		head(title), "<style>", style, "</style>\n", "<body>\n", b.String(),
		`<script type="application/json" id="data">`, string(data), "</script>\n<script>", script, "</script>\n</body>\n</html>\n",
	} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// head returns the text before the body. Its policy names the only style and script.
func head(title string) string {
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>%s</title>
</head>
`, hash(style), hash(script), html.EscapeString(title))
}

// hash names a style or script in a policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// maxRows is how many rows of all lists together have room on a page, at about 100 bytes each.
const maxRows = MaxBytes / 100

// block returns the data block: as many rows of each list, and moments of each device, as have room in so many bytes.
// Moments beyond half of them, and beyond fewMoments, are the first to go. A part with more than maxRows is not packed.
func block(results []*answer.Result, terms answer.Terms, d *diff.Document, room int) ([]byte, error) {
	const fewMoments, manyRows = 240, 1024
	overview, moments := render.NewOverview(results, terms, d), 0
	for _, r := range results {
		for _, line := range r.Timeline {
			moments = max(moments, len(line.Moments))
		}
	}
	for rows := 8192; ; rows /= 2 {
		part := overview.Excerpt(rows, moments)
		large := part.Rows() > maxRows && rows > 1
		var all []byte
		if !large {
			var err error
			if all, err = packed(part); err != nil || len(all) <= room || rows == 1 {
				return all, err
			}
		}
		least := moments / 2
		if rows >= manyRows {
			least = max(least, min(moments, fewMoments))
		}
		if part = overview.Excerpt(rows, least); part.Rows() <= maxRows {
			few, err := packed(part)
			if err != nil || large && len(few) <= room {
				return few, err
			}
			if len(few) <= room { // between both the size grows evenly, about
				between, err := packed(overview.Excerpt(rows, least+(moments-least)*(room-len(few))/(len(all)-len(few))))
				if err == nil && len(between) > room {
					return few, nil
				}
				return between, err
			}
		}
		moments = least
	}
}

// packed returns a part of an overview, packed.
func packed(part render.Excerpt) ([]byte, error) {
	var doc bytes.Buffer
	if err := part.JSON(&doc); err != nil {
		return nil, err
	}
	return pack(doc.Bytes())
}

// words writes what the page says without its script: the answer about each capture, of which the worst is shown,
// and all of it as the command says it.
func words(b *bytes.Buffer, results []*answer.Result, terms answer.Terms, d *diff.Document) {
	var texts bytes.Buffer
	worst, open := answer.CannotTell, 0
	heads := []headline{{worst, "no capture", "cannot tell", "there is no capture to look at"}}
	for i, r := range results {
		j := r.Judge(terms)
		name := shown.End(r.File, 80)
		check := render.Check(r, j).Detailed()
		verbatim(&texts, "check "+name, check)
		verbatim(&texts, "report "+name, render.Report(r, render.Options{}))
		verbatim(&texts, "peak "+name, render.Peak(r).Detailed())
		if i == 0 || worst != answer.DoesNotFit && j.Answer != answer.Fits {
			worst, open = j.Answer, i
		}
		answer, sentence := check.Lead()
		heads = append(heads[:i], headline{j.Answer, name, answer, sentence})
	}
	if d != nil {
		verbatim(&texts, "diff OLD NEW", render.Diff(d))
	}
	b.WriteString("<main id=\"page\">\n")
	for i, h := range heads {
		hidden := ""
		if i != open {
			hidden = " hidden"
		}
		if n := len(heads); n > 1 {
			h.name += fmt.Sprintf(", %d of %d captures", i+1, n)
			if h.answer != worst {
				h.name += "; the worst answer of all: " + strings.ReplaceAll(string(worst), "_", " ")
			}
		}
		fmt.Fprintf(b, `<header class="answer %s"%s>
<p class="eyebrow">%s</p>
<h1>%s</h1>
<p class="lead">%s</p>
</header>
`, h.answer, hidden, html.EscapeString(h.name), html.EscapeString(upper(h.text)), html.EscapeString(h.sentence))
	}
	fmt.Fprintf(b, `<div id="view"></div>
<section id="words">
<h2>In the words of the command</h2>
%s</section>
</main>
`, texts.String())
}

// A headline is the answer about a capture.
type headline struct {
	answer               answer.Answer
	name, text, sentence string
}

// verbatim writes what the command prints of a verb.
func verbatim(b *bytes.Buffer, verb string, d render.Output) {
	var text bytes.Buffer
	_ = d.Text(&text, 100) // a buffer takes all
	fmt.Fprintf(b, "<details open><summary><code>cbl1 %s</code></summary><pre tabindex=\"0\">%s</pre></details>\n", html.EscapeString(verb), html.EscapeString(text.String()))
}

// upper returns a text that begins with a capital letter.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A printer prints an answer for each input: text or Markdown with blank lines between, lines of JSON, the rows of one
// table, or test results.
type printer struct {
	out     io.Writer
	to      string // a file instead
	format  string
	details bool // text and Markdown have them
	colour  string
	verb    verb

	style draw.Style    // of text
	junit *render.JUnit // of test results
	n     int           // answers printed
	worst answer.Answer // the answer that counts

	doubts  render.Doubts         // of all answers, where they are summed up
	answers map[answer.Answer]int // how many inputs have which answer; "": are refused
}

func newPrinter(out io.Writer, v verb) printer {
	style := draw.Terminal(columns(out), "auto", os.Getenv)
	style.ASCII = true // a verb that draws asks for more
	p := printer{out: out, verb: v, style: style, junit: render.NewJUnit(out), answers: map[answer.Answer]int{}}
	if v.any {
		p.worst = answer.DoesNotFit
	}
	return p
}

// countRefused counts an input that cannot be read.
func (p *printer) countRefused(_ string, err error) {
	p.answers[""]++
	if p.format == "junit" {
		_ = p.junit.Refuse(err) // an error of writing comes again at the end
	}
}

// print prints one answer. Who reads may go away: where there is a verdict, the others are still found.
func (p *printer) print(o reply) error {
	said := o.answer
	if o.no != nil {
		said = answer.DoesNotFit
	}
	counts := said == answer.DoesNotFit || p.worst == "" || p.worst == answer.Fits
	if p.verb.any {
		counts = said == answer.Fits
	}
	if counts {
		p.worst = said
	}
	p.answers[said]++
	err := p.write(o)
	if readerGone(err) && said != "" {
		p.out, err = io.Discard, nil
	}
	return err
}

// write writes one answer in its format.
func (p *printer) write(o reply) error {
	p.n++
	switch {
	case o.no != nil && p.format == "text":
		return nil
	case o.file != nil && (p.to == "" || p.to == "-"):
		return o.file(p.out)
	case o.file != nil:
		return writeFile(p.to, o.file)
	}
	d := o.Output
	switch p.format {
	case "json":
		return d.JSON(p.out)
	case "csv":
		return d.CSV(p.out, p.n == 1)
	case "svg":
		return d.SVG(p.out)
	case "junit":
		return p.junit.Add(d)
	}
	if p.n > 1 && (!p.verb.sums || p.format == "markdown") {
		if _, err := io.WriteString(p.out, "\n"); err != nil {
			return err
		}
	}
	if p.details {
		d = d.Detailed()
	}
	if p.format == "markdown" {
		return d.Markdown(p.out)
	}
	if p.verb.sums {
		d = p.doubts.Take(d)
	}
	return d.Draw(p.out, p.style)
}

// exit ends the output and returns the answer that counts as an error, unless there was another one.
func (p *printer) exit(err error) error {
	if p.format == "junit" {
		if end := p.junit.Close(); err == nil && !readerGone(end) {
			err = end
		}
	}
	if (err == nil || errors.Is(err, errUnreadable)) && p.verb.sums && p.format == "text" {
		err = cmp.Or(p.sum(), err)
	}
	switch {
	case err != nil:
		return err
	case p.worst == answer.DoesNotFit:
		return errNo
	case p.worst == answer.CannotTell:
		return errCannotTell
	}
	return nil
}

// sum writes the assumptions and, of several inputs, how many have which answer.
func (p *printer) sum() error {
	inputs := p.n + p.answers[""]
	if err := p.doubts.Text(p.out, inputs, p.style.Columns); err != nil || inputs < 2 {
		return goneOr(err)
	}
	var parts []string
	for _, x := range []struct {
		answer    answer.Answer
		one, many string
	}{{answer.Fits, "fits", "fit"}, {answer.DoesNotFit, "does not fit", "do not fit"}, {answer.CannotTell, "cannot tell", "cannot tell"}, {"", "cannot be read", "cannot be read"}} {
		switch n := p.answers[x.answer]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+x.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, x.many))
		}
	}
	_, err := fmt.Fprintln(p.out, strings.Join(parts, ", "))
	return goneOr(err)
}

// goneOr is the error of writing, unless the reader is gone.
func goneOr(err error) error {
	if readerGone(err) {
		return nil
	}
	return err
}

// columns returns how wide the terminal is that is written to, 0 if it is none.
func columns(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

package main

import (
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/cbl1/cbl1/draw"
	"github.com/cbl1/cbl1/report"
)

// A printer prints one answer per input: text or Markdown with blank lines between, lines of
// JSON, the rows of one table, or test results.
type printer struct {
	w      io.Writer
	format choiceFlag
	junit  *report.JUnit // of the test results
	style  draw.Style    // of text
	n      int           // answers printed
}

// newPrinter returns a printer of text and of some other formats.
func newPrinter(w io.Writer, formats ...string) *printer {
	return &printer{w: w, style: draw.Style{Columns: columns(w), ASCII: true}, format: choiceFlag{"text", append([]string{"text"}, formats...)}}
}

// add adds the flag that chooses the format.
func (p *printer) add(flags *pflag.FlagSet) {
	flags.Var(&p.format, "format", "how the answer is written")
}

func (p *printer) print(d report.Document) error {
	p.n++
	switch p.format.value {
	case "json":
		return d.JSON(p.w)
	case "csv":
		return d.CSV(p.w, p.n == 1)
	case "svg":
		return d.SVG(p.w)
	case "junit":
		return p.results().Add(d)
	}
	if p.n > 1 {
		if _, err := p.w.Write([]byte("\n")); err != nil {
			return err
		}
	}
	if p.format.value == "markdown" {
		return d.Markdown(p.w)
	}
	return d.Draw(p.w, p.style)
}

func (p *printer) results() *report.JUnit {
	if p.junit == nil {
		p.junit = report.NewJUnit(p.w)
	}
	return p.junit
}

// refuse takes in that an input cannot be read. Test results say so; of other formats standard
// error is enough.
func (p *printer) refuse(err error) {
	if p.format.value == "junit" {
		_ = p.results().Refuse(err) // what cannot be written is noticed at the end
	}
}

// end ends what is one document for all inputs.
func (p *printer) end() error {
	if p.format.value != "junit" {
		return nil
	}
	return p.results().Close()
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

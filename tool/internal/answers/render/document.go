package render

import (
	"bufio"
	"bytes"
	"io"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/internal/pictures/draw"
)

// An Output is one answer, and can be written in several ways. [Report], [Check], [Peak],
// [Room], [Who], [Diff] and [Map] make them. The zero Output is empty.
type Output struct {
	page  page
	json  func(io.Writer) error
	csv   func() flatTable // nil: it has no rows
	file  string
	tests []testCase // of JUnit; nil: none
	lead  [2]string  // see Lead
}

// Lead returns the answer of [Check] as a heading, like "does not fit", and as a sentence.
func (d Output) Lead() (answer, sentence string) {
	return shown.Visible(d.lead[0]), shown.Visible(d.lead[1])
}

// Text writes the answer for people, in one piece: in the first line the answer itself. Tables
// and sentences keep to so many columns as far as they can; 0 stands for a file or a pipe,
// whose lines are not cut.
func (d Output) Text(w io.Writer, columns int) error {
	return d.Draw(w, draw.Style{Columns: columns, ASCII: true})
}

// Detailed returns the Output with the details that its Text and Markdown leave out.
func (d Output) Detailed() Output {
	d.page.details = true
	return d
}

// Draw is Text where pictures use what a terminal can show: colour, and signs beyond ASCII.
func (d Output) Draw(w io.Writer, s draw.Style) error {
	var b bytes.Buffer
	d.page.text(&b, s)
	_, err := w.Write(b.Bytes())
	return err
}

// Markdown writes the page of Text as Markdown, in one piece and without pictures. Names are inert
// in it: nothing in them is markup.
func (d Output) Markdown(w io.Writer) error {
	var b bytes.Buffer
	d.page.markdown(&b)
	_, err := w.Write(b.Bytes())
	return err
}

// JSON writes the answer as one line of JSON, in ASCII, as the schema of its verb describes
// it.
func (d Output) JSON(w io.Writer) error {
	if d.json == nil {
		return nil
	}
	return d.json(w)
}

// CSV writes the rows of the answer (RFC 4180, lines end with a newline), and above them the
// names of the columns if head is set. Columns are members of the JSON, and have their
// names: tool/docs/csv.md. Cells that a spreadsheet would take for a formula begin with an
// apostrophe. Documents of [Room], [Who] and [Map] have no rows.
func (d Output) CSV(w io.Writer, head bool) error {
	if d.csv == nil {
		return nil
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := d.csv().write(out, head); err != nil {
		return err
	}
	return out.Flush()
}

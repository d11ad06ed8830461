package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/answers/render"
	"github.com/cbl1/cbl1/internal/pictures/draw"
	"github.com/cbl1/cbl1/replay"
)

// A request is one call of a verb: its options, and its output. It prints one answer for each input: text or
// Markdown with blank lines between, lines of JSON, the rows of one table, or test results.
type request struct {
	inputs
	verb verb

	shows       render.Options
	details     bool // text and Markdown have them
	only        replay.Filter
	room        replay.RoomQuestion
	who         replay.Question
	accept      []replay.Code
	budget      *replay.Budget
	budgets     string // a file of them
	terms       replay.Terms
	growth      *replay.Budget
	with        event.Opt[string]
	to, against string
	colour      string
	format      string

	style draw.Style    // of text
	junit *render.JUnit // of test results
	n     int           // answers printed
	worst replay.Answer // the answer that counts

	doubts  render.Doubts         // of all answers, where they are summed up
	answers map[replay.Answer]int // how many inputs have which answer; "": are refused
}

func newRequest(s streams, v verb) *request {
	c := &request{inputs: inputs{streams: s}, verb: v, style: draw.Style{Columns: columns(s.out), ASCII: true}, answers: map[replay.Answer]int{}}
	c.junit = render.NewJUnit(s.out)
	c.refused = func(err error) {
		c.answers[""]++
		if c.format == "junit" {
			_ = c.junit.Refuse(err) // an error of writing comes again at the end
		}
	}
	if v.any {
		c.worst = replay.DoesNotFit
	}
	return c
}

// print prints one answer. Who reads may go away: where there is a verdict, the others are still found.
func (c *request) print(d render.Document, answer replay.Answer) error {
	counts := answer == replay.DoesNotFit || c.worst == "" || c.worst == replay.Fits
	if c.verb.any {
		counts = answer == replay.Fits
	}
	if counts {
		c.worst = answer
	}
	c.answers[answer]++
	err := c.write(d)
	if readerGone(err) && answer != "" {
		c.out, err = io.Discard, nil
	}
	return err
}

// write writes one answer in its format.
func (c *request) write(d render.Document) error {
	c.n++
	switch c.format {
	case "json":
		return d.JSON(c.out)
	case "csv":
		return d.CSV(c.out, c.n == 1)
	case "svg":
		return d.SVG(c.out)
	case "junit":
		return c.junit.Add(d)
	}
	if c.n > 1 && (!c.verb.sums || c.format == "markdown") {
		if _, err := io.WriteString(c.out, "\n"); err != nil {
			return err
		}
	}
	if c.details {
		d = d.Detailed()
	}
	if c.format == "markdown" {
		return d.Markdown(c.out)
	}
	if c.verb.sums {
		d = c.doubts.Take(d)
	}
	return d.Draw(c.out, c.style)
}

// exit ends the output and returns the answer that counts as an error, unless there was another one.
func (c *request) exit(err error) error {
	if c.format == "junit" {
		if end := c.junit.Close(); err == nil && !readerGone(end) {
			err = end
		}
	}
	if (err == nil || errors.Is(err, errUnreadable)) && c.verb.sums && c.format == "text" {
		err = cmp.Or(c.sum(), err)
	}
	switch {
	case err != nil:
		return err
	case c.worst == replay.DoesNotFit:
		return errNo
	case c.worst == replay.CannotTell:
		return errCannotTell
	}
	return nil
}

// sum writes the assumptions and, of several inputs, how many have which answer.
func (c *request) sum() error {
	inputs := c.n + c.answers[""]
	if err := c.doubts.Text(c.out, inputs, c.style.Columns); err != nil || inputs < 2 {
		return goneOr(err)
	}
	var parts []string
	for _, x := range []struct {
		answer    replay.Answer
		one, many string
	}{{replay.Fits, "fits", "fit"}, {replay.DoesNotFit, "does not fit", "do not fit"}, {replay.CannotTell, "cannot tell", "cannot tell"}, {"", "cannot be read", "cannot be read"}} {
		switch n := c.answers[x.answer]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+x.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, x.many))
		}
	}
	_, err := fmt.Fprintln(c.out, strings.Join(parts, ", "))
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

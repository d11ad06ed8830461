package main

import (
	"fmt"
	"io"
	"os"
	"time"

	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
)

// progress is a line on a terminal that is overwritten and in the end removed. The
// nil progress does nothing: standard error is not a terminal.
type progress struct {
	w     io.Writer
	next  time.Time // when to print again
	shown bool
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &progress{w: w}
}

const (
	quiet  = 500 * time.Millisecond // what is faster shows no progress
	redraw = 100 * time.Millisecond
)

// of returns what to call with the number of nodes read of a file.
func (p *progress) of(name string) func(nodes int64) {
	if p == nil {
		return nil
	}
	p.next = time.Now().Add(quiet)
	name = safe.End(name, 60)
	return func(nodes int64) {
		now := time.Now()
		if now.Before(p.next) {
			return
		}
		p.next, p.shown = now.Add(redraw), true
		fmt.Fprintf(p.w, "\r%s: %d nodes", name, nodes)
	}
}

// done removes the line.
func (p *progress) done() {
	if p != nil && p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

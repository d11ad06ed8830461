package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
)

// progress is a line on a terminal that is overwritten and in the end removed. The
// nil progress does nothing: standard error is not a terminal.
type progress struct {
	w     io.Writer
	lock  sync.Mutex
	of    *job      // the one that is waited for
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

// reads returns what to call with the number of nodes read of an input. It shows nothing
// while another one is waited for.
func (p *progress) reads(j *job) func(nodes int64) {
	if p == nil {
		return nil
	}
	name := safe.End(j.name, 60)
	return func(nodes int64) {
		p.lock.Lock()
		defer p.lock.Unlock()
		now := time.Now()
		if p.of != j || now.Before(p.next) {
			return
		}
		p.next, p.shown = now.Add(redraw), true
		fmt.Fprintf(p.w, "\r%s: %d read", name, nodes)
	}
}

// watch begins to show how far an input is.
func (p *progress) watch(j *job) {
	if p != nil {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.of, p.next = j, time.Now().Add(quiet)
	}
}

// done removes the line.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.of = nil; p.shown {
		p.shown = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

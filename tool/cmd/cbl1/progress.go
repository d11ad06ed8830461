package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cbl1/cbl1/event"
	safe "github.com/cbl1/cbl1/internal/shown" // tests have a function of its name
	"github.com/cbl1/cbl1/l1"
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
	if columns(w) == 0 {
		return nil
	}
	return &progress{w: w}
}

const (
	quiet  = 500 * time.Millisecond // what is faster shows no progress
	redraw = 100 * time.Millisecond
)

// reads returns what to call with the place that was read of an input. It shows nothing
// while another one is waited for.
func (p *progress) reads(j *job) func(event.Pos) {
	if p == nil {
		return nil
	}
	name, size := safe.End(j.name, 60), int64(0)
	if info, err := os.Stat(j.name); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return func(at event.Pos) {
		p.lock.Lock()
		defer p.lock.Unlock()
		now := time.Now()
		if p.of != j || now.Before(p.next) {
			return
		}
		p.next, p.shown = now.Add(redraw), true
		read := fmt.Sprintf("%v of %v (%d%%)", l1.Bytes(at.Offset), l1.Bytes(size), 100*at.Offset/max(size, 1))
		switch {
		case at.Offset == 0:
			read = fmt.Sprintf("%d nodes", at.Node)
		case at.Offset > size: // a pipe, or a compressed file
			read = l1.Bytes(at.Offset).String()
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s: %s read", name, read)
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

package serve

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"syscall"
)

// An outlet writes lines to a reader that may be slow. With room for some bytes its callers never
// wait: further lines are left out, and a line in their place counts them.
type outlet struct {
	to   io.Writer // nil: nothing is written
	room int       // bytes that may wait; 0: callers wait
	note func(lines int64, full error) []byte

	mu   sync.Mutex // all below
	wait []byte
	left int64 // lines left out behind the waiting ones
	all  int64 // lines that were left out
	over bool  // nothing more comes
	full error // why lines were left out that had room: there was none on a disk
	err  error
	more chan struct{} // something waits, or nothing more comes
}

// write takes some whole lines. Lines larger than the room are taken if no others wait.
func (o *outlet) write(b []byte) error {
	switch {
	case o.to == nil || len(b) == 0:
		return nil
	case o.room == 0:
		_, err := o.to.Write(b)
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left > 0 || len(o.wait) > 0 && len(o.wait)+len(b) > o.room {
		lines := int64(bytes.Count(b, []byte("\n")))
		o.left += lines
		o.all += lines
		return o.err
	}
	o.wait = append(o.wait, b...)
	o.signal()
	return o.err
}

func (o *outlet) signal() {
	select {
	case o.more <- struct{}{}:
	default: // it is awake
	}
}

// run writes the waiting lines until end is called. After an error it only takes it away.
func (o *outlet) run() {
	var b []byte
	for {
		o.mu.Lock()
		b, o.wait = o.wait, b[:0]
		left, lines := o.left, len(b)
		if left > 0 {
			b = append(b, o.note(left, o.full)...)
			o.left, o.full = 0, nil
		}
		over, failed := o.over, o.err
		o.mu.Unlock()
		switch {
		case len(b) == 0 && over:
			return
		case len(b) == 0:
			<-o.more
		case failed == nil:
			n, err := o.to.Write(b)
			if o.wrote(b[min(n, lines):lines], left, err) {
				<-o.more // until there may be room
			}
		}
	}
}

// wrote handles the result of a Write. On a full disk the unwritten lines are left out, and so are
// lines that came meanwhile: their place is behind the note. It reports whether to try again later.
func (o *outlet) wrote(rest []byte, left int64, err error) (again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isFull(err) {
		lines := int64(bytes.Count(rest, []byte("\n")) + bytes.Count(o.wait, []byte("\n")))
		o.left, o.all, o.full = o.left+left+lines, o.all+lines, err
		o.wait = o.wait[:0]
		if !o.over {
			return true
		}
	}
	o.err = err // at the end there is no later
	return false
}

// again has lines written that a full disk did not take.
func (o *outlet) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full != nil {
		o.signal()
	}
}

// isFull reports whether an error means that a disk or a file has no room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// end announces that no more lines come.
func (o *outlet) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.signal()
}

// leftOut returns how many lines were left out, and the error of writing.
func (o *outlet) leftOut() (lines int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all, o.err
}

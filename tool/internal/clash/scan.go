package clash

import (
	"errors"
	"io"
	"iter"
	"strings"
)

// Scan returns the messages in r in order, every occurrence of each. If reading
// fails, the error is the last element, after the messages before it. The sequence
// can be ranged over once.
func Scan(r io.Reader) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		t := newText(r)
		for pos := 0; ; {
			t.fill(window + 2*maxMessage)
			// What begins before ready is there as a whole.
			ready := len(t.buf)
			if t.err == nil {
				ready -= maxMessage
			}
			for ; pos < ready; pos++ {
				if !t.begins(pos) { // nearly always
					continue
				}
				if msg, n := t.messageAt(pos); n > 0 {
					if !yield(msg, nil) {
						return
					}
					pos += n - 1
				}
			}
			if t.err != nil {
				break
			}
			t.fill(pos + maxPrefix) // see drop
			kept := min(pos, maxBefore)
			t.drop(pos - kept)
			pos = kept
		}
		if !errors.Is(t.err, io.EOF) {
			yield(Message{}, t.err)
		}
	}
}

// begins reports whether the two bytes from buf[pos] on may begin a message. The
// second may be a line break.
func (t *text) begins(pos int) bool {
	next := t.nexts[t.buf[pos]]
	return next != "" && pos+1 < len(t.buf) && strings.IndexByte(next, t.buf[pos+1]) >= 0
}

// messageAt returns the message that begins at buf[pos] and its length in buf, or
// 0 if none does.
func (t *text) messageAt(pos int) (Message, int) {
	line, prefix := t.lineOf(pos)
	m := &t.matcher
	m.b, m.before, m.prefix = t.buf[pos:min(pos+maxMessage, len(t.buf))], t.buf[max(0, pos-maxBefore):pos], prefix
	if !m.message(t.forms) {
		return Message{}, 0
	}
	m.msg.Line = line
	return m.msg, m.i
}

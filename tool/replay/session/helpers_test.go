package session_test

import (
	"io"
	"iter"

	"github.com/cbl1/cbl1/event"
)

// events reads an event log.
func events(in io.Reader, file string) iter.Seq2[*event.Event, error] {
	return event.NewLog(in, file).Events()
}

const logHead = `{"event":"log","version":1}` + "\n"

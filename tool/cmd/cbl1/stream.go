package main

import (
	"errors"
	"io"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/session"
)

func stream(c *request, args []string) (reply, error) {
	log, shut, err := c.openLog(append(args, "-")[0])
	return reply{file: func(w io.Writer) error {
		defer shut()
		var session session.Session
		return session.Stream(log.Events(), w)
	}}, err
}

// openLog opens a log, which is read to the end that it has now.
func (s streams) openLog(name string) (log *event.Log, shut func(), err error) {
	if name == "-" {
		return event.NewLog(s.in, "stdin"), func() {}, nil
	}
	f, err := s.openFile(name)
	if err != nil {
		return nil, nil, err
	}
	before, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(fileError(name, err), f.Close())
	}
	return event.NewLog(f, name).OfFile(before, f.Stat), func() { _ = f.Close() }, nil // open for reading only
}

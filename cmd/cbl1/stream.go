package main

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

func stream(s *request, args []string) error {
	if err := atMost(1, args); err != nil {
		return err
	}
	name := append(args, "-")[0]
	var session replay.Session
	if name == "-" {
		return session.Stream(event.NewLog(s.in, "stdin").Events(), s.out)
	}
	f, err := s.openFile(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // open for reading only
	before, err := f.Stat()
	if err != nil {
		return fileError(name, err)
	}
	return session.Stream(event.NewLog(f, name).OfFile(before, f.Stat).Events(), s.out)
}

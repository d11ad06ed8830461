package main

import (
	"errors"
	"fmt"

	"github.com/cbl1/cbl1/capture"
)

// joined returns the one input that --join makes of all.
func (in *inputs) joined(args []string) (capture.Input, error) {
	for _, arg := range args {
		switch {
		case arg == "-":
			return capture.Input{}, errors.New("--join is for files: standard input (-) can be read only once")
		case isDatabase(arg):
			return capture.Input{}, fmt.Errorf("%s: a report database is no window of a run: --join is for graph captures", arg)
		}
	}
	file, passed, err := capture.Join(args...)
	if err != nil {
		return capture.Input{}, missing(args[0], err)
	}
	for _, p := range passed {
		in.complain(fmt.Errorf("%s: passed over: %s", p.Path, p.Why))
	}
	return file, nil
}

// one refuses several inputs where the answer is about one run.
func (in *inputs) one(args []string, reason string) error {
	if len(args) > 1 && !in.join {
		return errors.New(reason)
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/internal/attack"
	"github.com/cbl1/cbl1/replay"
)

// inputs reads files that ask for far more than they say: whole as cbl1 report and cbl1 peak
// do, and logs line by line too, as cbl1 stream does. All is processor time, of all threads.
// How much they cost in steps is a test (internal/attack).
func inputs(r *runner) error {
	dir, err := os.MkdirTemp("", "cbl1bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, source := range attack.Sources() {
		for _, in := range source.Inputs {
			size := in.Whole
			if r.noGoals { // the smaller ones
				size = in.Size
			}
			text, path := in.Text(size), filepath.Join(dir, "input")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				return err
			}
			workload := fmt.Sprintf("%s: %s, %s, %d KB", source.Kind, in.Name, thousands(fmt.Sprint(size)), len(text)/1000)
			for _, verb := range source.Verbs {
				took, err := r.reads(path, verb)
				if err != nil {
					return fmt.Errorf("%s: %w", in.Name, err)
				}
				r.add(row{workload: workload, what: verb, value: value{n: took.Seconds() * 1000, unit: "ms"}})
			}
		}
	}
	return nil
}

// reads returns how long a verb reads a file.
func (r *runner) reads(path, verb string) (time.Duration, error) {
	best := time.Duration(1 << 62)
	for range r.rounds {
		var err error
		best = min(best, processor(func() { err = apply(path, verb) }))
		if err != nil {
			return 0, err
		}
	}
	return best, nil
}

func apply(path, verb string) error {
	inputs, err := capture.Inputs(path)
	if err != nil {
		return err
	}
	events := inputs[0].Events(capture.Options{})
	if verb == "stream" {
		var s replay.Session
		return s.Stream(events, io.Discard)
	}
	_, err = replay.Run(path, events, replay.Options{})
	return err
}

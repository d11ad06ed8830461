package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/attack"
	"github.com/cbl1/cbl1/replay"
)

// inputs reads logs that ask for far more than they say, whole as cbl1 peak does and line
// by line as cbl1 stream does. All is processor time, of all threads. How much they cost in
// steps is a test (internal/attack).
func inputs(r *runner) error {
	for _, log := range attack.Logs() {
		size := log.Whole
		if r.noGoals { // the smaller ones
			size = log.Size
		}
		text := log.Text(size)
		workload := fmt.Sprintf("log: %s, %s, %d KB", log.Name, thousands(fmt.Sprint(size)), len(text)/1000)
		for _, way := range []struct {
			name string
			read func(*event.Log) error
		}{
			{"peak", func(l *event.Log) error {
				_, err := replay.Run(log.Name, l.Events(), replay.Options{})
				return err
			}},
			{"stream", func(l *event.Log) error {
				var s replay.Session
				return s.Stream(l.Events(), io.Discard)
			}},
		} {
			best := time.Duration(1 << 62)
			for range r.rounds {
				var err error
				best = min(best, processor(func() { err = way.read(event.NewLog(bytes.NewReader(text), log.Name)) }))
				if err != nil {
					return fmt.Errorf("%s: %w", log.Name, err)
				}
			}
			r.add(row{workload: workload, what: way.name, value: value{n: best.Seconds() * 1000, unit: "ms"}})
		}
	}
	return nil
}

package main

import (
	"iter"
	"runtime"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A job is an input that is replayed while others are.
type job struct {
	name   string
	err    error // why it is not even opened
	done   chan struct{}
	result *answer.Result
}

// A crew replays inputs in parallel, as many as there are processors, and hands over the
// Results in the order of the inputs.
type crew struct {
	in   *inputs
	do   func(*answer.Result) error
	jobs []*job        // in order; those that are not handed over
	stop chan struct{} // closed: the results are not needed any more
}

func newCrew(in *inputs, do func(*answer.Result) error) *crew {
	return &crew{in: in, do: do, stop: make(chan struct{})}
}

// add begins another input, if there is one. When as many run as there are processors, it waits for
// the first of them.
func (c *crew) add(s source) error {
	j := &job{name: s.name, err: s.err, done: make(chan struct{})}
	c.jobs = append(c.jobs, j)
	if s.err != nil {
		close(j.done)
	} else {
		opt := c.in.replay
		opt.Progress = c.in.progress.reads(j)
		go func() {
			defer close(j.done)
			j.result, j.err = c.in.result(s, opt, c.stop)
		}()
	}
	if len(c.jobs) < runtime.GOMAXPROCS(0) {
		return nil
	}
	return c.next()
}

// next hands over the first input.
func (c *crew) next() error {
	j := c.jobs[0]
	c.jobs = c.jobs[1:]
	c.in.progress.watch(j)
	<-j.done
	c.in.progress.done()
	c.in.known.add(j.result)
	return c.in.finish(j.result, j.name, j.err, c.do)
}

// end hands over the remaining Results.
func (c *crew) end() error {
	for len(c.jobs) > 0 {
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// batch is how many events a source yields before they are handed over.
const batch = 64

// beside returns the same events, while their source goes on to the next ones: it is read in
// a goroutine of its own, a few batches ahead. Copies of events are handed over, since the
// source uses the memory of an event again. It ends where its caller stops, or stop is
// closed.
func beside(events iter.Seq2[*event.Event, error], stop <-chan struct{}) iter.Seq2[*event.Event, error] {
	type portion struct {
		events []event.Event
		err    error
	}
	return func(yield func(*event.Event, error) bool) {
		full, empty, enough := make(chan portion), make(chan []event.Event, 3), make(chan struct{})
		defer close(enough)
		for range cap(empty) {
			empty <- make([]event.Event, 0, batch)
		}
		go func() {
			defer close(full)
			to := <-empty
			give := func(err error) bool {
				select {
				case full <- portion{to, err}:
					to = <-empty
					return true
				case <-enough:
				case <-stop:
				}
				return false
			}
			for e, err := range events {
				if err != nil {
					give(err)
					return
				}
				if to = append(to, *e); len(to) == batch && !give(nil) {
					return
				}
			}
			give(nil)
		}()
		for some := range full {
			for i := range some.events {
				if !yield(&some.events[i], nil) {
					return
				}
			}
			if some.err != nil {
				yield(nil, some.err)
				return
			}
			empty <- some.events[:0]
		}
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/tensor"
)

// tensorsOf says of which buffers an answer names the tensors. To find them costs up to a quarter of a reading.
type tensorsOf int

const (
	ofNone    tensorsOf = iota
	ofMisfits           // of those beside a program that does not fit, or above a budget: one more run
	ofAll
)

// inputs are the captures, logs and databases that a verb reads.
type inputs struct {
	streams
	progress *progress
	opt      capture.Options // of reading
	replay   replay.Options  // for its Result

	known      *knownNames // of a filter
	unreadable bool        // an input was
	refused    func(file string, why error)
	open       []*database // to be shut
	pipes      []io.Closer // the same
	at         instant     // of the question
	tensors    tensorsOf   // that the answer names
	misfits    func(*answer.Result) bool
}

// start checks the names of inputs, and begins the question with the filter and the moment.
func (c *request) start(names []string) error {
	if err := checkInputs(names); err != nil {
		return err
	}
	if c.at.operation.OK && slices.Contains(names, "-") {
		return errors.New("--at operation:node is for databases, which are files")
	}
	c.opt.At = event.Opt[uint64]{V: c.at.V, OK: c.at.OK && !c.at.operation.OK}
	c.opt.TempDir = os.TempDir()
	c.progress = newProgress(c.err)
	c.replay.OnePeak = true // the others are composed where they are written
	c.replay.Only, c.known = c.only, newKnown(c.only)
	return nil
}

func checkInputs(args []string) error {
	if len(args) == 0 {
		return errors.New("nothing to read: name a file or a folder, or - for standard input")
	}
	stdin := 0
	for _, arg := range args {
		if arg == "" {
			return errors.New("an empty name is no file")
		}
		if arg == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("standard input (-) can be read only once")
	}
	return nil
}

// A source is one input: its events, or why it cannot be read.
type source struct {
	name   string
	events func(*tensor.Table) iter.Seq2[*event.Event, error]
	err    error
}

// read returns a source that reads a capture with the options of its verb, once or several times.
func (in *inputs) read(name string, from interface {
	Events(capture.Options) iter.Seq2[*event.Event, error]
}) source {
	opt := in.opt
	opt.Again = in.tensors != ofNone
	return source{name: name, events: func(to *tensor.Table) iter.Seq2[*event.Event, error] {
		opt.Tensors = to
		return from.Events(opt)
	}}
}

// result replays a source, in between as long as stop is open.
func (in *inputs) result(s source, opt replay.Options, stop <-chan struct{}) (*answer.Result, error) {
	run := func(to *tensor.Table) (*answer.Result, error) {
		opt.Tensors = to
		return replay.Run(s.name, in.known.through(beside(s.events(to), stop)), opt)
	}
	if in.tensors == ofAll {
		r, err := run(&tensor.Table{})
		if err == nil {
			err = replay.FindStale(r, s.events(nil), opt)
		}
		return r, err
	}
	r, err := run(nil)
	if err == nil && in.tensors == ofMisfits && !r.Log && in.misfits(r) {
		return run(&tensor.Table{})
	}
	return r, err
}

// sources opens the inputs that arguments name, one after the other: one for -, for each file, for each capture of
// a folder, and for each part of a database. Behind each database it calls read.
func (in *inputs) sources(args []string, read func()) iter.Seq[source] {
	return func(yield func(source) bool) {
		for _, arg := range args {
			if s, is := in.pipe(arg); is {
				if !yield(s) {
					return
				}
				continue
			}
			files, err := in.find(arg, read)
			if err != nil && !yield(source{name: arg, err: missing(arg, err)}) {
				return
			}
			for file := range files {
				if !yield(in.located(file)) {
					return
				}
			}
		}
	}
}

// each replays all inputs in order and calls do with each Result. Unreadable inputs are named on
// standard error. The error is one of do, or errUnreadable.
func (in *inputs) each(args []string, do func(*answer.Result) error) error {
	return in.replayAll(in.sources(args, in.shut), do) // which has replayed a database when the next input is opened
}

// replayAll is each for opened inputs.
func (in *inputs) replayAll(sources iter.Seq[source], do func(*answer.Result) error) error {
	defer in.shut()
	all := newCrew(in, in.known.holding(do))
	defer close(all.stop)
	for s := range sources {
		if err := all.add(s); err != nil {
			return err
		}
		if in.apart() { // what it is read with is that of the next one too
			if err := all.end(); err != nil {
				return err
			}
		}
	}
	if err := all.end(); err != nil {
		return err
	}
	if in.unreadable {
		if err := in.known.release(do); err != nil {
			return err
		}
		return errUnreadable
	}
	return in.known.unknown()
}

// apart reports whether inputs have to be replayed one after the other: the parts of a
// database share it, and a node of an operation has a number of its own in each.
func (in *inputs) apart() bool { return len(in.open) > 0 || in.at.operation.OK }

// finish hands over the Result of an input, or names the reason why there is none.
func (in *inputs) finish(result *answer.Result, name string, err error, do func(*answer.Result) error) error {
	switch {
	case err != nil:
		in.refuse(name, err)
		return nil
	case !result.Log: // a log says for itself
		if err := in.agrees(result.Spec.Spec); err != nil {
			in.refuse(name, fmt.Errorf("%s: %w", name, err))
			return nil
		}
	}
	return do(result)
}

// ended reports whether the moment lies behind the end of an input, which is then refused.
func (in *inputs) ended(r *answer.Result) bool {
	if !in.at.OK || in.at.V < uint64(r.Nodes) {
		return false
	}
	in.refuse(r.File, fmt.Errorf("%s: there is no node or event %d: it has %d of them, counted from 0", r.File, in.at.V, r.Nodes))
	return true
}

// refuse names an input that cannot be read on standard error.
func (in *inputs) refuse(file string, why error) {
	in.unreadable = true
	in.complain(why)
	if in.refused != nil {
		in.refused(file, why)
	}
}

// agrees refuses a base and sizes that were given and do not lie in the L1 of an input, or not
// around its base. Such a Spec has no sizes. What a file says of itself is only noted.
func (in *inputs) agrees(spec l1.Spec) error {
	if in.opt.MaxL1 > 0 && spec.L1Size == 0 {
		return fmt.Errorf("an L1 of %d bytes (--set l1) ends below address %d, where circular buffers start", in.opt.MaxL1, spec.CBBase)
	}
	if in.opt.Base > 0 && spec.L1Size == 0 {
		return fmt.Errorf("base %d (--base) does not lie in the L1 of a %s", in.opt.Base, spec.Arch)
	}
	if in.opt.L1Small.V > 0 && spec.L1Small == 0 && spec.L1Size > 0 {
		return fmt.Errorf("an L1_SMALL area of %d bytes does not fit into an L1 of %d", in.opt.L1Small.V, spec.L1Size)
	}
	return nil
}

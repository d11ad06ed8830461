package main

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/pflag"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// inputs is one call of a verb that reads captures.
type inputs struct {
	streams
	on       chip
	align    alignFlag
	small    sizeFlag
	size     bytesFlag
	progress *progress
	opt      capture.Options // of reading
	replay   replay.Options  // of what is made of it

	unreadable bool        // an input was
	open       []*database // to be shut
	at         *atFlag     // nil: the verb asks about no moment
}

// add adds the flags about what captures leave out.
func (in *inputs) add(flags *pflag.FlagSet) {
	in.on.add(flags)
	flags.Var(&in.align, "align", "alignment of the addresses of circular buffers")
	flags.Var(&in.small, "l1-small", "size of the L1_SMALL area at the top of L1, which no capture tells")
	flags.Var(&in.size, "max-l1", "size of the L1 of a core")
	flags.BoolVar(&in.opt.NoInfer, "no-infer", false, "take nothing from earlier runs where an operation hit the program cache")
}

// start checks the names of inputs and takes in the flags.
func (in *inputs) start(args []string) error {
	if err := checkInputs(args); err != nil {
		return err
	}
	in.progress = newProgress(in.err)
	in.opt.Arch, in.opt.Base, in.opt.Align = l1.Arch(in.on.arch), uint64(in.on.base), uint64(in.align)
	in.opt.L1Small, in.opt.MaxL1 = uint64(in.small), uint64(in.size)
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

// each replays all inputs in order and calls do with each of them, at its end. Those
// that cannot be read are named on standard error. The error is one of do, or
// errUnreadable.
func (in *inputs) each(args []string, do func(*replay.Result) error) error {
	defer in.shut()
	for _, arg := range args {
		if arg == "-" {
			if err := in.one("stdin", capture.NewReader(in.in, "stdin").Events(in.opt), do); err != nil {
				return err
			}
			continue
		}
		files, err := in.find(arg)
		if err != nil {
			in.refuse(missing(arg, err))
			continue
		}
		for _, file := range files {
			if err := in.locate(file); err != nil {
				in.refuse(err)
				continue
			}
			if err := in.one(file.Path, file.Events(in.opt), do); err != nil {
				return err
			}
		}
	}
	if in.unreadable {
		return errUnreadable
	}
	return nil
}

// one replays one input. Nothing is printed before it is read to its end.
func (in *inputs) one(name string, events iter.Seq2[*event.Event, error], do func(*replay.Result) error) error {
	opt := in.replay
	opt.Progress = in.progress.of(name)
	result, err := replay.Run(name, events, opt)
	in.progress.done()
	switch {
	case err != nil:
		in.refuse(err)
		return nil
	case !result.Log: // a log says for itself
		if err := in.agrees(result.Spec.Spec); err != nil {
			in.refuse(fmt.Errorf("%s: %w", name, err))
			return nil
		}
	}
	return do(result)
}

func (in *inputs) refuse(err error) {
	in.unreadable = true
	in.complain(err)
}

// agrees refuses sizes that were given and do not lie in the L1 of an input, or not around
// its base. Such a Spec has no sizes.
func (in *inputs) agrees(spec l1.Spec) error {
	if in.size > 0 && spec.L1Size == 0 {
		return fmt.Errorf("an L1 of %d bytes (--max-l1) ends below address %d, where circular buffers start", in.size, spec.CBBase)
	}
	if in.small > 0 && spec.L1Small == 0 && spec.L1Size > 0 {
		return fmt.Errorf("an L1_SMALL area of %d bytes does not fit into an L1 of %d", in.small, spec.L1Size)
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"os"

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
	set      setFlag
	small    smallFlag
	progress *progress
	opt      capture.Options // of reading
	join     bool            // the inputs are windows of one run
	replay   replay.Options  // of what is made of it

	known      known       // of a filter
	unreadable bool        // an input was
	refused    func(error) // is told why; may be nil
	open       []*database // to be shut
	pipes      []*os.File  // the same
	at         *atFlag     // nil: the verb asks about no moment
}

// add adds the flags about what captures leave out.
func (in *inputs) add(flags *pflag.FlagSet) {
	in.on.add(flags)
	flags.Var(&in.set, "set", "align=64: alignment of the addresses of circular buffers; l1=1499136: size of the L1 of a core")
	flags.Var(&in.small, "l1-small", "size of the L1_SMALL area at the top of L1, if not that of the file")
	flags.BoolVar(&in.join, "join", false, "the captures named, or those of a folder in the order of their names, are windows of one run")
	flags.BoolVar(&in.opt.NoInfer, "no-infer", false, "take nothing from earlier runs where an operation hit the program cache")
}

// start checks the names of inputs and takes in the flags.
func (in *inputs) start(args []string) error {
	if err := checkInputs(args); err != nil {
		return err
	}
	in.progress = newProgress(in.err)
	in.opt.Arch, in.opt.Base, in.opt.Align = l1.Arch(in.on.arch), uint64(in.on.base), uint64(in.set.align)
	in.opt.L1Small, in.opt.MaxL1 = event.Opt[uint64](in.small), uint64(in.set.size)
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

// narrow narrows what is made of inputs. One of them has to know what the filter names.
func (in *inputs) narrow(f replay.Filter) { in.replay.Only, in.known = f, newKnown(f) }

// each replays all inputs in order and calls do with each of them, at its end. Those
// that cannot be read are named on standard error. The error is one of do, or
// errUnreadable.
func (in *inputs) each(args []string, do func(*replay.Result) error) error {
	defer in.shut()
	all := newCrew(in, in.known.holding(do))
	defer close(all.stop)
	if in.join {
		if err := in.replayJoined(args, all); err != nil {
			return err
		}
		args = nil
	}
	for _, arg := range args {
		if err := in.replayAll(arg, all); err != nil {
			return err
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

// replayAll replays the inputs that an argument names.
func (in *inputs) replayAll(arg string, all *crew) error {
	if arg == "-" {
		return all.add("stdin", capture.NewReader(in.in, "stdin").Events(in.opt), nil)
	}
	if pipe, is, err := in.pipe(arg); err != nil {
		return all.add(arg, nil, err)
	} else if is {
		return all.add(arg, pipe.Events(in.opt), nil)
	}
	files, err := in.find(arg)
	if err != nil {
		return all.add(arg, nil, missing(arg, err))
	}
	for _, file := range files {
		if err := in.locate(file); err != nil {
			if err := all.add(file.Path, nil, err); err != nil {
				return err
			}
			continue
		}
		if err := all.add(file.Path, file.Events(in.opt), nil); err != nil {
			return err
		}
		if in.apart() { // what it is read with is that of the next one too
			if err := all.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart reports whether inputs have to be replayed one after the other: the parts of a
// database share it, and a node of an operation has a number of its own in each.
func (in *inputs) apart() bool { return len(in.open) > 0 || in.at != nil && in.at.operation.OK }

// finish takes in what was made of an input. Nothing is printed before it is read to its end.
func (in *inputs) finish(result *replay.Result, name string, err error, do func(*replay.Result) error) error {
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

// moment takes in the moment that a verb asks about. What it returns says nothing yet of an
// operation of a database.
func (in *inputs) moment(at *atFlag, arg string) (event.Opt[uint64], error) {
	if in.at = at; arg == "-" && at.operation.OK {
		return event.Opt[uint64]{}, errors.New("--at operation:node is for databases, which are files")
	}
	in.opt.At = event.Opt[uint64]{V: at.n, OK: at.given && !at.operation.OK}
	return in.opt.At, nil
}

// ended reports whether the moment lies behind the end of an input, which is then refused.
func (in *inputs) ended(r *replay.Result) bool {
	if !in.at.given || in.at.n < uint64(r.Nodes) {
		return false
	}
	in.refuse(fmt.Errorf("%s: there is no node or event %d: it has %d of them, counted from 0", r.File, in.at.n, r.Nodes))
	return true
}

func (in *inputs) refuse(err error) {
	in.unreadable = true
	in.complain(err)
	if in.refused != nil {
		in.refused(err)
	}
}

// agrees refuses a base and sizes that were given and do not lie in the L1 of an input, or not
// around its base. Such a Spec has no sizes. What a file says of itself is only noted.
func (in *inputs) agrees(spec l1.Spec) error {
	if in.set.size > 0 && spec.L1Size == 0 {
		return fmt.Errorf("an L1 of %d bytes (--set l1) ends below address %d, where circular buffers start", in.set.size, spec.CBBase)
	}
	if in.on.base > 0 && spec.L1Size == 0 {
		return fmt.Errorf("base %d (--base) does not lie in the L1 of a %s", in.on.base, spec.Arch)
	}
	if in.small.V > 0 && spec.L1Small == 0 && spec.L1Size > 0 {
		return fmt.Errorf("an L1_SMALL area of %d bytes does not fit into an L1 of %d", in.small.V, spec.L1Size)
	}
	return nil
}

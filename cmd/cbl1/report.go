package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/report"
)

// reporter is one call of cbl1 report.
type reporter struct {
	streams
	format   formatFlag
	text     report.TextOptions
	progress *progress
	opt      capture.Options

	reports    int  // printed
	unreadable bool // an input was
}

func newReport(s streams) *cobra.Command {
	var (
		r     = reporter{streams: s}
		on    chip
		align bytesFlag
	)
	cmd := &cobra.Command{
		Use:   "report FILE|FOLDER|- ...",
		Short: "Report on graph captures",
		Long: "Report on ttnn graph captures: JSON in any dialect, plain, gzip or zstd. A folder stands for the\n" +
			"captures in it, one per rank; - is standard input. There is one report per capture. Captures that\n" +
			"cannot be read are named on standard error and make the exit code 2; the others are still reported.",
		Example: "  cbl1 report graph_capture_0_of_1.json\n  cbl1 report --format json reports/ | jq .fullest",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkInputs(args); err != nil {
				return err
			}
			r.progress = newProgress(s.err)
			r.opt = capture.Options{Arch: l1.Arch(on.arch), Base: uint64(on.base), Align: uint64(align)}
			return r.all(args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&r.text.Programs, "programs", false, "also a table of programs (JSON always has them)")
	flags.BoolVar(&r.text.Cores, "cores", false, "also a table of groups of cores (JSON always has them)")
	addFormat(flags, &r.format)
	on.add(flags)
	flags.Var(&align, "align", "alignment of the addresses of circular buffers")
	return cmd
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

// all reports on all inputs in order.
func (r *reporter) all(args []string) error {
	for _, arg := range args {
		if arg == "-" {
			if err := r.one("stdin", func(opt capture.Options) (*capture.Result, error) {
				return capture.Replay(capture.NewReader(r.in, "stdin"), opt)
			}); err != nil {
				return err
			}
			continue
		}
		inputs, err := capture.Inputs(arg)
		if err != nil {
			r.refuse(err)
			continue
		}
		for _, in := range inputs {
			if err := r.one(in.Path, in.Replay); err != nil {
				return err
			}
		}
	}
	if r.unreadable {
		return errUnreadable
	}
	return nil
}

// one reports on one input. Nothing is printed before it is read to its end. The
// error is one of writing.
func (r *reporter) one(name string, replay func(capture.Options) (*capture.Result, error)) error {
	opt := r.opt
	opt.Progress = r.progress.of(name)
	result, err := replay(opt)
	r.progress.done()
	if err != nil {
		r.refuse(err)
		return nil
	}
	r.reports++
	if r.format == "json" {
		return report.JSON(r.out, result)
	}
	if r.reports > 1 {
		if _, err := r.out.Write([]byte("\n")); err != nil {
			return err
		}
	}
	return report.Text(r.out, result, r.text)
}

func (r *reporter) refuse(err error) {
	r.unreadable = true
	r.complain(err)
}

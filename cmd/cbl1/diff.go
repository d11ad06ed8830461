package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/compare"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newDiff(s streams) *cobra.Command {
	var (
		in     = inputs{streams: s}
		most   budgetFlag
		accept acceptFlag
		out    = newPrinter(s.out, "json", "csv", "markdown")
	)
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what changed between two runs, two builds or two versions of a plan",
		Long: "Say what changed between two runs: chip, base and L1 size, then device by device what cores hold,\n" +
			"programs, their circular buffers and L1 buffers. OLD and NEW are captures, event logs, report\n" +
			"databases, folders of captures (by rank), or saved JSON reports (cbl1 report --format json --programs),\n" +
			"in any mix. Programs are matched by operation, order and shape, never by address.\n\n" +
			"The exit code is 0 also if they differ. It is 1 if the fullest core grew by more than --max-growth,\n" +
			"and 3 if OLD or NEW hides something (--accept CODE,... takes it as seen, as in check).",
		Example: "  cbl1 diff monday.json tuesday.json\n  cbl1 diff --max-growth 5% --format markdown baseline.report.json run.json",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("two sides are compared: cbl1 diff OLD NEW")
			}
			if err := in.start(args); err != nil {
				return err
			}
			d, err := in.diff(args[0], args[1], compare.Terms{Accept: accept, MaxGrowth: most.budget})
			if err != nil {
				return err
			}
			err = out.print(report.Diff(d))
			switch {
			case err != nil && !readerGone(err): // the exit code is still to be told
				return err
			case d.Growth != nil && d.Growth.Passed:
				return errNo
			case d.Sides.Old.Answer == replay.CannotTell || d.Sides.New.Answer == replay.CannotTell:
				return errCannotTell
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&most, "max-growth", `by how much the peak of the fullest core may grow, like "8 KiB", or 5% of OLD's`)
	flags.Var(&accept, "accept", "codes of what is hidden (docs/codes.md) and taken as seen: the answer is about the rest")
	out.add(flags)
	in.add(flags)
	return cmd
}

// diff compares two inputs. If one of them cannot be read, or in part, nothing is compared.
func (in *inputs) diff(old, new string, t compare.Terms) (*compare.Diff, error) {
	in.replay.OnePeak, in.replay.Buffers, in.replay.Groups = true, true, true
	before, err := in.runs(old)
	after, other := in.runs(new)
	if err = errors.Join(err, other); err != nil {
		return nil, err
	}
	return compare.Compare(before, after, t), nil
}

// runs reads one side.
func (in *inputs) runs(arg string) (runs []*compare.Run, err error) {
	text, err := in.savedReport(arg)
	if err != nil {
		in.refuse(missing(arg, fileError(arg, err)))
		return nil, errUnreadable
	}
	if text != nil {
		defer func() { _ = text.Close() }() // open for reading only
		name := arg
		if arg == "-" {
			name = "stdin"
		}
		if runs, err = compare.Decode(text, name); err != nil {
			in.refuse(err)
			return nil, errUnreadable
		}
		return runs, nil
	}
	err = in.each([]string{arg}, func(r *replay.Result) error {
		runs = append(runs, compare.Of(r))
		return nil
	})
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s: nothing to compare", arg)
	}
	return runs, err
}

// savedReport opens an input if it is a saved report; nil if it is something else, or is not
// there.
func (in *inputs) savedReport(arg string) (io.ReadCloser, error) {
	const enough = 4 << 10
	if arg == "-" {
		r := bufio.NewReaderSize(in.in, enough)
		in.in = r
		head, err := r.Peek(enough)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !compare.IsReport(head) {
			return nil, nil
		}
		return io.NopCloser(r), nil
	}
	info, err := os.Stat(arg)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // which is said, or read, as other verbs do
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	head := make([]byte, enough)
	n, _ := io.ReadFull(f, head) // what cannot be read is no report
	if _, err := f.Seek(0, io.SeekStart); err != nil || !compare.IsReport(head[:n]) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

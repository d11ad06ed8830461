package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/compare"
	"github.com/cbl1/cbl1/page"
	"github.com/cbl1/cbl1/replay"
)

func newPage(s streams) *cobra.Command {
	var (
		in      = inputs{streams: s}
		budget  budgetsFlag
		accept  acceptFlag
		against string
		to      string
	)
	cmd := &cobra.Command{
		Use:   "page FILE|FOLDER|- ... [-o report.html]",
		Short: "Write a page with pictures and tables, to look at, mail and print",
		Long: "Write one HTML file that needs no network: whether everything fits, the cores of each device, what lies\n" +
			"where in the L1 of a core, how it came about over time, and tables of programs, circular buffers and L1\n" +
			"buffers. Devices that are equal are shown once. With --against it also says what changed.\n" +
			"The exit code is 0 whatever the answer is; cbl1 check has one for it.",
		Example: "  cbl1 page run.json -o report.html\n  cbl1 page --against monday.json tuesday.json -o report.html",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.start(args); err != nil {
				return err
			}
			for _, input := range append(slices.Clip(args), against) {
				if err := in.checkOutput(to, input); err != nil {
					return err
				}
			}
			terms, err := budget.terms(accept)
			if err != nil {
				return err
			}
			return in.page(args, against, to, terms)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&to, "output", "o", "", "the page to write; standard output without it")
	flags.StringVar(&against, "against", "", "an older run, or its saved report, to be compared with")
	flags.Var(&budget, "budget", `what a core may hold at most, like "900 KiB", or 90% of usable L1, or a file of budgets by operation (docs/check.md)`)
	flags.Var(&accept, "accept", "codes of what is hidden (docs/codes.md) and taken as seen: the answer is about the rest")
	in.add(flags)
	return cmd
}

// page writes a page about inputs. If one of them cannot be read nothing is written.
func (in *inputs) page(args []string, against, to string, terms replay.Terms) error {
	in.replay.OnePeak, in.replay.Buffers, in.replay.Groups = true, true, true
	in.replay.Timeline, in.replay.Moments = true, page.Moments
	var (
		results []*replay.Result
		runs    []*compare.Run
		d       *compare.Diff
	)
	err := in.each(args, func(r *replay.Result) error {
		results = append(results, r)
		if against != "" {
			runs = append(runs, compare.Of(r))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if against != "" {
		old, err := in.runs(against)
		if err != nil {
			return err
		}
		d = compare.Compare(old, runs, compare.Terms{Accept: terms.Accept})
	}
	write := func(w io.Writer) error { return page.Write(w, results, terms, d) }
	if to == "" || to == "-" {
		return write(in.out)
	}
	return writeFile(to, write)
}

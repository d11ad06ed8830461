package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newReport(s streams) *cobra.Command {
	var (
		in    = inputs{streams: s}
		shows report.Options
		only  filterFlags
		out   = newPrinter(s.out, "json", "csv", "markdown")
	)
	cmd := &cobra.Command{
		Use:   "report FILE|FOLDER|- ...",
		Short: "Report on graph captures",
		Long: "Report on ttnn graph captures: JSON in any dialect, plain, gzip or zstd, and report databases\n" +
			"(db.sqlite). A folder stands for the captures in it, one per rank; - is standard input. There is one\n" +
			"report per capture. Captures that cannot be read are named on standard error and make the exit code 2;\n" +
			"the others are still reported.",
		Example: "  cbl1 report graph_capture_0_of_1.json\n  cbl1 report --format json reports/ | jq .fullest",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.start(args); err != nil {
				return err
			}
			in.replay.OnePeak = true // the others are composed where they are written
			in.narrow(only.filter())
			show(&shows, in.replay.Only, out.format.value == "csv")
			if shows.Programs && shows.Cores && out.format.value == "csv" {
				return errors.New("a CSV has one kind of row: --programs or --cores")
			}
			return in.each(args, func(r *replay.Result) error { return out.print(report.Report(r, shows)) })
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&shows.Programs, "programs", false, "also a table of programs (JSON always has them)")
	flags.BoolVar(&shows.Cores, "cores", false, "also a table of groups of cores (JSON always has them)")
	only.add(flags)
	out.add(flags)
	in.add(flags)
	return cmd
}

// show asks for the tables that are narrowed: the others would look as if they were.
func show(tables *report.Options, only replay.Filter, one bool) {
	if one && (tables.Programs || tables.Cores) {
		return // it has only what is asked for
	}
	tables.Programs = tables.Programs || only.Op != ""
	tables.Cores = tables.Cores || only.Core.OK && !(one && tables.Programs)
}

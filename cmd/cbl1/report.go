package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newReport(s streams) *cobra.Command {
	var (
		in     = inputs{streams: s}
		text   report.TextOptions
		format formatFlag
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
			out := printer{w: s.out, format: format}
			return in.each(args, func(r *replay.Result) error {
				return out.print(func(w io.Writer) error { return report.JSON(w, r) },
					func(w io.Writer) error { return report.Text(w, r, text) })
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&text.Programs, "programs", false, "also a table of programs (JSON always has them)")
	flags.BoolVar(&text.Cores, "cores", false, "also a table of groups of cores (JSON always has them)")
	addFormat(flags, &format)
	in.add(flags)
	return cmd
}

// printer prints one answer per input: a line of JSON, or text with blank lines between.
type printer struct {
	w      io.Writer
	format formatFlag
	n      int // answers printed
}

func (p *printer) print(json, text func(io.Writer) error) error {
	p.n++
	if p.format == "json" {
		return json(p.w)
	}
	if p.n > 1 {
		if _, err := p.w.Write([]byte("\n")); err != nil {
			return err
		}
	}
	return text(p.w)
}

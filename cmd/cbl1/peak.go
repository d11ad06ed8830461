package main

import (
	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newPeak(s streams) *cobra.Command {
	var (
		in   = inputs{streams: s}
		only filterFlags
		out  = newPrinter(s.out, "json", "csv")
	)
	cmd := &cobra.Command{
		Use:   "peak FILE|FOLDER|- ...",
		Short: "Say how much a core of L1 held at most, and what",
		Long: "Say when a core held most of everything that lives in L1: circular buffers of the programs that\n" +
			"ran last, L1 buffers, dataflow buffers, scratchpads. The first line answers; then comes what lay on\n" +
			"that core at that moment, whose it was, and which bytes were held twice.",
		Example: "  cbl1 peak run.json\n  cbl1 peak --format json run.json | jq '.devices[].peak.tracked_bytes'",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.start(args); err != nil {
				return err
			}
			in.replay.OnePeak = true // the others are composed where they are written
			in.narrow(only.filter())
			return in.each(args, func(r *replay.Result) error { return out.print(report.Peak(r)) })
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	only.add(flags)
	out.add(flags)
	in.add(flags)
	return cmd
}

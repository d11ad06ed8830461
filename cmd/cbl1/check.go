package main

import (
	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newCheck(s streams) *cobra.Command {
	var (
		in     = inputs{streams: s}
		budget budgetsFlag
		only   filterFlags
		accept acceptFlag
		out    = newPrinter(s.out, "json", "csv", "markdown", "junit")
	)
	cmd := &cobra.Command{
		Use:   "check FILE|FOLDER|- ...",
		Short: "Say whether the programs of graph captures fit into L1",
		Long: "Say whether every program of a capture fits into L1 beside the L1 buffers that live when it is\n" +
			"enqueued, and if not, who is in the way. Programs are judged as tt-metal judges them, with its\n" +
			"messages, and byte by byte on each core.\n\n" +
			"The exit code is 0 if everything fits, 1 if something does not, and 3 if nobody can tell, because a\n" +
			"capture does not show all that ran, or where all L1 buffers lay. What it names can be taken as seen with\n" +
			"--accept CODE,...: the answer is then about the rest, and its first line says so; so it does where\n" +
			"--device, --core or --op narrow what is judged. Of several inputs the\n" +
			"worst counts: 2 if one cannot be read, then 1, then 3.",
		Example: "  cbl1 check run.json\n  cbl1 check --budget 90% --l1-small 32768 reports/\n  cbl1 check --budget budgets.txt --format junit reports/ > l1.xml",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.start(args); err != nil {
				return err
			}
			terms, err := budget.terms(accept)
			if err != nil {
				return err
			}
			in.refused, in.replay.OnePeak = out.refuse, true
			in.narrow(only.filter())
			all := verdicts{printer: out}
			return all.end(in.each(args, func(r *replay.Result) error {
				j := r.Judge(terms)
				return all.print(report.Check(r, j), j.Answer)
			}))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&budget, "budget", `what a core may hold at most, like "900 KiB", or 90% of usable L1, or a file of budgets by operation (docs/check.md)`)
	flags.Var(&accept, "accept", "codes of what is hidden (docs/codes.md) and taken as seen: the answer is about the rest")
	only.add(flags)
	out.add(flags)
	in.add(flags)
	return cmd
}

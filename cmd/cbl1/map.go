package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/draw"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newMap(s streams) *cobra.Command {
	var (
		in     = inputs{streams: s}
		only   filterFlags
		at     = atFlag{numberFlag: numberFlag{what: "node"}}
		colour = choiceFlag{"auto", []string{"auto", "always", "never"}}
		out    = newPrinter(s.out, "json", "svg")
	)
	cmd := &cobra.Command{
		Use:   "map FILE|-",
		Short: "Draw what lies in L1: the cores of each device, or the addresses of one",
		Long: "Draw the cores of each device, shaded by the bytes that they held at its peak; equal devices are drawn\n" +
			"once. With --core x-y, draw the address map of that core at its peak: circular buffers from the base up,\n" +
			"tensors from the end down, what is free, and what two hold. --at is another moment. A program run that does\n" +
			"not fit is drawn with what is in its way.\n\n" +
			"A terminal gets colour, unless NO_COLOR or TERM=dumb says no, and a file plain ASCII. --format svg is a\n" +
			"picture for light and dark pages.",
		Example: "  cbl1 map run.json\n  cbl1 map --core 0-0 run.json\n  cbl1 map --format svg run.json > l1.svg",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("want one FILE, like run.json")
			}
			return in.one(args, "want one FILE, like run.json, or the windows of one run with --join")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.start(args); err != nil {
				return err
			}
			moment, err := in.moment(&at, args[0])
			if err != nil {
				return err
			}
			in.replay.OnePeak, in.replay.Groups, in.replay.GroupsAt = true, !at.given, moment
			in.narrow(only.filter())
			out.style = draw.Terminal(columns(s.out), colour.value, os.Getenv)
			return in.each(args, func(r *replay.Result) error {
				if in.ended(r) {
					return nil
				}
				return out.print(report.Map(r, event.Opt[uint64]{V: at.n, OK: at.given}))
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&at, "at", "after the node with this counter instead of at the peak")
	only.add(flags)
	flags.Var(&colour, "color", "colours of text")
	out.add(flags)
	in.add(flags)
	return cmd
}

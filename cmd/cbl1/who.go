package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newWho(s streams) *cobra.Command {
	var (
		in     = inputs{streams: s}
		core   coreFlag
		device = numberFlag{what: "id"}
		at     = numberFlag{what: "node"}
		format formatFlag
	)
	cmd := &cobra.Command{
		Use:   "who FILE|FOLDER|- ADDRESS",
		Short: "Say what holds a byte of L1",
		Long: "Say what holds a byte of L1, at the end of a capture or after one of its nodes: the buffers of the\n" +
			"program that ran last on each core, allocated buffers, and every program of the cache that uses the\n" +
			"byte. ADDRESS is in bytes, decimal or with 0x hexadecimal. The exit code is 1 if nothing holds it.",
		Example: "  cbl1 who run.json 111616\n  cbl1 who run.json 0x1b400 --core 3-0 --device 0 --at 143",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("want FILE and ADDRESS, like run.json 0x1b400")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			addr, err := parseAddress(args[1])
			if err != nil {
				return err
			}
			if err := in.start(args[:1]); err != nil {
				return err
			}
			q := report.Question{
				Question: replay.Question{Address: addr, At: event.Opt[uint64]{V: at.n, OK: at.given}},
				Core:     event.Opt[l1.Core]{V: core.core, OK: core.given},
				Device:   event.Opt[uint64]{V: device.n, OK: device.given},
			}
			in.opt.At, in.replay.Ask = q.At, &q.Question
			out := printer{w: s.out, format: format}
			anything := false
			err = in.each(args[:1], func(r *replay.Result) error {
				if at.given && at.n >= uint64(r.Nodes) {
					in.refuse(fmt.Errorf("%s: there is no node or event %d: it has %d of them, counted from 0", r.File, at.n, r.Nodes))
					return nil
				}
				anything = anything || len(q.Held(r)) > 0
				return out.print(func(w io.Writer) error { return report.WhoJSON(w, r, q) },
					func(w io.Writer) error { return report.Who(w, r, q) })
			})
			if err == nil && !anything {
				return errNo
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&core, "core", "only this core, in logical coordinates")
	flags.Var(&device, "device", "only this device, by its id in the capture")
	flags.Var(&at, "at", "after the node with this counter instead of at the end")
	addFormat(flags, &format)
	in.add(flags)
	return cmd
}

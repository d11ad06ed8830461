package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

// who is one call of the verb.
type who struct {
	inputs
	only filterFlags
	at   atFlag
	out  *printer
}

func newWho(s streams) *cobra.Command {
	w := who{inputs: inputs{streams: s}, out: newPrinter(s.out, "json"), at: atFlag{numberFlag: numberFlag{what: "node"}}}
	cmd := &cobra.Command{
		Use:   "who FILE|FOLDER|- ADDRESS",
		Short: "Say what holds a byte of L1",
		Long: "Say what holds a byte of L1, at the end of a capture or after one of its nodes: the buffers of the\n" +
			"program that ran last on each core, allocated buffers, and every program of the cache that uses the\n" +
			"byte. ADDRESS is in bytes, decimal or with 0x hexadecimal. The exit code is 1 if nothing holds it.",
		Example: "  cbl1 who run.json 111616\n  cbl1 who run.json 0x1b400 --core 3-0 --device 0 --at 143",
		Args: func(_ *cobra.Command, args []string) error {
			const want = "want FILE and ADDRESS, like run.json 0x1b400"
			if len(args) < 2 {
				return errors.New(want)
			}
			return w.one(args[1:], want)
		},
		RunE: func(_ *cobra.Command, args []string) error { return w.run(args[:len(args)-1], args[len(args)-1]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	w.only.add(flags)
	flags.Var(&w.at, "at", "after the node with this counter instead of at the end; in a database also operation:node")
	w.out.add(flags)
	w.add(flags)
	return cmd
}

func (w *who) run(files []string, address string) error {
	addr, err := parseAddress(address)
	if err != nil {
		return err
	}
	if err := w.start(files); err != nil {
		return err
	}
	at, err := w.moment(&w.at, files[0])
	if err != nil {
		return err
	}
	q := report.Question{Question: replay.Question{Address: addr, At: at}, Filter: w.only.filter()}
	w.known, w.replay.Ask, w.replay.OnePeak = newKnown(q.Filter), &q.Question, true // no peak is shown
	anything := false
	err = w.each(files, func(r *replay.Result) error {
		if w.ended(r) {
			return nil
		}
		anything = anything || len(q.Held(r)) > 0
		return w.out.print(report.Who(r, q))
	})
	if err == nil && !anything {
		return errNo
	}
	return err
}

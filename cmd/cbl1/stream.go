package main

import (
	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

func newStream(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "stream [FILE|-]",
		Short: "Follow the event log of a simulator, and answer its queries",
		Long: "Follow an event log, which is JSON Lines (docs/events.md), from a file or from standard input, and\n" +
			"write one line of JSON for each query in it, and for each event that was refused and changed nothing.\n" +
			"An answer is written before the next line is read: a simulator may write a query and wait for it.\n" +
			"The exit code is 0 at the end of the log, and 2 if it cannot be read to its end.",
		Example: "  cbl1 stream run.jsonl\n  ./simulator | cbl1 stream | jq 'select(.answer == \"anomaly\")'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return s.stream(name)
		},
	}
}

func (s streams) stream(name string) error {
	var session replay.Session
	if name == "-" {
		return session.Stream(event.NewLog(s.in, "stdin").Events(), s.out)
	}
	f, err := s.openFile(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // open for reading only
	before, err := f.Stat()
	if err != nil {
		return fileError(name, err)
	}
	return session.Stream(event.NewLog(f, name).OfFile(before, f.Stat).Events(), s.out)
}

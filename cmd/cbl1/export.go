package main

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/export"
	"github.com/cbl1/cbl1/replay"
)

func newExport(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export pprof|perfetto FILE -o OUT",
		Short: "Write a file for go tool pprof or for ui.perfetto.dev",
		Long: "Write what is known of one input for other viewers (docs/export.md). pprof: what lay on the fullest core\n" +
			"at one moment, as a profile. perfetto: operations, and what each device held, over the nodes.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("export what: pprof or perfetto?")
			}
			return fmt.Errorf("%s is no format to export: pprof or perfetto", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args has refused it
	}
	cmd.AddCommand(newExportPprof(s), newExportPerfetto(s))
	return cmd
}

func newExportPprof(s streams) *cobra.Command {
	e := exporter{inputs: inputs{streams: s}, moment: atFlag{numberFlag: numberFlag{what: "node"}}}
	cmd := &cobra.Command{
		Use:   "pprof FILE -o OUT",
		Short: "Write what lay on the fullest core, as a profile",
		Long: "Write what lay on the fullest core when it held most, or after a node, as a profile: operations, programs\n" +
			"and buffers with their bytes, each byte once. The exit code is 1 if nothing is known to have been in L1.",
		Example: "  cbl1 export pprof run.json -o run.pb.gz && go tool pprof -http : run.pb.gz\n" +
			"  go tool pprof -top -diff_base old.pb.gz new.pb.gz",
		RunE: func(_ *cobra.Command, args []string) error { return e.run(args, e.pprof) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&e.moment, "at", "after the node with this counter instead of at the peak; in a database also operation:node")
	e.addFlags(cmd)
	return cmd
}

func newExportPerfetto(s streams) *cobra.Command {
	e := exporter{inputs: inputs{streams: s}}
	e.opt.Ahead, e.opt.Operations = true, true
	cmd := &cobra.Command{
		Use:   "perfetto FILE -o OUT",
		Short: "Write operations, and what devices held, as a Perfetto trace",
		Long: "Write operations as slices, and registered, resident and tracked bytes and the headroom of each device as\n" +
			"counters, for ui.perfetto.dev. One microsecond of its axis is one node.",
		Example: "  cbl1 export perfetto run.json -o run.pftrace",
		RunE:    func(_ *cobra.Command, args []string) error { return e.run(args, e.perfetto) },
	}
	cmd.Flags().SortFlags = false
	e.addFlags(cmd)
	return cmd
}

// exporter is one call of the verb.
type exporter struct {
	inputs
	to     string
	moment atFlag
}

func (e *exporter) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&e.to, "output", "o", "", "the file to write; - for standard output")
	e.add(cmd.Flags())
}

// A toFile makes the file of an input's events.
type toFile func(name string, events iter.Seq2[*event.Event, error], w io.Writer) error

// run reads one input and lets write make the file of it.
func (e *exporter) run(args []string, write toFile) error {
	if err := e.one(args, "one input makes one file: export the others one by one, or --join them"); err != nil {
		return err
	}
	if e.to == "" {
		return errors.New("name the file to write with -o, or - for standard output")
	}
	if err := e.start(args); err != nil {
		return err
	}
	e.opt.At = event.Opt[uint64]{V: e.moment.n, OK: e.moment.given && !e.moment.operation.OK}
	e.inputs.at, e.replay.GroupsAt, e.replay.OnePeak = &e.moment, e.opt.At, true
	defer e.shut()
	events, err := e.source(args)
	if errors.Is(err, errUnreadable) {
		return err
	}
	if err != nil {
		e.refuse(err)
		return errUnreadable
	}
	if err := e.checkOutput(e.to, args...); err != nil {
		return err
	}
	if e.to == "-" {
		return write(args[0], events, e.out)
	}
	return writeFile(e.to, func(w io.Writer) error { return write(args[0], events, w) })
}

// result replays the events.
func (e *exporter) result(name string, events iter.Seq2[*event.Event, error]) (*replay.Result, error) {
	r, err := replay.Run(name, events, e.replay)
	if err == nil && !r.Log {
		err = e.agrees(r.Spec.Spec)
	}
	if err == nil && e.moment.given && e.moment.n >= uint64(r.Nodes) {
		err = fmt.Errorf("%s: there is no node or event %d: it has %d of them, counted from 0", name, e.moment.n, r.Nodes)
	}
	if err != nil {
		e.refuse(err)
		return nil, errUnreadable
	}
	return r, nil
}

func (e *exporter) pprof(name string, events iter.Seq2[*event.Event, error], w io.Writer) error {
	e.replay.Groups = !e.moment.given
	r, err := e.result(name, events)
	if err != nil {
		return err
	}
	m, ok := export.AtPeak(r)
	if e.moment.given {
		m, ok = export.After(r, e.moment.n)
	}
	if !ok {
		e.complain(fmt.Errorf("%s: nothing is known to have been in L1", name))
		return errNo
	}
	return export.Pprof(w, m)
}

func (e *exporter) perfetto(name string, events iter.Seq2[*event.Event, error], w io.Writer) error {
	e.replay.Timeline = true
	t := export.NewTrace(w, name)
	r, err := e.result(name, t.Through(events))
	if err != nil {
		return err
	}
	return t.Finish(r)
}

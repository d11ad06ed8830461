package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/clash"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/report"
)

func newExplain(s streams) *cobra.Command {
	var (
		in     = inputs{streams: s}
		format = choiceFlag{"text", []string{"text", "json", "markdown"}}
		with   string
	)
	cmd := &cobra.Command{
		Use:   "explain [FILE|-]",
		Short: "Explain tt-metal's messages about L1 in a log",
		Long: "Explain what tt-metal means when it says that circular buffers clash with L1 buffers, grow beyond\n" +
			"L1, and the like, that its allocator is out of memory, or that a program or a trace is too large. It says\n" +
			"which parameter of open_device helps. The text is a log or a pasted error, from a file or from standard input;\n" +
			"messages may be shortened by dots, or be told again. The exit code is 1 if there is no such message in it.\n\n" +
			"With a graph capture of the same run, or of the same model, it also names the operation, the circular\n" +
			"buffers and the tensor that a message is about: those with its core range, region end and lowest address. Of a\n" +
			"message of the allocator it looks for the moment at which as much was free, and names what lay between the\n" +
			"free blocks of L1 then, on which cores and since when. Of sizes that are chosen when a device is opened it says\n" +
			"by how much they can change.",
		Example: "  cbl1 explain run.log\n  pytest test_model.py 2>&1 | cbl1 explain\n  cbl1 explain run.log --with graph_capture_0_of_1.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			if err := in.on.check(); err != nil {
				return err
			}
			names := []string{name}
			if cmd.Flags().Changed("with") {
				names = append(names, with)
			}
			if err := in.start(names); err != nil {
				return err
			}
			return in.explain(name, with, format.value)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&with, "with", "", "a graph capture or event log, or a folder of captures, of the same run; the flags from --set on are for it")
	flags.Var(&format, "format", "how the answer is written")
	in.add(flags)
	return cmd
}

// spec is what the flags say, for package clash.
func (c chip) spec() l1.Spec {
	var spec l1.Spec
	if c.arch != "" {
		spec = l1.ArchSpec(l1.Arch(c.arch))
	}
	if c.base != 0 {
		spec.CBBase = uint64(c.base)
	}
	return spec
}

// check refuses a base beyond the L1 of the chip in --arch. Without --arch the largest L1 counts.
func (c chip) check() error {
	spec := l1.ArchSpec(l1.Blackhole) // which has the largest
	if c.arch != "" {
		spec = l1.ArchSpec(l1.Arch(c.arch))
	}
	if uint64(c.base) >= spec.L1Size {
		return fmt.Errorf("base %d (--base) does not lie in the L1 of a %s", uint64(c.base), spec.Arch)
	}
	return nil
}

func (in *inputs) explain(name, with, format string) error {
	text, shown, given := in.in, "stdin", in.on.spec()
	if name != "-" {
		f, err := in.openFile(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // open for reading only
		text, shown = f, name
	}
	found, err := clash.Read(text)
	if err != nil {
		return fileError(shown, err)
	}
	var unreadable error
	if with != "" && len(found.Messages) > 0 {
		found.Matches, unreadable = in.compare(found, with)
	}
	var b bytes.Buffer
	switch doc := report.Explain(clash.NewDocument(found, given)); format {
	case "json":
		err = doc.JSON(&b)
	case "markdown":
		err = doc.Markdown(&b)
	default:
		err = clash.WriteText(&b, found, given)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(in.out, &b); err != nil {
		return err
	}
	if len(found.Messages) == 0 {
		in.complain(fmt.Errorf("%s: no message of tt-metal about circular buffers, nor of its allocator", shown))
		return errNo
	}
	return unreadable
}

// fileError says in one line what is wrong with a file: the operating system's
// errors repeat the name.
func fileError(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/clash"
	"github.com/cbl1/cbl1/l1"
)

func newExplain(s streams) *cobra.Command {
	var (
		on     chip
		format formatFlag
	)
	cmd := &cobra.Command{
		Use:   "explain [FILE|-]",
		Short: "Explain tt-metal's messages about circular buffers in a log",
		Long: "Explain what tt-metal means when it says that circular buffers clash with L1 buffers, grow beyond\n" +
			"L1, and the like. The text is a log or a pasted error, from a file or from standard input.\n" +
			"The exit code is 1 if there is no such message in it.",
		Example: "  cbl1 explain run.log\n  pytest test_model.py 2>&1 | cbl1 explain",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return s.explain(name, on.spec(), format)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addFormat(flags, &format)
	on.add(flags)
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

func (s streams) explain(name string, given l1.Spec, format formatFlag) error {
	in, shown := s.in, "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return fileError(name, err)
		}
		defer func() { _ = f.Close() }() // open for reading only
		in, shown = f, name
	}
	found, err := clash.Read(in)
	if err != nil {
		return fileError(shown, err)
	}
	var b bytes.Buffer
	if format == "json" {
		err = json.NewEncoder(&b).Encode(clash.NewDocument(found, given))
	} else {
		err = clash.WriteText(&b, found, given)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(s.out, &b); err != nil {
		return err
	}
	if len(found.Messages) == 0 {
		s.complain(fmt.Errorf("%s: no message of tt-metal about circular buffers", shown))
		return errNo
	}
	return nil
}

// fileError says in one line what is wrong with a file: the operating system's
// errors repeat the name.
func fileError(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

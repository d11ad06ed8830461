package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/internal/answers/render"
	"github.com/cbl1/cbl1/internal/clash"
	"github.com/cbl1/cbl1/l1"
)

// specOf returns the chip of the flags, for package clash.
func specOf(opt capture.Options) l1.Spec {
	var spec l1.Spec
	if opt.Arch != "" {
		spec = l1.ArchSpec(opt.Arch)
	}
	spec.CBBase = cmp.Or(opt.Base, spec.CBBase)
	return spec
}

// checkBase refuses a base beyond the L1 of the chip in --arch. Without --arch the largest L1 counts.
func checkBase(opt capture.Options) error {
	spec := l1.ArchSpec(cmp.Or(opt.Arch, l1.Blackhole))
	if opt.Base >= spec.L1Size {
		return fmt.Errorf("base %d (--base) does not lie in the L1 of a %s", opt.Base, spec.Arch)
	}
	return nil
}

func runExplain(c *request, names []string) error {
	text, shown, given := c.in, "stdin", specOf(c.opt)
	if names[0] != "-" {
		f, err := c.openFile(names[0])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // open for reading only
		text, shown = f, names[0]
	}
	found, err := clash.Read(text)
	if err != nil {
		return fileError(shown, err)
	}
	var unreadable error
	if c.with.OK && len(found.Messages) > 0 {
		found.Matches, unreadable = c.compare(found, c.with.V)
	}
	if c.format != "text" || len(found.Messages) > 0 {
		if err := c.write(render.Explain(clash.NewDocument(found, given))); err != nil {
			return err
		}
	}
	if len(found.Messages) == 0 {
		c.complain(fmt.Errorf("%s: no message of tt-metal about circular buffers, nor of its allocator", shown))
		return errNo
	}
	return unreadable
}

// fileError describes a fault of a file in one line: errors of the operating system repeat the name.
func fileError(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

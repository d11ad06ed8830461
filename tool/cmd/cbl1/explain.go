package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/internal/clash"
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

func explain(c *request, names []string) (o reply, err error) {
	found, shown, err := c.messages(names[0])
	if err != nil {
		return o, err
	}
	if len(found.Messages) == 0 {
		o.no = fmt.Errorf("%s: no message of tt-metal about circular buffers, nor of its allocator", shown)
	} else if c.with.OK {
		if err = c.compare(&found, c.with.V); errors.Is(err, errUnreadable) {
			err = nil // the messages are explained without it
		}
	}
	o.Output = render.Explain(clash.NewDocument(found, specOf(c.opt)))
	return o, err
}

// fileError describes a fault of a file in one line: errors of the operating system repeat the name.
func fileError(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

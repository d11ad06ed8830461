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

// glossary has the terms of the tables, for cbl1 help words.
const glossary = `device      a chip, or a mesh of chips that hold the same; equal devices are one row
core        logical coordinates x-y; [0-0 - 7-3] is a range of cores, both ends included
registered  most bytes of circular buffers (CBs) of programs at once: in a capture all that ran, as
            the program cache keeps them; in a log those from register to unregister
at end      the same after the last node or event: programs that were unregistered do not count
alive peak  most bytes of CBs at once, each from its node to the free that reaches its device
logical     size x cores of every CB: shared bytes count again and again
L1 peak     most bytes of one core at once, everything but kernels, each byte once (tracked)
fullest     the core with most bytes; where several have as many, the first of them
usable L1   from the base of CBs to the top of L1, without L1_SMALL; the base of percentages
tracked     held by CBs, L1 buffers and the like; a program's stay until the next one on the core
in L1       buffers that are allocated, and those of the program that ran last on the core
stale       a tensor in L1 after its last use: freed there, the peak would have been lower
tightest    bytes free above the program run with the least, when it was enqueued; cbl1 room finds
            the largest buffer that could be added
placed?     the input has no addresses: tt-metal's rule gave them, from --base
blackhole?  the input does not name its chip: --arch does
global CB   lies in a tensor or a GlobalCircularBuffer, and has no bytes of its own
`

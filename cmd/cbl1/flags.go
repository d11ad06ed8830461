package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/cbl1/cbl1/l1"
)

// formatFlag is how to print: "text" or "json".
type formatFlag string

func (f *formatFlag) String() string { return string(*f) }
func (f *formatFlag) Type() string   { return "text|json" }

func (f *formatFlag) Set(s string) error {
	if s != "text" && s != "json" {
		return errors.New(`want "text" or "json"`)
	}
	*f = formatFlag(s)
	return nil
}

// archFlag is an architecture; "" = not given.
type archFlag l1.Arch

func (a *archFlag) String() string { return string(*a) }
func (a *archFlag) Type() string   { return "arch" }

func (a *archFlag) Set(s string) error {
	arch, err := l1.ParseArch(s)
	*a = archFlag(arch)
	return err
}

// bytesFlag is an address or size in bytes; 0 = not given.
type bytesFlag uint64

func (b *bytesFlag) Type() string { return "bytes" }

func (b *bytesFlag) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(uint64(*b))
}

func (b *bytesFlag) Set(s string) error {
	n, err := l1.ParseBytes(s)
	if err == nil && n == 0 {
		err = errors.New("must be above 0")
	}
	*b = bytesFlag(n)
	return err
}

// chip are the flags that say what chip an input is about.
type chip struct {
	arch archFlag
	base bytesFlag
}

func (c *chip) add(flags *pflag.FlagSet) {
	flags.Var(&c.arch, "arch", "architecture: wormhole, blackhole or grayskull")
	flags.Var(&c.base, "base", `address where circular buffers start, like 111616 or "109 KiB"`)
}

func addFormat(flags *pflag.FlagSet, f *formatFlag) {
	*f = "text"
	flags.Var(f, "format", "output for people or for programs")
}

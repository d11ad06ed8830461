package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
)

func askConvert(c *request) error {
	return nil
}

func convert(c *request, names []string) (reply, error) {
	s, err := c.source(names)
	return reply{file: func(w io.Writer) error { return c.writeLog(s, w) }}, err
}

// source opens one input, or several that are one run, under the name of the first.
func (in *inputs) source(names []string) (source, error) {
	all := slices.Collect(in.sources(names))
	var err error
	switch len(all) {
	case 0:
		return source{}, errUnreadable // as was said
	case 1:
		err = all[0].err
	default:
		err = fmt.Errorf("%s has %d captures: one capture makes one log", names[0], len(all))
	}
	if err != nil && !errors.Is(err, errUnreadable) {
		in.refuse(err)
		err = errUnreadable
	}
	all[0].name = names[0]
	return all[0], err
}

// writeLog writes events as a log. A reader of a log that was cut sees that its end is
// missing.
func (in *inputs) writeLog(from source, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	log := event.NewWriter(out)
	for e, err := range from.events {
		if err == nil && e.Kind == event.KindEnd {
			err = in.agrees(e.Spec)
		}
		if err != nil {
			in.refuse(err)
			return errors.Join(out.Flush(), errUnreadable)
		}
		if e.Kind == event.KindTorn {
			e = &event.Event{Pos: e.Pos, Node: e.Node, Kind: event.KindAnomaly, Code: string(event.CodeTornLine), Count: 1}
		}
		if err := log.Write(e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// checkOutput refuses an output that is a folder, or an input itself: a capture cannot
// be made again from its log.
func (c *request) checkOutput(from []string) error {
	var target os.FileInfo
	shown := "standard output"
	if c.to != "" && c.to != "-" {
		target, _ = os.Stat(c.to) // else it is to be made
		shown = c.to
	} else if out, ok := c.out.(*os.File); ok {
		target, _ = out.Stat()
	}
	switch {
	case target == nil:
		return nil
	case target.IsDir():
		return fmt.Errorf("%s is a folder: name the file to write", shown)
	case !target.Mode().IsRegular():
		return nil // like a terminal, which may be both
	}
	for _, arg := range from {
		for _, source := range c.files(arg) {
			if os.SameFile(source, target) {
				return fmt.Errorf("%s is the input: name another file to write", shown)
			}
		}
	}
	return nil
}

// files returns the files of one input, as far as Stat succeeds.
func (in *inputs) files(arg string) (out []os.FileInfo) {
	if stdin, ok := in.in.(*os.File); ok && arg == "-" {
		if info, err := stdin.Stat(); err == nil {
			return []os.FileInfo{info}
		}
	}
	files, _ := capture.Inputs(arg) // an error comes again when it is read
	for _, file := range files {
		if info, err := os.Stat(file.Path); err == nil {
			out = append(out, info)
		}
	}
	return out
}

// writeFile makes a file whole or not at all. An existing file that is not regular, like
// /dev/null, is written directly.
func writeFile(name string, write func(io.Writer) error) error {
	if there, err := os.Stat(name); err == nil && !there.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return fileError(name, err)
		}
		return errors.Join(write(f), f.Close())
	}
	return replaceFile(name, write)
}

// replaceFile writes beside a file and takes its place in the end.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".cbl1-*")
	if err != nil {
		return fileError(name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it is to be forgotten
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Close()); err != nil {
		return fileError(name, err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return fileError(name, err)
	}
	return nil
}

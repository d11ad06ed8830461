package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/tensor"
)

func convert(c *request, names []string) (reply, error) {
	s, err := c.source(names)
	return reply{file: func(w io.Writer) error { return c.writeLog(s, w) }}, err
}

// source opens one input, or several that are one run, under the name of the first.
func (in *inputs) source(names []string) (source, error) {
	all := slices.Collect(in.sources(names, func() {}))
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
		in.refuse(all[0].name, err)
		err = errUnreadable
	}
	return all[0], err
}

// writeLog writes events as a log. A reader of a log that was cut sees that its end is
// missing.
func (in *inputs) writeLog(from source, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	log := event.NewWriter(out)
	var table tensor.Table
	for e, err := range from.events(&table) {
		if err == nil && e.Kind == event.KindAllocate && e.Tensor == nil {
			if x := table.Of(e); x != nil {
				e.Tensor, err = json.Marshal(x)
			}
		}
		if err == nil && e.Kind == event.KindEnd {
			err = in.agrees(e.Spec)
		}
		if err != nil {
			in.refuse(from.name, err)
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

// replaceFile writes beside a file and takes its place in the end. The file keeps its mode; a new one has 0666 less the
// umask. A symbolic link stays, and the file that it names is replaced. A signal that ends the process leaves nothing.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	to, mode := linked(name), os.FileMode(0o666)
	there, none := os.Stat(to)
	if none == nil {
		mode = there.Mode().Perm()
	}
	beside := filepath.Join(filepath.Dir(to), fmt.Sprintf(".cbl1-%d", rand.Uint64()))
	defer removeOnSignal(beside)()
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fileError(name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it is to be forgotten
			_ = os.Remove(beside)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if none == nil { // the umask may have taken some of its mode
		err = f.Chmod(mode)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fileError(name, err)
	}
	if err := os.Rename(beside, to); err != nil {
		return fileError(name, err)
	}
	return nil
}

// linked returns the file that a symbolic link names in the end, there or not; other names stay.
func linked(name string) string {
	for range 40 { // as many as Linux follows
		to, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(name) + string(filepath.Separator) + to
		}
		name = to
	}
	return name
}

// removeOnSignal removes a file or folder if a signal ends the process before the returned function is called.
func removeOnSignal(name string) (stop func()) {
	came, done := make(chan os.Signal, 1), make(chan struct{})
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as nohup does
			signal.Notify(came, sig)
		}
	}
	go func() {
		select {
		case sig := <-came:
			_ = os.RemoveAll(name)
			signal.Reset(sig)
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
				select {} // which ends it, as if nothing had been done here
			}
			os.Exit(exitUsage)
		case <-done:
		}
	}()
	return func() {
		signal.Stop(came)
		close(done)
	}
}

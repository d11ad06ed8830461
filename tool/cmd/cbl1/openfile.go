package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/cbl1/cbl1/tool/capture"
)

// noticeable is how long a pipe is waited for in silence.
const noticeable = time.Second

// openFile opens a file to be read. A pipe is waited for until somebody writes to it, and
// that is said. Folders, sockets and devices are refused: a device may have no end.
func (s streams) openFile(name string) (*os.File, error) { return s.openSaying(name, noticeable) }

// openSaying is openFile; that a pipe is waited for is said after a time.
func (s streams) openSaying(name string, after time.Duration) (*os.File, error) {
	if s.below != nil {
		return openBelow(s.below, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, missing(name, fileError(name, err))
	}
	if err := readable(name, info); err != nil {
		return nil, err
	}
	done := func() {}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		done = s.waitFor(name, after)
	}
	f, err := os.Open(name)
	done()
	if err != nil {
		return nil, fileError(name, err)
	}
	return f, nil
}

// readable refuses files without text that can be read to an end. Of devices it accepts the empty one
// and standard input, where a person may type.
func readable(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("%s is a folder: name a file in it", name)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, which cannot be read like a file", name)
	case mode&fs.ModeDevice != 0:
		empty, _ := os.Stat(os.DevNull) // nil is no file
		stdin, _ := os.Stdin.Stat()
		if !os.SameFile(info, empty) && !os.SameFile(info, stdin) {
			return fmt.Errorf("%s is a device, and no file: it may have no end", name)
		}
	}
	return nil
}

// waitFor says after a time that a pipe is waited for, unless done was called before.
func (s streams) waitFor(name string, after time.Duration) (done func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		s.complain(fmt.Errorf("%s: a pipe without a writer yet: waiting", name))
		close(said)
	})
	return func() {
		if !timer.Stop() {
			<-said // no other goroutine writes to standard error now
		}
	}
}

// openRegular opens a file, and returns nil if it is not regular.
func (s streams) openRegular(name string) (*os.File, error) {
	if s.below != nil {
		return openBelow(s.below, name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // who reads it says why
	}
	return os.Open(name)
}

// pipe opens an argument that is a pipe, standard input or a file of mcp, and reports whether it is one.
func (in *inputs) pipe(arg string) (s source, is bool) {
	if arg == "-" && in.below == nil {
		return in.readPipe("stdin", in.in), true
	}
	info, err := os.Stat(arg)
	if in.below == nil && (err != nil || info.Mode().IsRegular() || info.IsDir()) {
		return s, false // other openers handle it
	}
	f, err := in.openFile(arg)
	if err != nil {
		return source{name: arg, err: err}, true
	}
	in.pipes = append(in.pipes, f)
	return in.readPipe(arg, f), true
}

// readPipe is read of a pipe, whose copy is kept until shut.
func (in *inputs) readPipe(name string, f io.Reader) source {
	r := capture.NewReader(f, name)
	in.pipes = append(in.pipes, r)
	return in.read(name, r)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cbl1/cbl1/event"
)

// A notLogError is a file in the way of logs that are recorded.
type notLogError struct {
	path string
}

func (e *notLogError) Error() string {
	return fmt.Sprintf("%s: exists and is no event log: it is kept, and nothing is recorded", e.path)
}

// An inUseError is a log that another server records.
type inUseError struct {
	path string
}

func (e *inUseError) Error() string { return e.path + ": another server records it" }

// nextLog opens the log that is recorded, and locks it. A log that is there is renamed, and one behind
// it too; an empty file gives way. The error is a *notLogError where something else would have to, an
// *inUseError where the log grows, or one of the system: then all stays.
func (in *serving) nextLog() (io.WriteCloser, error) {
	paths := [...]string{in.record, in.record + ".1", in.record + ".2"}
	n := 0 // logs that are in the way
	for n < len(paths) {
		is, err := isLog(paths[n])
		if err != nil {
			return nil, err
		}
		if !is {
			break
		}
		n++
	}
	for i := min(n, len(paths)-1); i > 0; i-- {
		if err := os.Rename(paths[i-1], paths[i]); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(in.record); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was empty
		return nil, err
	}
	f, err := os.OpenFile(in.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockLog(f); err != nil { // a server has locked it between the two calls
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// isLog reports whether a file is an event log: an empty one is none, nor is one that is not there.
// The error is a *notLogError for all others, an *inUseError for a log that another server records, or
// one of the system.
func isLog(path string) (bool, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, &notLogError{path}
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if err := lockLog(f); err != nil {
		return false, err
	}
	start, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err == nil && len(start) > 0 && !event.IsLog(start) {
		err = &notLogError{path}
	}
	return err == nil && len(start) > 0, err
}

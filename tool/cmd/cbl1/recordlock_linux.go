package main

import (
	"errors"
	"os"
	"syscall"
)

// lockLog locks an open file until it is closed, or its process ends. The error is an *inUseError if
// another process has locked it.
func lockLog(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return &inUseError{f.Name()}
	}
	return err
}

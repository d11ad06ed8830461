package main

import (
	"errors"
	"os"
	"syscall"
)

// lockLog locks an open file until it is closed, or its process ends. locked is false if somebody else
// has locked it.
func lockLog(f *os.File) (locked bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

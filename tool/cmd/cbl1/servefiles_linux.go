package main

import (
	"math"
	"os/signal"
	"syscall"
)

// descriptors returns how many descriptors this process may have.
func descriptors() files {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return files(min(limit.Cur, math.MaxInt32))
}

// ignoreFileSize has a write beyond the largest file that this process may have fail, and not end the process.
func ignoreFileSize() { signal.Ignore(syscall.SIGXFSZ) }

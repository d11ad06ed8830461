package main

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// stopwatch returns the processor time that f takes, and not the time that others have
// the processor meanwhile: a contender that runs for seconds on a busy machine would
// look slower than one that is done before it is interrupted. Collecting garbage in the
// background is not in it.
func stopwatch(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	f()
	return threadTime() - start
}

func threadTime() time.Duration {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}

// processor returns the processor time that f takes, in all threads of the process:
// collecting garbage is in it.
func processor(f func()) time.Duration {
	start := processTime()
	f()
	return processTime() - start
}

func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

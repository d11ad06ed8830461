//go:build !linux

package main

import "time"

// stopwatch returns the time that f takes.
func stopwatch(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// processor returns the time that f takes.
func processor(f func()) time.Duration { return stopwatch(f) }

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// leastMemory is how much memory is used before garbage is collected at all, in bytes.
// Twice what is in use may be taken then: a limit that stood still would make the collector
// run all the time once a capture needs nearly as much.
const leastMemory = 32 << 20

// followLive makes the soft limit of memory follow what is in use.
func followLive() {
	debug.SetGCPercent(-1)
	setLimit()
}

// setLimit sets the limit for what is in use now, and does so again once garbage was
// collected.
func setLimit() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(limitOf(live[0].Value.Uint64()))
	type cycle struct{ _ *cycle } // with a pointer, so that it lies alone
	runtime.AddCleanup(&cycle{}, func(struct{}) { setLimit() }, struct{}{})
}

// limitOf returns the limit where so many bytes are in use.
func limitOf(live uint64) int64 { return int64(max(leastMemory, 2*min(live, 1<<61))) }

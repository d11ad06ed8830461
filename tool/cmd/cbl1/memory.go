package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// leastMemory is the memory in use before the first garbage collection, in bytes. From then on
// the limit is a multiple of the memory in use. A fixed limit would make the collector run all the time
// once a capture needs nearly as much.
const leastMemory = 32 << 20

// followLive makes the soft limit of memory follow the memory in use, so many times as large.
func followLive(times uint64) {
	debug.SetGCPercent(-1)
	setLimit(times)
}

// setLimit sets the limit for the memory in use now, and again after each collection.
func setLimit(times uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(limitOf(times, live[0].Value.Uint64()))
	type cycle struct{ _ *cycle } // with a pointer, so that it lies alone
	runtime.AddCleanup(&cycle{}, func(struct{}) { setLimit(times) }, struct{}{})
}

// limitOf returns the limit where so many bytes are in use. Beyond 200 MiB it is at most twice as large as these.
func limitOf(times, live uint64) int64 {
	const much = 200 << 20
	live = min(live, 1<<60)
	return int64(max(leastMemory, min(times*live, max(2*live, much))))
}

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// leastHeap is the size of the heap that is not worth a garbage collection, in bytes. A larger heap is
// collected when it has doubled. A limit of all memory, twice the live heap, would count freed memory, too:
// the collector would run up to ten times as often, and cbl1 page take 1.3 to 2 times as long.
const leastHeap = 24 << 20

// followLive makes the pace of the garbage collector follow the live heap.
func followLive() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentOf(live[0].Value.Uint64()))
	type cycle struct{ _ *cycle }                                             // with a pointer, so that it lies alone
	runtime.AddCleanup(&cycle{}, func(struct{}) { followLive() }, struct{}{}) // after the next collection
}

// percentOf returns how much a live heap may grow before the next collection, in percent.
func percentOf(live uint64) int {
	const smallest = 4 << 20 // Go takes a smaller live heap for as large
	return int(max(100, 100*leastHeap/min(max(live, smallest), leastHeap)-100))
}

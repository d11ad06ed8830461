// Command cbl1 reads ttnn graph captures and event logs. It reports how much of each core's
// L1 the circular buffers (CBs) of Tenstorrent programs take, its other residents, and
// whether everything fits. It also explains tt-metal's messages about circular buffers.
//
//	cbl1 [report] FILE|FOLDER|- ...   report the bytes of circular buffers
//	cbl1 check FILE|FOLDER|- ...      check whether everything fits, and name the obstacles
//	cbl1 peak FILE|FOLDER|- ...       show the fullest core and its residents
//	cbl1 who FILE|FOLDER|- ADDRESS    find the holder of a byte
//	cbl1 map FILE|-                   draw the cores of each device, or the addresses of one
//	cbl1 room FILE|FOLDER|- ...       find the largest place for one more L1 buffer
//	cbl1 sizes FILE|FOLDER|- ...      find the sizes with which a device has to be opened
//	cbl1 diff OLD NEW                 compare two runs, or saved reports
//	cbl1 tables FILE|FOLDER|- ...     write tables of many runs
//	cbl1 page FILE|FOLDER|- ...       write an HTML page with pictures and tables
//	cbl1 explain [FILE|-]             explain the messages in a log
//	cbl1 stream [FILE|-]              follow a simulator's event log, and answer it
//	cbl1 serve                        follow the allocations of running processes
//	cbl1 watch LOG|URL|FOLDER         watch the devices now, in a terminal
//	cbl1 convert FILE|- [-o LOG]      write a capture as an event log
//	cbl1 mcp FOLDER                   answer an assistant
//	cbl1 export perfetto FILE -o OUT  write a file for ui.perfetto.dev
//
// The exit code is 0 if all went well, 1 if the answer is no, 2 if the command was used
// wrongly or an input could not be read, and 3 if the answer is "cannot tell" (check, diff).
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// version is that of a release that make dist builds: -ldflags "-X main.version=0.1.0 -X main.commit=HASH".
var version string

// commit is the commit of the release.
var commit string

func main() {
	os.Exit(runIn(streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, limit: followLive}, os.Args[1:]))
}

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

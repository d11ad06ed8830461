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

import "os"

// version is that of a release that make dist builds: -ldflags "-X main.version=0.1.0 -X main.commit=HASH".
var version string

// commit is the commit of the release.
var commit string

func main() {
	os.Exit(runIn(streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, limit: followLive}, os.Args[1:]))
}

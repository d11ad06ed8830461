// Command cbl1 reads ttnn graph captures and event logs. It says how much of each core's
// L1 the circular buffers (CBs) of Tenstorrent programs take, what else lives there, and
// whether it fits. It also says what tt-metal's messages about circular buffers mean.
//
//	cbl1 [report] FILE|FOLDER|- ...   what circular buffers take
//	cbl1 check FILE|FOLDER|- ...      whether everything fits, and who is in the way if not
//	cbl1 peak FILE|FOLDER|- ...       how much a core held at most, and what
//	cbl1 who FILE|FOLDER|- ADDRESS    what holds a byte
//	cbl1 map FILE|-                   draw the cores of each device, or the addresses of one
//	cbl1 diff OLD NEW                 what changed between two runs, or saved reports
//	cbl1 page FILE|FOLDER|- ...       write an HTML page with pictures and tables
//	cbl1 explain [FILE|-]             what the messages in a log mean
//	cbl1 stream [FILE|-]              follow a simulator's event log, and answer it
//	cbl1 serve                        follow what running processes allocate
//	cbl1 watch LOG|URL|FOLDER         watch what devices hold now, in a terminal
//	cbl1 convert FILE|- [-o LOG]      write a capture as an event log
//	cbl1 export pprof|perfetto FILE   write a file for other viewers
//
// The exit code is 0 if all went well, 1 if the answer is no, 2 if the command was used
// wrongly or an input could not be read, and 3 if nobody can tell (check, diff).
package main

import (
	"os"
)

// version is the commit of a release that is built by make dist: -ldflags "-X main.version=COMMIT".
var version string

func main() {
	followLive()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

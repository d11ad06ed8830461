// Command cbl1 says how much of each core's L1 the circular buffers (CBs) of a
// Tenstorrent program take, from a ttnn graph capture, and what tt-metal's messages
// about circular buffers mean.
//
//	cbl1 [report] FILE|FOLDER|- ...   read captures
//	cbl1 explain [FILE|-]             read a log
//
// The exit code is 0 if all went well, 1 if the answer is no, and 2 if the command
// was used wrongly or an input could not be read.
package main

import (
	"os"
	"runtime/debug"
)

// version is set when a release is built: -ldflags "-X main.version=v0.1.0".
var version string

// softLimit makes the garbage collector work harder rather than let memory that is
// not in use any more pass what a capture of any size is promised to need.
const softLimit = 48 << 20 // bytes

func main() {
	debug.SetMemoryLimit(softLimit)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

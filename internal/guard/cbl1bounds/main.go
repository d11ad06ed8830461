// Command cbl1bounds plays the five histories that are worst for the operations of package device,
// each in two sizes. Built for coverage, it writes how often each statement of the engine ran to a
// folder for each call, HISTORY/CALL/SIZE below its argument, and the allocated bytes to standard
// output:
//
//	go test -v ./internal/guard/cbl1bounds    # builds it, runs it, and prints the cost of a call
//
// The bounds are in the table in the comment on package device.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/coverage"
	"strconv"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cbl1bounds FOLDER")
		os.Exit(2)
	}
	if err := playAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "cbl1bounds:", err)
		os.Exit(1)
	}
}

// A playing holds the costs of one call in one size, without its steps.
type playing struct {
	Folder  string // below the argument: the steps stand there
	Calls   int
	Bytes   uint64 // allocated
	Objects uint64
}

func playAll(dir string) error {
	out := json.NewEncoder(os.Stdout)
	for _, h := range histories() {
		for _, size := range h.sizes {
			for _, c := range h.made(size) {
				p, err := c.count(dir, filepath.Join(h.folder(c), strconv.Itoa(size)))
				if err == nil {
					err = out.Encode(p)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", p.Folder, err)
				}
			}
		}
	}
	return nil
}

// count plays a call and counts.
func (c call) count(dir, folder string) (playing, error) {
	times := max(c.times, 1)
	p := playing{Folder: folder, Calls: times * max(c.calls, 1)}
	to := filepath.Join(dir, folder)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return p, err
	}
	if c.before != nil {
		c.before()
	}
	var before, after runtime.MemStats
	if err := coverage.ClearCounters(); err != nil {
		return p, err
	}
	runtime.ReadMemStats(&before)
	for range times {
		c.play()
	}
	runtime.ReadMemStats(&after)
	if err := coverage.WriteCountersDir(to); err != nil {
		return p, err
	}
	p.Bytes, p.Objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	return p, coverage.WriteMetaDir(to)
}

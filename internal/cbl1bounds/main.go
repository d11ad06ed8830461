// Command cbl1bounds plays the histories that are worst for the operations of package device, each
// in two sizes. Built for coverage, it writes how often each statement of the engine ran to a
// folder for each, HISTORY/SIZE below its argument, and the allocated bytes to standard output:
//
//	go test -v ./internal/cbl1bounds    # builds it, runs it, and prints the cost of a call
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

// A playing holds the costs of one history in one size, without its steps.
type playing struct {
	History string
	Size    int
	Calls   int
	Bytes   uint64 // allocated
	Objects uint64
}

// folder returns where the steps stand.
func (p playing) folder(dir string) string {
	return filepath.Join(dir, p.History, strconv.Itoa(p.Size))
}

func playAll(dir string) error {
	out := json.NewEncoder(os.Stdout)
	for _, h := range histories() {
		for _, size := range h.sizes {
			p, err := h.play(size, dir)
			if err == nil {
				err = out.Encode(p)
			}
			if err != nil {
				return fmt.Errorf("%s, size %d: %w", h.name(), size, err)
			}
		}
	}
	return nil
}

// play plays a history and counts.
func (h *history) play(size int, dir string) (playing, error) {
	p := playing{History: h.name(), Size: size}
	to := p.folder(dir)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return p, err
	}
	play, calls := h.made(size)
	p.Calls = calls
	var before, after runtime.MemStats
	if err := coverage.ClearCounters(); err != nil {
		return p, err
	}
	runtime.ReadMemStats(&before)
	play()
	runtime.ReadMemStats(&after)
	if err := coverage.WriteCountersDir(to); err != nil {
		return p, err
	}
	p.Bytes, p.Objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	return p, coverage.WriteMetaDir(to)
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/internal/large"
	"github.com/cbl1/cbl1/replay"
)

// A file is a capture that is read, and how fast it should be.
type file struct {
	name string
	what large.Plan
	goal float64 // MB/s, on the machine of docs/results.md
}

// captures are the files. Their sizes are shares of a mega, which is 1e6 for the goals.
func captures(mega int64) []file {
	return []file{
		{"report, 1 % graph", large.Plan{Size: 268 * mega, Programs: 81, Share: 0.01}, 2000},
		{"dense graph, 81 programs", large.Plan{Size: 20 * mega, Programs: 81}, 250},
		{"dense graph, indented", large.Plan{Size: 20 * mega, Programs: 81, Dialect: large.Indent}, 250},
		{"dense graph of 2024", large.Plan{Size: 20 * mega, Programs: 81, Dialect: large.Strings}, 250},
		{"32 chips", large.Plan{Size: 20 * mega, Programs: 81, Chips: 32}, 250},
		{"buffers of one size", large.Plan{Size: 20 * mega, Programs: 81, Buffers: large.SameBuffers}, 80},
		{"buffers vary", large.Plan{Size: 20 * mega, Programs: 81, Buffers: large.VaryBuffers}, 80},
		{"buffers vary, 5,000 programs", large.Plan{Size: 10 * mega, Programs: 5000, Buffers: large.VaryBuffers}, 50},
		{"every program distinct", large.Plan{Size: 10 * mega}, 40},
	}
}

// files gives captures to the command. All is processor time, of all threads, with what
// collecting garbage takes.
func files(r *runner) error {
	dir, err := os.MkdirTemp("", "cbl1bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	command, err := built(dir)
	if err != nil {
		return err
	}
	for _, f := range captures(r.size.mega) {
		if err := r.file(f, command, filepath.Join(dir, "capture.json")); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return r.twoProcessors(command, dir)
}

// twoProcessors measures how much sooner the command ends that has two processors and not
// one: with one capture, and with four of one run.
func (r *runner) twoProcessors(command, dir string) error {
	if one := oneProcessor(); one.instead != "" {
		r.add(row{workload: "file: files of one run", what: "two processors against one", value: one})
		return nil
	}
	what := large.Plan{Size: 20 * r.size.mega, Programs: 81}
	var paths []string
	for rank := range 4 {
		path := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		if _, err := write(what, path); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	for _, given := range [][]string{paths[:1], paths} {
		alone, err := r.elapsed(1, command, given)
		if err != nil {
			return err
		}
		two, err := r.elapsed(2, command, given)
		if err != nil {
			return err
		}
		r.add(row{workload: fmt.Sprintf("file: files of one run: %d", len(given)), what: "two processors against one", value: value{n: float64(alone) / float64(two), unit: "x"}})
	}
	return nil
}

// elapsed returns how long the command takes for files, on so many processors.
func (r *runner) elapsed(processors int, command string, paths []string) (time.Duration, error) {
	best := time.Duration(1 << 62)
	for range r.rounds {
		c := exec.Command(command, append([]string{"report"}, paths...)...)
		c.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", processors))
		start := time.Now()
		if err := c.Run(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}

// file measures one of them.
func (r *runner) file(f file, command, path string) error {
	held, of, err := grows(f.what, path)
	if err != nil {
		return err
	}
	made, err := write(f.what, path)
	if err != nil {
		return err
	}
	ours, valid := time.Duration(1<<62), time.Duration(1<<62)
	for range r.rounds {
		took, _, err := reads(command, "report", path)
		if err != nil {
			return err
		}
		ours = min(ours, took)
		valid = min(valid, processor(func() { err = check(path) }))
		if err != nil {
			return err
		}
	}
	workload := "file: " + f.name
	mbs := float64(made.Bytes) / 1e6 / max(ours.Seconds(), 1e-9)
	r.add(row{workload: workload, what: "MB/s", value: value{n: mbs, unit: "MB/s"}, goal: atLeast(f.goal/2, f.goal)})
	times := func(what string, of time.Duration) {
		r.add(row{workload: workload, what: what, value: value{n: float64(of) / float64(ours), unit: "x"}})
	}
	times("of encoding/json.Valid", valid)
	if took, ok := outside("python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", path); ok {
		times("of python3 json.load", took)
	}
	if took, ok := outside("wc", "-l", path); ok {
		times("of wc -l", took)
	}
	var most *goal
	if of == "run" { // programs take the sizes as given
		most = atMostOnly(32)
	}
	r.add(row{workload: workload, what: "held for each " + of, value: value{n: held, unit: "B"}, goal: most})
	return nil
}

// grows returns how many bytes more are held for each more run or, where each has a program
// of its own, program.
func grows(what large.Plan, path string) (bytes float64, of string, err error) {
	var made [2]large.Made
	var held [2]uint64
	size := what.Size
	for i, part := range []int64{8, 2} {
		what.Size = size / part
		if made[i], err = write(what, path); err != nil {
			return 0, "", err
		}
		if held[i], err = read(path, made[i]); err != nil {
			return 0, "", err
		}
	}
	if of = "run"; what.Programs == 0 || int64(what.Programs) >= made[1].Ops {
		of = "program"
	}
	return (float64(held[1]) - float64(held[0])) / float64((made[1].Ops-made[0].Ops)*int64(max(what.Chips, 1))), of, nil
}

func write(c large.Plan, path string) (large.Made, error) {
	f, err := os.Create(path)
	if err != nil {
		return large.Made{}, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	made, err := c.Write(out)
	if err == nil {
		err = out.Flush()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return made, err
}

// read reads a capture as the command does, and returns how much its Result holds.
func read(path string, made large.Made) (held uint64, err error) {
	inputs, err := capture.Inputs(path)
	if err != nil {
		return 0, err
	}
	before := live()
	result, err := replay.Run(path, inputs[0].Events(capture.Options{}), replay.Options{})
	if err != nil {
		return 0, err
	}
	if result.Nodes != made.Nodes || result.Checks.Runs < made.Ops || result.Checks.Failed > 0 {
		return 0, fmt.Errorf("%d nodes and %d runs of which %d fail; %d nodes and %d operations were written",
			result.Nodes, result.Checks.Runs, result.Checks.Failed, made.Nodes, made.Ops)
	}
	held = max(live(), before) - before
	runtime.KeepAlive(result)
	return held, nil
}

// live returns how many bytes are in use once garbage is collected.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// check looks for no more than whether a file is JSON.
func check(path string) error {
	text, err := os.ReadFile(path)
	if err == nil && !json.Valid(bytes.TrimSpace(text)) {
		err = fmt.Errorf("%s is no JSON", path)
	}
	return err
}

// outside returns how long a program of others takes, if there is one here.
func outside(name string, args ...string) (time.Duration, bool) {
	cmd := exec.Command(name, args...)
	if err := cmd.Run(); err != nil {
		return 0, false
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), true
}

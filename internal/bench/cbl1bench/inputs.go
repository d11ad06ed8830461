package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cbl1/cbl1/internal/attack"
)

// inputs gives the command files that ask for far more than they say, one run each. How much
// they cost in steps is a test (internal/attack).
func inputs(r *runner) error {
	dir, err := os.MkdirTemp("", "cbl1bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	command, err := built(dir)
	if err != nil {
		return err
	}
	for _, source := range attack.Families() {
		for _, in := range source.Inputs {
			aims := in.Aims
			if r.noGoals { // the smaller ones
				aims = []attack.Aim{{Size: in.Size}}
			}
			for _, aim := range aims {
				if err := r.input(source, in, aim, command, dir); err != nil {
					return fmt.Errorf("%s: %w", in.Name, err)
				}
			}
		}
	}
	return nil
}

// built builds the command in a folder.
func built(dir string) (command string, err error) {
	command = filepath.Join(dir, "cbl1")
	if out, err := exec.Command("go", "build", "-o", command, "github.com/cbl1/cbl1/cmd/cbl1").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return command, nil
}

// input measures one of them with each verb that its source has.
func (r *runner) input(source attack.Family, in attack.Template, aim attack.Aim, command, dir string) error {
	dir, err := os.MkdirTemp(dir, "input")
	if err != nil {
		return err
	}
	args, size, err := in.Write(dir, aim.Size)
	if err != nil {
		return err
	}
	workload := fmt.Sprintf("%s: %s, %s, %d KB", source.Kind, in.Name, thousands(fmt.Sprint(aim.Size)), size/1000)
	for _, verb := range source.Verbs {
		took, heap := time.Duration(1<<62), int64(0)
		for range r.rounds {
			once, most, err := reads(command, attack.Args(verb, aim.Size, args)...)
			if err != nil {
				return err
			}
			took, heap = min(took, once), max(heap, most)
		}
		r.add(row{workload: workload, what: verb, value: value{n: took.Seconds(), unit: "s"}, goal: atMostIf(aim.Seconds)})
		r.add(row{workload: workload, what: verb + ", heap", value: value{n: float64(heap >> 20), unit: "MiB"}, goal: atMostIf(float64(aim.Heap >> 20))})
	}
	return nil
}

// atMostIf is atMostOnly where somebody asked.
func atMostIf(limit float64) *goal {
	if limit == 0 {
		return nil
	}
	return atMostOnly(limit)
}

// reads returns the processor time of a command that reads files, and the most of its heap
// that was in use when garbage was collected.
func reads(command string, args ...string) (took time.Duration, heap int64, err error) {
	c := exec.Command(command, args...)
	c.Stdin = strings.NewReader(attack.Messages)
	c.Env = append(os.Environ(), "GODEBUG=gctrace=1")
	var told bytes.Buffer
	c.Stderr = &told
	if err := c.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || !slices.Contains([]int{1, 3}, exit.ExitCode()) {
			return 0, 0, fmt.Errorf("%w: %.300s", err, told.String())
		}
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), attack.HeapTold(told.String()), nil
}

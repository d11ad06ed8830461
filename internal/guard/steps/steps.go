// Package steps counts the executed statements of some packages, which the go command counts in
// builds for coverage. The number is nearly the same on every machine, busy or not.
package steps

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Build builds the main package pkg as the file binary so that the statements of the covered
// packages count. It needs the go command.
func Build(binary, pkg string, covered ...string) error {
	c := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(covered, ","), "-o", binary, pkg)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// A Tally sums the counts of programs.
type Tally struct{ tool string }

// NewTally returns a Tally. It needs the go command.
func NewTally() (Tally, error) {
	out, err := exec.Command("go", "tool", "-n", "covdata").Output()
	if err != nil {
		return Tally{}, fmt.Errorf("go tool covdata: %w", err)
	}
	return Tally{strings.TrimSpace(string(out))}, nil
}

// Sum sums the counters that a program wrote into a folder: of each block its statements,
// times how often it ran.
func (r Tally) Sum(dir string) (sum int64, err error) {
	profile := filepath.Join(dir, "profile")
	if out, err := exec.Command(r.tool, "textfmt", "-i", dir, "-o", profile).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue // the mode
		}
		statements, err1 := strconv.ParseInt(fields[1], 10, 64)
		times, err2 := strconv.ParseInt(fields[2], 10, 64)
		if err1 != nil || err2 != nil {
			return 0, fmt.Errorf("%s: not a line of counters: %q", profile, line)
		}
		sum += statements * times
	}
	return sum, nil
}

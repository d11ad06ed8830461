package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The previous release is built with this command in the place of its own: it plays the same
// histories, in a process of its own.

// previousCommit is the commit that stands for the previous release. It is moved by hand.
//
//go:embed previous.txt
var previousCommit string

// buildAt builds the command of a tag or commit in a folder.
func buildAt(revision, dir string) (command string, err error) {
	file, err := output(".", "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	root, packed, old := filepath.Dir(file), filepath.Join(dir, "tree.tar"), filepath.Join(dir, "tree")
	if err := os.Mkdir(old, 0o700); err != nil {
		return "", err
	}
	if _, err := output(root, "git", "archive", "--output", packed, revision); err != nil {
		return "", err
	}
	if _, err := output(old, "tar", "-xf", packed); err != nil {
		return "", err
	}
	for _, name := range []string{"cbl1bench", "baseline", "large"} {
		from, to := filepath.Join(root, "internal", name), filepath.Join(old, "internal", name)
		if err := os.RemoveAll(to); err != nil {
			return "", err
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return "", err
		}
	}
	command = filepath.Join(dir, "previous")
	_, err = output(old, "go", "build", "-o", command, "./internal/cbl1bench")
	return command, err
}

// output returns the output of a program that runs in a folder, without the last line break.
func output(dir, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %.300s", name, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// before returns the ns of a call of the previous release.
func (r *runner) before(w workload) (float64, error) {
	text, err := output(".", r.previous, "-alone", "-run", "^"+regexp.QuoteMeta(w.name)+"$",
		"-div", strconv.Itoa(r.div), "-rounds", strconv.Itoa(r.rounds))
	if err != nil {
		return 0, err
	}
	_, ns, _ := strings.Cut(text, "\t")
	return strconv.ParseFloat(ns, 64)
}

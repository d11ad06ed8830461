package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
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
	for _, name := range []string{"tool/internal/guard/cbl1bench", "internal/guard/baseline", "tool/internal/guard/large"} {
		from, to := filepath.Join(root, name), filepath.Join(old, name)
		if err := os.RemoveAll(to); err != nil {
			return "", err
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(filepath.Join(old, "capture")); err == nil {
		if err := fromRoot(filepath.Join(old, "tool")); err != nil {
			return "", err
		}
	}
	command = filepath.Join(dir, "previous")
	_, err = output(old, "go", "build", "-o", command, "./tool/internal/guard/cbl1bench")
	return command, err
}

// fromRoot lets the files of a folder import the packages of the command from the root, where they stood before 0.1.0.
func fromRoot(folder string) error {
	return filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		old := strings.NewReplacer("cbl1/tool/capture", "cbl1/capture", "cbl1/tool/replay", "cbl1/replay").Replace(string(text))
		return os.WriteFile(name, []byte(old), 0o600)
	})
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

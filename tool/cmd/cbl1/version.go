package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

func printVersion(*request, []string) (reply, error) {
	return reply{file: func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "cbl1 %s, %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}}, nil
}

// next is the version of a source that no tag names.
const next = "0.1.0-dev"

// versionText returns the version and commit that the linker set, else those that the go command recorded. A
// source without a repository has no commit.
func versionText() string {
	number, of := version, commit
	if info, ok := debug.ReadBuildInfo(); ok && number == "" {
		number, of = numberOf(info.Main.Version), cmp.Or(of, commitOf(info.Settings))
	}
	if of == "" {
		return number
	}
	return number + " (" + of + ")"
}

// numberOf returns the number of a version of the module: next, unless it is that of a tag.
func numberOf(module string) string {
	if number, ok := strings.CutPrefix(module, "v"); ok && !strings.ContainsAny(number, "-+") {
		return number
	}
	return next
}

// commitOf returns the commit of a build in 12 digits, with -dirty if files had changed.
func commitOf(settings []debug.BuildSetting) (commit string) {
	dirty := ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit != "" {
		commit += dirty
	}
	return commit
}

package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

func printVersion(*request, []string) (reply, error) {
	return reply{file: func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "cbl1 %s, %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}}, nil
}

// number is the number of the release that is made of this source.
const number = "0.1.0"

// versionText returns the release with the commit that the linker set, else the one that the go
// command recorded. A source without a repository has no commit.
func versionText() string {
	commit := version
	info, ok := debug.ReadBuildInfo()
	if commit == "" && ok {
		commit = commitOf(info.Settings)
	}
	if commit == "" {
		return number
	}
	return number + " (" + commit + ")"
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

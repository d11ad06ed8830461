package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

func printVersion(c *request, args []string) error {
	if err := atMost(0, args); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.out, "cbl1 %s, %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionText returns the version that the linker set, else the one that the go command recorded.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && info.Main.Version == "(devel)" {
			return "(devel) " + s.Value
		}
	}
	return info.Main.Version
}

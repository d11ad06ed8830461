package main

import (
	"runtime/debug"
)

// versionText is what the linker has set, else what the go command has recorded.
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

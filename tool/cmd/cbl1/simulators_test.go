package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSimulators runs the three programs of docs/simulators.md, with the test binary as cbl1. Each prints what the page
// says.
func TestSimulators(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "simulators.md"))
	require.NoError(t, err)
	block := func(language string) string {
		found := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindStringSubmatch(string(page))
		require.NotNil(t, found, language)
		return found[1]
	}
	prints := block("")
	folder := t.TempDir()
	source := func(name, language string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(block(language)), 0o600))
		return path
	}
	command := func(t *testing.T) string {
		if runtime.GOOS == "windows" {
			t.Skip("needs symbolic links, for a command named cbl1")
		}
		self, err := os.Executable()
		require.NoError(t, err)
		cbl1 := filepath.Join(t.TempDir(), "cbl1") // under this name TestMain is the command
		require.NoError(t, os.Symlink(self, cbl1))
		return cbl1
	}
	t.Run("Go", func(t *testing.T) {
		require.Equal(t, prints, output(t, root, tool(t, "go"), "run", source("simulator.go", "go")))
	})
	t.Run("C++", func(t *testing.T) {
		gcc, shell, binary := tool(t, "g++"), tool(t, "sh"), filepath.Join(folder, "simulator")
		cbl1 := command(t)
		output(t, root, gcc, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", "cpp", "-o", binary, source("simulator.cpp", "cpp"))
		require.Equal(t, prints, output(t, folder, shell, "-c", `mkfifo answers && ./simulator < answers 2> printed | "$0" stream > answers; cat printed`, cbl1))
	})
	t.Run("Python", func(t *testing.T) {
		python := tool(t, "python3")
		cmd := exec.Command(python, "-B", source("simulator.py", "python"))
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "examples", "python"), "PATH="+filepath.Dir(command(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, prints, string(out))
	})
}

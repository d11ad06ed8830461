package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPython runs the tests of the Python package with the test binary as cbl1.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run()
	}
	if err != nil {
		t.Skip("needs python3, of 3.10 or newer: the package is written in it")
	}
	// A pass in the cache of go test holds until what this process has read changes.
	files, err := filepath.Glob("../../python/*/*.py")
	require.NoError(t, err)
	require.Greater(t, len(files), 4)
	for _, name := range files {
		_, err := os.ReadFile(name)
		require.NoError(t, err)
	}
	t.Log("PYTHONPATH is", os.Getenv("PYTHONPATH"))
	cmd := exec.Command(python, "-m", "unittest", "discover", "-s", "../../python/test")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `Ran \d\d tests`, string(out))
}

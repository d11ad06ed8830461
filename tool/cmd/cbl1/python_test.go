package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPython runs the tests of the Python package with the test binary as cbl1.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3, of 3.10 or newer: the package is written in it")
	}
	cmd := exec.Command(python, "-m", "unittest", "discover", "-s", "../../python/test")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `Ran \d\d tests`, string(out))
}

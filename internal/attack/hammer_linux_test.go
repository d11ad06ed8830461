package attack_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/attack"
)

// hammer makes TestHammerCosts measure; make hammer sets it.
var hammer = flag.Bool("hammer", false, "TestHammerCosts: seconds of CPU and memory of the command on hostile inputs")

// Each input takes at most 5 seconds of CPU and 300 MiB.
func TestHammerCosts(t *testing.T) {
	if !*hammer {
		t.Skip("measures only with -hammer")
	}
	binary := filepath.Join(t.TempDir(), "cbl1")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/cbl1/cbl1/cmd/cbl1").CombinedOutput()
	require.NoError(t, err, "%s", out)
	pages := attack.Pages()
	for _, c := range []struct {
		in   attack.Template
		size int
		verb string
	}{
		{attack.Squares()[0], 3_000, "report --format json"},
		{attack.Squares()[0], 3_000, "peak --format json"},
		{attack.Squares()[0], 3_000, "map --format json"},
		{pages[0], 30_000, "page -o -"},
		{pages[1], 8_000, "page -o -"},
		{attack.Failures(), 4_000, "page -o -"},
	} {
		file := filepath.Join(t.TempDir(), "input")
		require.NoError(t, os.WriteFile(file, c.in.Text(c.size), 0o600))
		run := exec.Command(binary, attack.Args(c.verb, c.size, file)...)
		run.Stderr = os.Stderr
		require.NoError(t, run.Run())
		cpu := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
		kib := run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("%-10s %6d  %-22s %6.2f s %5d MiB", c.in.Name, c.size, c.verb, cpu.Seconds(), kib>>10)
		require.LessOrEqual(t, cpu, 5*time.Second)
		require.LessOrEqual(t, kib, int64(300<<10))
	}
}

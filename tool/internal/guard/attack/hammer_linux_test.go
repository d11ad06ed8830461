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

	"github.com/cbl1/cbl1/tool/internal/guard/attack"
)

// hammer makes TestHammerCosts measure; make hammer sets it.
var hammer = flag.Bool("hammer", false, "TestHammerCosts: seconds of CPU and memory of the command on hostile inputs")

// Each input takes at most 5 seconds of CPU and 300 MiB, and a database 2 seconds and 200 MiB.
func TestHammerCosts(t *testing.T) {
	if !*hammer {
		t.Skip("measures only with -hammer")
	}
	binary := filepath.Join(t.TempDir(), "cbl1")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/cbl1/cbl1/tool/cmd/cbl1").CombinedOutput()
	require.NoError(t, err, "%s", out)
	pages, databases := attack.Pages(), attack.Databases()
	for _, c := range []struct {
		in   attack.Template
		size int
		verb string
		most time.Duration
		mib  int64
	}{
		{databases[2], 40_000, "check", 2 * time.Second, 200},
		{databases[2], 40_000, "report", 2 * time.Second, 200},
		{attack.Squares()[0], 3_000, "report --format json", 5 * time.Second, 300},
		{attack.Squares()[0], 3_000, "peak --format json", 5 * time.Second, 300},
		{attack.Squares()[0], 3_000, "map --format json", 5 * time.Second, 300},
		{pages[0], 30_000, "page -o -", 5 * time.Second, 300},
		{pages[1], 8_000, "page -o -", 5 * time.Second, 300},
		{attack.Failures(), 4_000, "page -o -", 5 * time.Second, 300},
	} {
		file := filepath.Join(t.TempDir(), "input")
		require.NoError(t, os.WriteFile(file, c.in.Text(c.size), 0o600))
		run := exec.Command(binary, attack.Args(c.verb, c.size, file)...)
		run.Stderr = os.Stderr
		if err := run.Run(); err != nil {
			require.Equal(t, 3, run.ProcessState.ExitCode(), "%v", err)
		}
		cpu := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
		kib := run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("%-10s %6d  %-22s %6.2f s %5d MiB", c.in.Name, c.size, c.verb, cpu.Seconds(), kib>>10)
		require.LessOrEqual(t, cpu, c.most)
		require.LessOrEqual(t, kib, c.mib<<10)
	}
}

package testkit

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// OpenCounts counts the open files and goroutines of the process of a test at a moment. Without /proc
// there are no files.
type OpenCounts struct{ Files, Goroutines int }

// Open returns the present counts.
func Open() OpenCounts {
	entries, _ := os.ReadDir("/proc/self/fd") // where there is none, none are counted
	return OpenCounts{len(entries), runtime.NumGoroutine()}
}

// RequireBack waits until no more is open than before, and fails after the Patience of the
// caller's sleep. It returns the counts of that moment.
func (before OpenCounts) RequireBack(t testing.TB, sleep func(time.Duration)) OpenCounts {
	t.Helper()
	for range Patience / time.Millisecond {
		if now := Open(); now.Files <= before.Files && now.Goroutines <= before.Goroutines {
			return now
		}
		sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%v before, %v now: %v\n%s", before, Open(), links(), stacks[:runtime.Stack(stacks, true)])
	return OpenCounts{}
}

// String has both numbers.
func (o OpenCounts) String() string {
	return fmt.Sprintf("%d descriptors and %d goroutines", o.Files, o.Goroutines)
}

// links returns the targets of the open descriptors.
func links() (out []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name()) // the descriptor of the folder itself is closed
		out = append(out, e.Name()+" "+to)
	}
	return out
}

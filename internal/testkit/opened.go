package testkit

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// Opened is what the process of a test has open at a moment. Where there is no /proc it has no files.
type Opened struct{ Files, Goroutines int }

// Open returns what is open now.
func Open() Opened {
	entries, _ := os.ReadDir("/proc/self/fd") // where there is none, none are counted
	return Opened{len(entries), runtime.NumGoroutine()}
}

// RequireBack waits until no more is open than there was, and fails after ten seconds of sleep, which is
// that of the caller. It returns what is open then.
func (before Opened) RequireBack(t testing.TB, sleep func(time.Duration)) Opened {
	t.Helper()
	for range 10_000 {
		if now := Open(); now.Files <= before.Files && now.Goroutines <= before.Goroutines {
			return now
		}
		sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%v before, %v now: %v\n%s", before, Open(), links(), stacks[:runtime.Stack(stacks, true)])
	return Opened{}
}

// String has both numbers.
func (o Opened) String() string {
	return fmt.Sprintf("%d descriptors and %d goroutines", o.Files, o.Goroutines)
}

// links says what descriptors stand for.
func links() (out []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name()) // that of the folder itself is closed
		out = append(out, e.Name()+" "+to)
	}
	return out
}

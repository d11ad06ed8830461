package testkit

import (
	"runtime"
	"time"
)

// Patience is how long a test waits for what must come. On a busy machine everything comes
// late, so it is a limit and measures nothing.
const Patience = 2 * time.Minute

// Kept returns the bytes of all objects that are still in use, as a garbage collection finds them.
// They follow from what the program keeps, whenever the collector runs by itself. The
// caller has no goroutines that allocate meanwhile.
func Kept() int64 {
	runtime.GC()
	runtime.GC() // what a sync.Pool holds lives for two collections
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

package testkit

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// SameDraws lets rapid make n draws, always the same, of 30 steps on average where they have steps, until
// the caller calls back. A test about the results of draws needs the same ones: with luck alone, few
// draws sometimes show nothing. With -short rapid makes a fifth of the draws and half of the steps that
// its flags say, which is made up for.
func SameDraws(seed, n int) (back func()) {
	steps := 30
	if testing.Short() {
		n, steps = n*5, steps*2
	}
	return SetFlags(map[string]string{
		"rapid.seed": strconv.Itoa(seed), "rapid.checks": strconv.Itoa(n), "rapid.steps": strconv.Itoa(steps),
	})
}

// SetFlags sets flags of the test binary, and returns what sets them back.
func SetFlags(values map[string]string) (back func()) {
	before := map[string]string{}
	for name, value := range values {
		before[name] = flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	return func() {
		for name, value := range before {
			_ = flag.Set(name, value) // it was this value
		}
	}
}

// Nightly reports whether tests take their largest sizes, which take hours in all. The
// environment variable CBL1_NIGHTLY selects them, and -short overrules it.
func Nightly() bool { return os.Getenv("CBL1_NIGHTLY") != "" && !testing.Short() }

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

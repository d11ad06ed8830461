package testkit

import (
	"os"
	"testing"
)

// Nightly reports whether tests take their largest sizes, which take hours in all. The
// environment variable CBL1_NIGHTLY selects them, and -short overrules it.
func Nightly() bool { return os.Getenv("CBL1_NIGHTLY") != "" && !testing.Short() }

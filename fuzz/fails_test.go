package fuzz_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// many runs a property for as long as three rapid.Checks: by itself rapid makes 100
// tries, which a rare bug survives. With -short, where rapid makes 20, and at night it
// runs ten.
func many(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	n := 3
	switch {
	case raceEnabled:
		n = 1 // nothing here is concurrent
	case testing.Short() || testkit.Nightly():
		n = 10
	}
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) { rapid.Check(t, property) })
	}
}

// fails runs a property that should fail, and returns its log and its message for the smallest
// counterexample that rapid finds, or "" if it finds none. The choices are the same every time; the
// result of shrinking when its time is up is not.
func fails(property func(*rapid.T), shrink time.Duration) string {
	return failsFrom(1, property, shrink)
}

// failsFrom is fails with other choices for each seed.
func failsFrom(seed int, property func(*rapid.T), shrink time.Duration) string {
	defer testkit.SameDraws(seed, 1000)()
	defer testkit.SetFlags(map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": shrink.String()})()
	r := &recorder{}
	func() {
		defer func() {
			if p := recover(); p != nil && p != stop {
				panic(p)
			}
		}()
		rapid.Check(r, property)
	}()
	message := strings.Join(r.errors, "\n")
	_, message, _ = strings.Cut(message, "tests: ")
	message, _, _ = strings.Cut(message, "\nTo reproduce")
	if n := len(r.logs); n == 0 || r.logs[n-1] != message { // a panic is not logged
		r.logs = append(r.logs, message)
	}
	return strings.Join(r.logs, "\n")
}

// stop is the panic value of a recorder that leaves rapid.Check.
const stop = "the recorder has seen enough"

// A recorder is a test that notes why it failed. It is a rapid.TB.
type recorder struct {
	errors []string
	logs   []string // of the last run, which has the smallest counterexample
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "recorder" }
func (r *recorder) Failed() bool { return len(r.errors) > 0 }

func (r *recorder) Log(...any) {}

func (r *recorder) Logf(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !strings.HasPrefix(line, "[rapid]") {
		r.logs = append(r.logs, line)
	}
}

func (r *recorder) Skipf(string, ...any) { r.SkipNow() }
func (r *recorder) Skip(...any)          { r.SkipNow() }
func (r *recorder) SkipNow()             { panic("a property must not skip") }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any)                 { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); r.FailNow() }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); r.FailNow() }
func (r *recorder) Fail()                             { r.Error("failed") }
func (r *recorder) FailNow()                          { panic(stop) }

package suite

import (
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"pgregory.net/rapid"
)

// invariants checks the invariants of a subject that has a method for it.
func invariants(t *rapid.T, subject any) {
	if c, ok := subject.(checker); ok {
		if err := c.CheckInvariants(); err != nil {
			t.Fatalf("invariants: %v", err)
		}
	}
}

// same compares two values.
func same[E comparable](t *rapid.T, got, want E, what string, args ...any) {
	if got != want {
		t.Fatalf(what+"\n got: %+v\nwant: %+v", append(args, got, want)...)
	}
}

// equal compares two lists; nil and empty are the same.
func equal[E program.ID | uint64 | l1.Range](t *rapid.T, got, want []E, what string, args ...any) {
	if !slices.Equal(got, want) {
		t.Fatalf(what+"\n got: %v\nwant: %v", append(args, got, want)...)
	}
}

// alike compares printed forms: nil and empty are the same.
func alike[E any](t *rapid.T, got, want E, what string, args ...any) {
	if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); a != b {
		t.Fatalf(what+"\n got: %s\nwant: %s", append(args, a, b)...)
	}
}

// sameError compares the errors of a call by their class.
func sameError(t *rapid.T, got, want error, what string, args ...any) {
	if !model.SameError(want, got) {
		t.Fatalf(what+"\n got error: %v\nwant error: %v", append(args, got, want)...)
	}
}

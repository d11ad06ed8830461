package capture

import (
	"testing"

	"github.com/cbl1/cbl1/internal/testkit"
)

// TestRules compares the event logs of captures that tell rules apart, as TestFew does: testdata/rules.txt.
func TestRules(t *testing.T) {
	testkit.Sections(t, "testdata/rules.txt", *update, func(asked []string) []string { return toldOf(t, asked) })
}

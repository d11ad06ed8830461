package replay_test

import (
	"strings"
	"testing"

	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// TestFewMore compares the answers about logs that no other test had: see TestFew.
func TestFewMore(t *testing.T) {
	testkit.Sections(t, "testdata/more.txt", *update, func(asked []string) []string {
		return strings.Split(strings.TrimSpace(askedOf(t, asked)), "\n")
	})
}

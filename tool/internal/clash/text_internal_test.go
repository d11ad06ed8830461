package clash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The limit of a line counts its own bytes, not those of the lines before it.
func TestLimitOfALine(t *testing.T) {
	short := newText(strings.NewReader("tail\nnext line\n"))
	short.read = maxLine - 5
	short.fill(100)
	require.NotErrorIs(t, short.err, ErrLine)
}

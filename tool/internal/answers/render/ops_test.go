package render

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpName(t *testing.T) {
	for _, c := range []struct {
		op   string
		n    int
		want string
	}{
		{"ttnn.add > Binary", 40, "ttnn.add > Binary"},
		{"ttnn.add > a > b > Binary", 40, "ttnn.add > a > b > Binary"},
		{"ttnn.add > aaaaaaaaaa > b > Binary", 25, "ttnn.add > ... > Binary"},
		{"ttnn.add > BinaryDevice", 16, "ttnn.add > Bi..."},
		{"ttnn.add", 40, "ttnn.add"},
		{"", 40, "(outside any function)"},
		{"a\n > b", 40, `a\n > b`},
	} {
		require.Equal(t, c.want, opName(c.op, c.n))
	}
}

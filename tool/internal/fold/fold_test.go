package fold_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/fold"
)

func TestAt(t *testing.T) {
	var counts []int
	at := map[string]int{}
	for _, word := range []string{"b", "a", "b", "c", "b"} {
		*fold.At(at, &counts, word)++
	}
	require.Equal(t, []int{3, 1, 1}, counts, "in the order of the first ones")
}

func TestNumber(t *testing.T) {
	var numbers []int
	var fresh []bool
	known := map[string]int{}
	for _, word := range []string{"b", "a", "b", "c", "b"} {
		n, is := fold.Number(known, word)
		numbers, fresh = append(numbers, n), append(fresh, is)
	}
	require.Equal(t, []int{0, 1, 0, 2, 0}, numbers)
	require.Equal(t, []bool{true, true, false, true, false}, fresh)
}

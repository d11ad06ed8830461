package program

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A roll is a map from keys to how many came before, also when it is used again.
func TestRollModel(t *testing.T) {
	var r roll
	rapid.Check(t, func(t *rapid.T) {
		r.reset()
		model := map[string]int{}
		for _, key := range rapid.SliceOfN(rapid.StringMatching("[ab]{0,6}"), 0, 200).Draw(t, "keys") {
			want, known := model[key]
			if !known {
				want = len(model)
				model[key] = want
			}
			n, fresh := r.number([]byte(key))
			require.Equal(t, want, n)
			require.Equal(t, !known, fresh)
			require.Equal(t, key, string(r.key(n)))
		}
	})
}

// A roll that has grown still knows the keys from before.
func TestRollGrows(t *testing.T) {
	var r roll
	for range 2 {
		for key := range byte(100) {
			n, _ := r.number([]byte{key})
			require.EqualValues(t, key, n)
		}
	}
}

package asciijson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/internal/asciijson"
)

// An escaped text is ASCII, and means the same.
func TestEscape(t *testing.T) {
	require.Equal(t, `"a\u00e4\u202e\ud83d\ude00\u007f"`, string(asciijson.Escape([]byte("\"aä\u202e😀\x7f\""))))
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		given, err := json.Marshal(want)
		require.NoError(t, err)
		out := asciijson.Escape(given)
		for _, b := range out {
			require.Less(t, b, byte(0x7f))
		}
		var got, plain string
		require.NoError(t, json.Unmarshal(out, &got))
		require.NoError(t, json.Unmarshal(given, &plain)) // invalid UTF-8 is replaced there
		require.Equal(t, plain, got)
	})
}

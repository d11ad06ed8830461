package page

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The members of the data block of a log that no other document has, as reviewed. The documents of
// report and check in it are compared elsewhere.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("../../../../examples/events.jsonl")
	require.NoError(t, err)
	r, err := replay.Run("events.jsonl", capture.NewReader(bytes.NewReader(text), "events.jsonl").Events(capture.Options{}), replay.Options{Buffers: true, Groups: true, Timeline: true, Moments: Moments})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(100, 1000).JSON(&b))
	var doc struct{ Captures []map[string]any }
	d := json.NewDecoder(&b)
	d.UseNumber()
	require.NoError(t, d.Decode(&doc))
	for _, elsewhere := range []string{"report", "check"} {
		require.NotEmpty(t, doc.Captures[0][elsewhere])
		delete(doc.Captures[0], elsewhere)
	}
	own, err := json.Marshal(doc.Captures)
	require.NoError(t, err)
	packed, err := pack(own)
	require.NoError(t, err)
	testkit.Golden(t, flag.Lookup("update").Value.String() == "true", "testdata/events.golden", string(bytes.ReplaceAll(packed, []byte("},"), []byte("},\n")))+"\n")
}

package render_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
)

// What room says of each capture follows its schema, in the forms of all questions.
func TestRoomSchema(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.room-1.schema.json")
	tights := 0
	for _, f := range fixtures(t) {
		for _, q := range []replay.RoomQuestion{{}, {Size: 1_300_000}, {Size: 1, Cores: l1.Rect(0, 0, 1, 1).Cores()}} {
			inputs, err := capture.Inputs(f.capture)
			require.NoError(t, err)
			r, err := replay.Run(filepath.Base(f.capture), inputs[0].Events(capture.Options{}), replay.Options{Room: &q})
			require.NoError(t, err)
			d := render.Room(r, r.Room(nil))
			var json, text bytes.Buffer
			require.NoError(t, d.JSON(&json))
			validate(t, strict, json.Bytes())
			require.NoError(t, d.Text(&text, 80))
			requireVisible(t, text.String())
			tights += len(decoded(t, d)["too_tight"].([]any))
		}
	}
	require.Greater(t, tights, 10)
}

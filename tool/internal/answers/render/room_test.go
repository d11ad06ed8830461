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
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The room of two devices ends below the L1_SMALL that one of them has alone.
func TestRoomBelowL1SmallOfOneDevice(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"arch":"wormhole","cols":2,"rows":1,"l1_size":4096,"cb_base":1024}}
{"event":"device","device":1,"spec":{"arch":"wormhole","cols":2,"rows":1,"l1_size":4096,"cb_base":1024,"l1_small":512}}
{"event":"program","program":1,"cbs":[{"cores":"0-0","size":64}]}
{"event":"enqueue","program":1}
`
	r := logged(t, log, replay.Options{Room: &answer.RoomQuestion{}})
	var text bytes.Buffer
	require.NoError(t, render.Room(r, r.Room(nil)).Text(&text, 80))
	require.Contains(t, text.String(), "above     L1_SMALL, where usable L1 ends")
}

// What room says of each capture follows its schema, in the forms of all questions.
func TestRoomSchema(t *testing.T) {
	_, strict := compileSchema(t, "cbl1.room-1.schema.json")
	tights := 0
	for _, f := range fixtures(t) {
		for _, q := range []answer.RoomQuestion{{}, {Size: 1_300_000}, {Size: 1, Cores: l1.Rect(0, 0, 1, 1).Cores()}} {
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

package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// placedTwice is a capture of a program and a buffer on device 0, and of the same without an id.
func placedTwice() string {
	nodes := []string{
		`"node_type":"capture_start","params":{}`,
		`"node_type":"circular_buffer_allocate","params":{"device_id":0,"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}"}`,
		`"node_type":"circular_buffer_allocate","params":{"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}"}`,
		`"node_type":"buffer_allocate","params":{"device_id":0,"address":1400000,"size":64,"max_size_per_bank":64,"type":"L1"}`,
		`"node_type":"buffer_allocate","params":{"address":1400000,"size":64,"max_size_per_bank":64,"type":"L1"}`,
		`"node_type":"capture_end","params":{}`,
	}
	for i, n := range nodes {
		nodes[i] = `{"counter":` + string(rune('0'+i)) + `,"connections":[],` + n + `}`
	}
	return "[" + strings.Join(nodes, ",") + "]"
}

// A device without an id is none with the id 0, in each table and value.
func TestDeviceZeroAndNone(t *testing.T) {
	var b bytes.Buffer
	opt := replay.Options{
		Ask: &answer.Question{Address: 111616}, Groups: true, GroupsAt: event.Some(uint64(5)), Room: &answer.RoomQuestion{Size: 64},
	}
	in := capture.NewReader(strings.NewReader(placedTwice()), "two.json")
	r, err := replay.Run("two.json", in.Events(capture.Options{}), opt)
	require.NoError(t, err)
	for _, d := range []render.Output{
		render.Report(r, render.Options{Programs: true, Cores: true}), render.Peak(r), render.Map(r, event.Some(uint64(5))),
		render.Who(r, r.Who(*opt.Ask, answer.Filter{})), render.Room(r, r.Room(nil)),
	} {
		require.NoError(t, d.Text(&b, 0))
		require.NoError(t, d.CSV(&b, true))
		require.NoError(t, d.JSON(&b))
		b.WriteString("\n")
	}
	requireGolden(t, "zero_and_none", b.String())
}

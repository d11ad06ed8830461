package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

const logHead = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":1,"name":"first","cbs":[{"cores":"[0-0 - 0-0]","size":4096}]}
{"event":"program","program":2,"name":"second","cbs":[{"cores":"[0-0 - 0-0]","size":2048}]}
`

// logged returns the Result of a log.
func logged(t *testing.T, text string, opt replay.Options) *replay.Result {
	t.Helper()
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(text), "run.jsonl").Events(), opt)
	require.NoError(t, err)
	return r
}

// What the schema says of each figure of a log: of the end, or a high-water mark; by id,
// not by run.
func TestLogFiguresByEndAndPeak(t *testing.T) {
	r := logged(t, logHead+`{"event":"register","program":1}
{"event":"unregister","program":1}
{"event":"register","program":1}
{"event":"unregister","program":1}
{"event":"register","program":2}
`, replay.Options{})
	_, strict := compileSchema(t, "cbl1.report-2.schema.json")
	text := jsonText(t, r)
	validate(t, strict, text)
	type group struct {
		Cores      string      `json:"cores"`
		Registered uint64      `json:"registered_bytes"`
		Peak       uint64      `json:"core_peak_bytes"`
		Programs   int         `json:"programs"`
		Regions    [][2]uint64 `json:"registered_regions"`
	}
	type row struct {
		First uint64 `json:"first_counter"`
		Op    string `json:"op"`
	}
	type dev struct {
		Programs   int     `json:"programs"`
		CBNodes    int     `json:"cb_nodes"`
		Peak       uint64  `json:"resident_peak_bytes"`
		Final      uint64  `json:"resident_final_bytes"`
		CorePeak   uint64  `json:"core_peak_bytes"`
		Registered uint64  `json:"registered_union_bytes"`
		Core       uint64  `json:"registered_core_peak_bytes"`
		Logical    uint64  `json:"registered_logical_bytes"`
		Reserved   uint64  `json:"registered_range_granular_bytes"`
		Details    []row   `json:"programs_detail"`
		Groups     []group `json:"core_groups"`
	}
	var got struct {
		Fullest struct {
			Bytes   uint64 `json:"bytes"`
			Program row    `json:"program"`
		} `json:"fullest"`
		Devices map[string]dev `json:"devices"`
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, dev{
		Programs: 2, CBNodes: 3, Peak: 4096, Final: 2048, CorePeak: 4096,
		Registered: 2048, Core: 2048, Logical: 2048, Reserved: 2048,
		Details: []row{{6, "first"}, {8, "second"}},
		Groups:  []group{{"{[0-0 - 0-0]}", 2048, 4096, 1, [][2]uint64{{111616, 113664}}}},
	}, got.Devices["0"])
	require.Equal(t, uint64(2048), got.Fullest.Bytes)
	require.Equal(t, row{8, "second"}, got.Fullest.Program)

	// A core on which nothing is registered any more is in no group.
	r = logged(t, logHead+`{"event":"register","program":1}
{"event":"unregister","program":1}
`, replay.Options{})
	require.NoError(t, json.Unmarshal(jsonText(t, r), &got))
	require.Empty(t, got.Devices["0"].Groups)
	require.Equal(t, uint64(4096), got.Devices["0"].CorePeak)
}

package fit_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// TestRow writes verdicts as the answers of a stream have them.
func TestRow(t *testing.T) {
	spec := l1.Spec{Cols: 4, Rows: 1, L1Size: 1000, CBBase: 100}
	p := placed(t, spec, 5, on(0, 1), 300)
	tensor := fit.Buffer{ID: 9, Name: "w", Kind: fit.KindL1, Cores: on(1, 2), Range: l1.Range{Start: 350, End: 500}}
	hidden := fit.Buffer{ID: 8, Kind: fit.KindL1, Mode: fit.PerCore, Hidden: on(0, 0)}
	const clash = "Statically allocated circular buffers in program 5 clash with L1 buffers on core range [0-0 - 1-0]. " +
		"L1 buffer allocated at 350 and static circular buffer region ends at 400"
	const refusal = `{"kind": "clash", "buffers": "circular", "message": "` + clash + `", "device": 3, "devices": 1,
		"cores": "[0-0 - 1-0]", "region_end": 400, "limit": 350, "over_bytes": 50}`
	for name, test := range map[string]struct {
		buffers []fit.Buffer
		want    string
	}{
		"fits": {nil, `{"fits": true, "message": "program 5 (1 CBs on 2 cores, 600 bytes) fits", "refusals": [],
			"hybrid_refusals": [], "clashes": [], "difference": "", "advice": ""}`},
		"cannot tell": {[]fit.Buffer{hidden}, `{"fits": false, "cannot_tell": true, "doubts": [{
			"kind": "per-core-hidden", "device": 3, "devices": 1, "cores": "[0-0 - 1-0]", "region_end": 400,
			"message": "L1 buffer 8 was allocated per core, and its address is not known on cores of [0-0 - 1-0]"}],
			"message": "cannot tell whether program 5 fits: L1 buffer 8 was allocated per core, ` +
			`and its address is not known on cores of [0-0 - 1-0]",
			"refusals": [], "hybrid_refusals": [], "clashes": [], "difference": "",
			"advice": "say where L1 buffer 8 lies on each of its cores"}`},
		"does not fit": {[]fit.Buffer{tensor}, `{"fits": false, "message": "` + clash + `", "refusals": [` + refusal + `],
			"hybrid_refusals": [` + refusal + `], "clashes": [{
				"device": 3, "devices": 1, "cores": "{[1-0 - 1-0]}", "count": 1, "region_end": 400, "limit": 350,
				"limit_is": "lowest_resident_above", "over_bytes": 50, "clashing_bytes": 50,
				"cbs": [{"kind": "cb", "start": 100, "end": 400, "bytes": 300, "program": 5, "cb": 0}],
				"above": [{"kind": "l1", "start": 350, "end": 500, "bytes": 150, "buffer": 9, "name": "w"}],
				"unusable": [{"start": 500, "end": 1000, "bytes": 500,
					"why": "above what is in the way: circular buffers grow from the base up and cannot pass it"}]}],
			"difference": "", "advice": "free or move L1 buffer 9 (\"w\"), or take 50 bytes off CB 0, which has 300"}`},
	} {
		v := fit.Check(p, fit.Place{Device: 3, Spec: spec, Buffers: test.buffers})
		got, err := json.Marshal(v.Row())
		require.NoError(t, err)
		require.JSONEq(t, test.want, string(got), name)
	}
}

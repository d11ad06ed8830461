package replay_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// Every answer with the id of a program has its name beside it.
func TestAnswersNamePrograms(t *testing.T) {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":134,"name":"matmul","cbs":[{"cores":"[0-0 - 0-0]","size":100000}]}
{"event":"dispatch","program":134}
{"event":"enqueue","program":134}
{"event":"query","query":"core","device":0,"core":"0-0"}
{"event":"query","query":"headroom","program":134}
{"event":"query","query":"who","device":0,"core":"0-0","address":111616}
{"event":"allocate","buffer":1,"kind":"l1","name":"low","size":1000,"parts":[{"address":120000,"size":1000}]}
{"event":"query","query":"check","program":134}
{"event":"enqueue","program":134}
{"event":"register","program":9}
{"event":"query","query":"anomalies"}
`
	var s session.Session
	var out bytes.Buffer
	require.NoError(t, s.Stream(event.NewLog(strings.NewReader(log), "log").Events(), &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var got []string
	for _, line := range lines {
		var v any
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		named(t, line, v)
		got = append(got, v.(map[string]any)["answer"].(string))
	}
	require.Equal(t, []string{"anomaly", "core", "headroom", "who", "check", "anomaly", "anomaly", "anomalies"}, got)
	require.Contains(t, lines[0], `"error":"device 0: program 134: program is not registered","name":"matmul"`)
	require.Contains(t, lines[5], `"code":"does-not-fit"`)
	require.Contains(t, lines[5], `"name":"matmul"`)
	require.NotContains(t, lines[6], `"name"`) // nobody has defined it
	require.Contains(t, lines[7], `line 4: dispatch (matmul): device 0: program 134: program is not registered`)
}

// named requires a name beside each program of a value of JSON.
func named(t *testing.T, line string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			named(t, line, one)
		}
	case map[string]any:
		for id, name := range map[string]string{"program": "name", "dispatched_program": "dispatched_name"} {
			if v[id] != nil {
				require.Equal(t, "matmul", v[name], "%s", line)
			}
		}
		for _, one := range v {
			named(t, line, one)
		}
	}
}

// A program is called what it was called when it was placed, and by its latest name where
// it had none then.
func TestNamesOfLogs(t *testing.T) {
	const head = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":134,%s"cbs":[{"cores":"[0-0 - 0-0]","size":1000}]}
{"event":"register","program":134}
{"event":"program","program":134,"name":"later","cbs":[{"cores":"[0-0 - 0-0]","size":2000}]}
{"event":"dispatch","program":134}
`
	for first, want := range map[string]string{"": "later", `"name":"first",`: "first"} {
		r := replayLog(t, strings.Replace(head, "%s", first, 1), replay.Options{Runs: true})
		require.EqualValues(t, want, r.L1[0].Peak.Op)
		require.EqualValues(t, want, r.Runs[0].Run.Op)
	}
}

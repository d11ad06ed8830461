package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// withoutNodes removes from a row what devices and programs that are equal differ in.
func withoutNodes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"first_counter", "last_counter", "counter", "freed_counter", "t", "freed_t", "device"} {
			delete(v, k)
		}
		for k := range v {
			v[k] = withoutNodes(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withoutNodes(v[i])
		}
	}
	return v
}

func spelled(t *testing.T, v any) string {
	text, err := json.Marshal(withoutNodes(v))
	require.NoError(t, err)
	return string(text)
}

// overviewAgrees wants that the overview says of each device what the report says of it, and
// that devices are apart only if something differs.
func overviewAgrees(t *testing.T, r *answer.Result) {
	t.Helper()
	var whole struct {
		Devices map[string]map[string]any
		L1      []map[string]any
	}
	require.NoError(t, json.Unmarshal(jsonText(t, r), &whole))
	var b bytes.Buffer
	require.NoError(t, render.NewOverview([]*answer.Result{r}, answer.Terms{}, nil).Excerpt(1<<20, 1000).JSON(&b))
	var short struct {
		Captures []struct {
			Alike []struct {
				IDs     []*uint64
				Figures map[string]any
				L1      map[string]any
			}
			Programs []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &short))
	require.Len(t, short.Captures, 1)
	c := short.Captures[0]
	l1 := map[string]string{}
	for _, row := range whole.L1 {
		id := fmt.Sprint(row["device"])
		if peak, ok := row["core_peak"].(map[string]any); ok {
			peak["residents"] = []any{} // which a page has with the groups of cores
		}
		l1[id] = spelled(t, row)
	}
	seen := 0
	for i, a := range c.Alike {
		programs := []string{}
		for _, p := range c.Programs {
			if slices.Contains(p["alike"].([]any), any(float64(i))) {
				row := map[string]any{}
				for k, v := range p {
					if k != "alike" && k != "times" && k != "placed" {
						row[k] = v
					}
				}
				for range int(p["times"].(float64)) {
					programs = append(programs, spelled(t, row))
				}
			}
		}
		slices.Sort(programs)
		for _, id := range a.IDs {
			seen++
			key, none := "none", "<nil>"
			if id != nil {
				key, none = fmt.Sprint(*id), fmt.Sprint(float64(*id))
			}
			require.Equal(t, l1[none], spelled(t, a.L1), "L1 of device %s", key)
			if len(whole.Devices) == 0 {
				continue
			}
			d := whole.Devices[key]
			require.NotNil(t, d, key)
			own := []string{}
			for _, p := range d["programs_detail"].([]any) {
				own = append(own, spelled(t, p))
			}
			slices.Sort(own)
			require.Equal(t, own, programs, "programs of device %s", key)
			d["programs_detail"] = []any{}
			require.Equal(t, spelled(t, d), spelled(t, a.Figures), "device %s", key)
			d["programs_detail"] = own
		}
	}
	require.Equal(t, len(whole.L1), seen)
}

// What an overview says of devices and programs is what the report says of them.
func TestOverview(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) { overviewAgrees(t, f.replay(t)) })
	}
	t.Run("odd devices", func(t *testing.T) { overviewAgrees(t, logged(t, oddLog(), asked())) })
}

func asked() replay.Options {
	return replay.Options{Buffers: true, Groups: true, Timeline: true, Moments: 1 << 12}
}

// oddLog has a mesh of 8 devices: device 3 has a program more, device 5 a buffer, and
// device 6 had one for a while.
func oddLog() string {
	lines := []string{
		`{"event":"log","version":1}`, `{"event":"mesh","first":0,"rows":2,"cols":4,"spec":{"board":"n150"}}`,
		`{"event":"program","program":1,"name":"a","cbs":[{"cores":"[0-0 - 3-3]","size":4096},{"cores":"0-0","size":64}]}`,
		`{"event":"program","program":2,"name":"b","cbs":[{"cores":"[0-0 - 3-3]","size":8192}]}`,
		`{"event":"program","program":3,"name":"b","cbs":[{"cores":"[0-0 - 3-3]","size":8192}]}`,
		`{"event":"enqueue","program":1}`, `{"event":"enqueue","program":2}`, `{"event":"enqueue","program":3,"devices":[3]}`,
		`{"event":"allocate","buffer":1,"kind":"l1","name":"t","devices":[5],"parts":[{"cores":"0-0","address":900000,"size":64}]}`,
		`{"event":"allocate","buffer":2,"kind":"l1","name":"t","devices":[6],"parts":[{"cores":"0-0","address":900000,"size":64}]}`,
		`{"event":"free","buffer":2,"devices":[6]}`,
	}
	return strings.Join(lines, "\n") + "\n"
}

// Equal devices are one row, and others are not.
func TestOverviewFolds(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, render.NewOverview([]*answer.Result{logged(t, oddLog(), asked())}, answer.Terms{}, nil).Excerpt(1000, 1000).JSON(&b))
	var doc struct {
		Captures []struct {
			Alike    []struct{ Label string }
			Programs []struct {
				Op     string
				Times  int
				Alike  []int
				Placed *int
			}
			Placed  [][]struct{ Cores string }
			Layouts []map[string]int `json:"mesh_layouts"`
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	c := doc.Captures[0]
	require.Equal(t, "[{devices 0..2, 4, 7} {device 3} {device 5} {device 6}]", fmt.Sprint(c.Alike))
	require.Equal(t, []map[string]int{{"first": 0, "rows": 2, "cols": 4}}, c.Layouts)
	got := []string{}
	for _, p := range c.Programs {
		got = append(got, fmt.Sprint(p.Op, p.Times, p.Alike, len(c.Placed[*p.Placed])))
	}
	require.Equal(t, []string{"b1 [0 2 3] 1", "b2 [1] 1", "a1 [0 1 2 3] 2"}, got)
	require.Len(t, c.Placed, 2)
}

// Devices of which only a buffer before the peak differs, and only in its layout, are two rows.
func TestOverviewPartsMoments(t *testing.T) {
	log := `{"event":"log","version":1}` + "\n"
	for device, layout := range []string{"INTERLEAVED", "HEIGHT_SHARDED"} {
		log += fmt.Sprintf(`{"event":"device","device":%[1]d,"spec":{"board":"n150"}}
{"event":"allocate","devices":[%[1]d],"buffer":1,"kind":"l1","name":"x","size":64,"layout":%[2]q,"parts":[{"cores":"0-0","address":1000000,"size":64}]}
{"event":"free","devices":[%[1]d],"buffer":1}
{"event":"allocate","devices":[%[1]d],"buffer":2,"kind":"l1","name":"y","size":128,"parts":[{"cores":"0-0","address":1000000,"size":128}]}
`, device, layout)
	}
	var b bytes.Buffer
	require.NoError(t, render.NewOverview([]*answer.Result{logged(t, log, asked())}, answer.Terms{}, nil).Excerpt(1000, 1000).JSON(&b))
	require.Equal(t, 2, strings.Count(b.String(), `"peak_groups_more"`))
}

// Lists that are cut say by how much.
func TestOverviewIsCut(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, render.NewOverview([]*answer.Result{logged(t, oddLog(), asked())}, answer.Terms{}, nil).Excerpt(1, 1000).JSON(&b))
	require.Contains(t, b.String(), `"programs_more":2`)
}

// Three groups of cores at a peak, each with one resident: a page names as many residents as rows, and counts the other groups.
func TestOverviewCountsGroups(t *testing.T) {
	log := `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
`
	for i := range 3 {
		log += fmt.Sprintf(`{"event":"allocate","buffer":%[1]d,"kind":"l1","size":%[2]d,"parts":[{"cores":"%[1]d-0","address":1000000,"size":%[2]d}]}
`, i, 64*(i+1))
	}
	overview := render.NewOverview([]*answer.Result{logged(t, log, asked())}, answer.Terms{}, nil)
	for rows, want := range []string{`[],"peak_groups_more":3`, `[0],"peak_groups_more":2`, `[0,1],"peak_groups_more":1`, `[0,1,2],"peak_groups_more":0`} {
		var b bytes.Buffer
		require.NoError(t, overview.Excerpt(rows, 1000).JSON(&b))
		require.Contains(t, b.String(), `"peak_groups":`+want)
	}
}

package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// TestUnreadableHidesDependents: a field of one node is read, and then hidden. What depends on it is in no answer: some are
// "cannot tell", and no program is said not to fit.
func TestUnreadableHidesDependents(t *testing.T) {
	const (
		free    = `"circular_buffer_deallocate_all","params":{"device_id":0}`
		program = `"circular_buffer_allocate","params":{"address":111616,"size":8192,"core_range_set":"{[0-0 - 0-0]}","device_id":0}`
		other   = `"circular_buffer_allocate","params":{"address":111616,"size":SIZE,"core_range_set":"{[0-0 - 0-0]}","device_id":0}`
		buffer  = `"buffer","params":{"type":"L1","device_id":0}`
		alloc   = `"buffer_allocate","connections":[AT],"params":{"type":"L1","device_id":0,"address":116000,"size":64,"max_size_per_bank":64}`
		drop    = `"buffer_deallocate","connections":[AT],"params":{"type":"L1","device_id":ID,"address":116000,"size":64,"max_size_per_bank":64}`
		begin   = `"function_start","params":{"name":"f"}`
		end     = `"function_end","params":{"name":"f"}`
	)
	for _, c := range []struct {
		name       string
		nodes      []string
		from, good string // the field of X, and how it reads
		failed     int64  // where X is read
	}{
		{"free of a buffer", []string{buffer, strings.Replace(alloc, "AT", "0", 1), strings.Replace(drop, "AT", "0", 1), free, program}, "ID", "0", 0},
		{
			"program of an operation", []string{
				begin, free, program, end, // it fits
				begin, free, other, end,
				buffer, strings.Replace(alloc, "AT", "8", 1),
				begin, free, end, // the program comes from the cache: either may have run
			}, "SIZE", "8193", 1,
		},
		{ // whose free, with its address, shows no buffer from before the program
			"allocation", []string{free, program, buffer, alloc, strings.NewReplacer("AT", "2", "ID", "0").Replace(drop)}, "AT", "2", 0,
		},
	} {
		for _, x := range []string{c.good, `"what"`} {
			text := ""
			for i, n := range c.nodes {
				text += fmt.Sprintf(`,{"counter":%d,"node_type":%s}`, i, strings.Replace(n, c.from, x, 1))
			}
			path := filepath.Join(t.TempDir(), "capture.json")
			require.NoError(t, os.WriteFile(path, []byte("["+text[1:]+"]"), 0o600))
			got, err := resultOf(Input{Path: path}, Options{})
			require.NoError(t, err)
			if x == c.good {
				require.Equal(t, c.failed, got.Checks.Failed, c.name)
				continue
			}
			require.Zero(t, got.Checks.Failed, c.name)
			require.Contains(t, fmt.Sprint(got.Undecided()), hiddenUnreadable, c.name)
		}
	}
}

// TestUnreadableMembers: two frees announce two programs on chip 0 of mesh 2, and a node between the frees of two meshes may
// say that chip 0 is of mesh 3 too. Then the second program may be one that mesh 3 announced, and the first one two.
func TestUnreadableMembers(t *testing.T) {
	const (
		member = `"tensor","params":{"device_tensors":"[{\"device_id\":0,\"mesh_device_id\":2}]"}`
		two    = `"circular_buffer_deallocate_all","params":{"device_id":2}`
		other  = `"circular_buffer_deallocate_all","params":{"device_id":3}`
		chip   = `"circular_buffer_deallocate_all","params":{"device_id":0}`
		cb     = `"circular_buffer_allocate","params":{"address":111616,"size":1600000,"core_range_set":"{[0-0 - 0-0]}","device_id":0}`
	)
	for _, c := range []struct {
		name                    string
		nodes                   []string
		failed, runs, unsettled int
	}{
		{"another type", []string{`"new","params":{"device_id":"-7"}`, member, two, two, cb, other, cb}, 2, 2, 0},
		{"all is read", []string{`"capture_start"`, member, two, two, cb, other, cb}, 2, 2, 0},
		{"no type", []string{`7`, member, two, two, cb, other, cb}, 0, 1, 1},
		{"a tensor", []string{`"tensor","params":{"device_tensors":7}`, member, two, two, cb, other, cb}, 0, 1, 1},
		{"free of the mesh", []string{`7`, member, two, two, cb, two, cb}, 1, 2, 1},
		{"free of the chip", []string{`7`, member, two, two, cb, chip, cb}, 1, 2, 1},
		{"free behind both", []string{`7`, member, two, two, cb, cb, other}, 2, 2, 0},
	} {
		text := ""
		for i, n := range c.nodes {
			text += fmt.Sprintf(`,{"counter":%d,"node_type":%s}`, i, n)
		}
		data := []byte("[" + text[1:] + "]")
		path := filepath.Join(t.TempDir(), "capture.json")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err := resultOf(Input{Path: path}, Options{})
		require.NoError(t, err)
		notes := map[answer.Code]int64{}
		for _, a := range got.Anomalies {
			notes[a.Code] = a.Count
		}
		m, err := oracle.L1(data, oracle.Options{})
		require.NoError(t, err)
		want := []int{c.failed, c.runs, c.unsettled}
		require.Equal(t, want, []int{m.Failed, m.Runs, m.Hidden["unsettled"]}, c.name)
		require.Equal(t, want, []int{int(got.Checks.Failed), int(got.Checks.Runs), int(notes[answer.CodeUnsettled])}, c.name)
	}
}

// TestUnreadableAfterABuffer: a node that cannot be read follows a buffer node. If it may be the allocation of the buffer, the
// buffer may be one of the capture. Any other node leaves it one from before the capture, and its place is unknown.
func TestUnreadableAfterABuffer(t *testing.T) {
	for next, earlier := range map[string]int{
		`"buffer","params":7`:          1,
		`"tensor","params":7`:          1,
		`"buffer_allocate","params":7`: 0,
		`7`:                            0,
	} {
		data := []byte(`[{"counter":0,"node_type":"circular_buffer_allocate","params":{"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}","device_id":0}},
			{"counter":1,"node_type":"buffer","params":{"type":"L1","device_id":0}},{"counter":2,"node_type":` + next + `},{"counter":3,"node_type":"capture_end"}]`)
		m, err := oracle.L1(data, oracle.Options{})
		require.NoError(t, err)
		require.EqualValues(t, earlier, m.Hidden["earlier"], next)
		path := filepath.Join(t.TempDir(), "capture.json")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err := resultOf(Input{Path: path}, Options{})
		require.NoError(t, err)
		require.EqualValues(t, earlier, got.Earlier.L1, next)
	}
}

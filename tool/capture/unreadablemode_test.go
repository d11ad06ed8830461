package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/answer"
)

func with(text, from, to string) string { return strings.Replace(text, from, to, 1) }

// TestUnreadableMode: a sharded buffer lies at 1,000,000 on core 0-0, and a circular buffer on core 5-5 ends above that. The program
// fails if the buffer was allocated in lockstep, and fits if it was allocated per core. BAD is read first, and then hidden.
func TestUnreadableMode(t *testing.T) {
	const (
		free    = `"circular_buffer_deallocate_all","params":{"device_id":0}`
		program = `"circular_buffer_allocate","params":{"address":111616,"size":900000,"core_range_set":"{[5-5 - 5-5]}","device_id":0}`
		buffer  = `"buffer","connections":[LINK],"params":{"type":"L1","device_id":0,"size":4096}`
		made    = `"buffer_allocate","connections":[AT],"params":{"type":"L1","buffer_type":1,"device_id":0,"address":1000000,` +
			`"size":4096,"max_size_per_bank":4096,"num_cores":1}`
		grid   = `"MemoryConfig(shard_spec=ShardSpec{grid={[0-0 - 0-0]}, shape=[1, 1]})"`
		tensor = `"tensor","params":{"address":1000000,"buffer_type":1,"device_id":0,"memory_config":CONFIG}`
		lists  = `,"per_operation_buffers":{"0":[{"device_id":0,"address":1000000,"max_size_per_bank":4096,"buffer_type":1}]}`
		begin  = `"function_start","params":{"name":"f"}`
		end    = `"function_end","params":{"name":"f"}`
	)
	linked, unlinked, late := with(buffer, "LINK", "2"), with(buffer, "LINK", ""), with(buffer, "LINK", "4")
	at := with(made, "AT", "0")
	for _, c := range []struct {
		name      string
		from, bad string
		lists     string
		nodes     []string
	}{
		{"at once", "CONFIG", "7", "", []string{linked, at, tensor, free, program}},
		{"later", "CONFIG", "[]", "", []string{late, at, free, program, tensor}},
		{"no params", tensor, `"tensor","params":7`, "", []string{linked, at, tensor, free, program}},
		{"by its address", "CONFIG", "7", "", []string{unlinked, at, free, program, tensor}},
		{"of no address", tensor, `"tensor","params":{"address":"x","memory_config":7}`, "", []string{unlinked, at, free, program, tensor}},
		{"no type", `"tensor"`, "7", "", []string{late, at, free, program, tensor}},
		{"buffer node", `"size":4096}`, `"size":[]}`, "", []string{unlinked, at, free, program}},
		{"in a list", "CONFIG", "7", lists, []string{begin, tensor, free, program, end}},
	} {
		for _, bad := range []bool{false, true} {
			text := ""
			for j, n := range c.nodes {
				if bad {
					n = with(n, c.from, c.bad)
				}
				text += fmt.Sprintf(`,{"counter":%d,"node_type":%s}`, j, with(n, "CONFIG", grid))
			}
			path := filepath.Join(t.TempDir(), "0.json")
			require.NoError(t, os.WriteFile(path, []byte(`{"graph":[`+text[1:]+"]"+c.lists+"}"), 0o600))
			got, err := resultOf(Input{Path: path}, Options{})
			require.NoError(t, err)
			require.Equal(t, !bad, got.Checks.Failed == 1, "%s: bad %v", c.name, bad)
			require.EqualValues(t, 1, got.Checks.Runs, c.name)
			if bad {
				require.Contains(t, got.Undecided(), answer.Code(hiddenUnreadable), c.name)
			}
		}
	}
}

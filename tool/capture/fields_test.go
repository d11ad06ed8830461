package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
)

// TestFields takes each field of a small capture away, and then gives it a wrong type. The table in testdata/fields.txt says
// what becomes of the capture. A field that is missing belongs to a newer dialect, and its node is read; a field of a wrong
// type hides its node.
func TestFields(t *testing.T) {
	nodes := fieldNodes()
	var table strings.Builder
	for i, n := range nodes {
		params, _ := n["params"].(map[string]any)
		for _, in := range []struct {
			prefix string
			object map[string]any
		}{{"", n}, {"params.", params}} {
			for _, key := range slices.Sorted(maps.Keys(in.object)) {
				was := in.object[key]
				delete(in.object, key)
				missing := outcome(t, nodes)
				in.object[key] = []any{map[string]any{"a": -1}}
				wrong := outcome(t, nodes)
				in.object[key] = was
				fmt.Fprintf(&table, "%d %s %s%s: missing %s, wrong %s\n", i, n["node_type"], in.prefix, key, missing, wrong)
			}
		}
	}
	testkit.Golden(t, *update, "testdata/fields.txt", table.String())
}

// fieldNodes are nodes of all types that are read, with all fields that are.
func fieldNodes() []map[string]any {
	var s script
	args := []string{"a"}
	s.add("capture_start", params{})
	s.args = args
	s.add("function_start", params{"name": "f", "program_cache_hit": false})
	s.sharded(0, 1_000_000, 4096, "{[0-0 - 0-0]}")
	tensor := s.nodes[len(s.nodes)-1]["params"].(params)
	maps.Copy(tensor, params{
		"address": 1_000_000, "buffer_type": 1, "device_id": 0,
		"device_tensors": `[{"address":1000000,"device_id":0,"mesh_device_id":1}]`,
	})
	maps.Copy(s.nodes[2]["params"].(params), params{"size": 4096, "buffer_type": 1, "device_id": 0})
	s.nodes[3]["params"].(params)["page_size"] = 2048
	s.free(1)
	for _, kind := range []string{"circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate"} {
		p := params{"address": 111616, "size": 64, "core_range_set": "{[0-0 - 0-0]}", "device_id": 0}
		switch kind {
		case "circular_buffer_allocate":
			p["globally_allocated"] = "0"
		case "dataflow_buffer_allocate":
			p["borrows_memory"] = "0"
		}
		s.add(kind, p)
	}
	s.add("program_execution", params{"device_id": 1, "physical_device_id": 0})
	s.add("function_end", params{"name": "f", "aborted": "true", "abort_reason": "no"})
	s.add("buffer_deallocate", maps.Clone(s.nodes[3]["params"].(params)), 2)
	s.add("sub_device_manager", params{"device_id": 1})
	s.add("error", params{"error_message": "no", "error_operation": "f"})
	s.add("capture_end", params{})
	return s.nodes
}

// outcome says whether a capture is refused, hides something, or is read, and lists the other codes of "cannot tell".
func outcome(t *testing.T, nodes []map[string]any) string {
	t.Helper()
	data, err := json.Marshal(nodes)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "fields.json")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, err := resultOf(Input{Path: path}, Options{})
	if refused := (*event.InputError)(nil); errors.As(err, &refused) {
		return "refused"
	}
	require.NoError(t, err)
	text, others := "read", []string{}
	for _, code := range r.Undecided() {
		switch code {
		case hiddenUnreadable:
			text = "hidden"
		case noteOperationFailed: // of the error in all of them
		default:
			others = append(others, string(code))
		}
	}
	if len(others) > 0 {
		text += " (" + strings.Join(others, " ") + ")"
	}
	return text
}

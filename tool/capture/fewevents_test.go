package capture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The events of a few nodes: each file is as small as the rule that it is about.

const functionEnd = `"node_type":"function_end","params":{"name":"f"}`

// calls begins the function f. The flag says whether it found its program in the cache.
func calls(hit string) string {
	return `"node_type":"function_start","params":{"name":"f","program_cache_hit":` + hit + `}`
}

// fewEvents returns a summary of the events of a file of some nodes.
func fewEvents(t *testing.T, opt Options, nodes ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "few.json")
	require.NoError(t, os.WriteFile(path, []byte(graphOf(slices.Clone(nodes)...)), 0o600))
	return summary(eventsOf(t, path, opt))
}

// The free of a mesh ends the run of a chip that shows late. That needs no inference.
func TestEventsOfLateChip(t *testing.T) {
	for _, opt := range []Options{{}, {NoInfer: true}} {
		events := fewEvents(t, opt, placeOn(0), freeOf(9), placeOn(0), member(0))
		require.Contains(t, events, "run 0 on 0:0-0\n1 cbs_freed [0]\n3 run 0 on 0:2-2\n")
	}
}

// A free in a function is the end of a program if its id turns out to be a chip's. It then
// hides nothing, with inference or without.
func TestEventsOfLateEnd(t *testing.T) {
	const plain = `"node_type":"function_start","params":{"name":"f"}`
	for _, opt := range []Options{{}, {NoInfer: true}} {
		nodes := []string{placeOn(0), plain, freeOf(0), functionEnd}
		require.Contains(t, fewEvents(t, opt, nodes...), "hidden not-shown")
		require.NotContains(t, fewEvents(t, opt, append(nodes, member(0))...), "hidden")
	}
}

// A hit runs on all chips where its function ran. A free of a chip alone, the end of a program, confines it to none.
func TestEventsOfHitsOfOneChip(t *testing.T) {
	events := fewEvents(t, Options{}, member(4), member(5),
		calls("false"), freeOf(9), placeOn(4), placeOn(5), functionEnd,
		calls("true"), freeOf(4), functionEnd,
		calls("true"), freeOf(5), functionEnd,
		calls("true"), freeOf(9), functionEnd)
	require.NotContains(t, events, "hidden")
	var inferred []string
	for line := range strings.Lines(events) {
		if strings.Contains(line, " inferred\n") {
			inferred = append(inferred, line[strings.Index(line, "run"):])
		}
	}
	require.Equal(t, []string{"run 0 on 4:7-7 5:7-7 inferred\n", "run 0 on 4:10-10 5:10-10 inferred\n", "run 0 on 4:13-13 5:13-13 inferred\n"}, inferred)
}

// What an inner function placed was placed in the one around it, which hides nothing then.
func TestEventsOfHitAroundPlacement(t *testing.T) {
	events := fewEvents(t, Options{}, calls("true"), calls("false"), placeOn(0), functionEnd, functionEnd)
	require.NotContains(t, events, "hidden")
	require.NotContains(t, events, "inferred")
	events = fewEvents(t, Options{}, calls("true"), calls("false"), functionEnd, functionEnd)
	require.Contains(t, events, "hidden cache-hit")
}

// A connection is dangling if its node does not exist: the last one does, the one behind
// it does not.
func TestEventsOfDanglingConnection(t *testing.T) {
	for to, dangling := range map[string]bool{"0": false, "1": false, "2": true, "3": true} {
		events := fewEvents(t, Options{}, placeOn(0), `"node_type":"buffer","params":{},"connections":[`+to+`]`)
		require.Equal(t, dangling, strings.Contains(events, "anomaly dangling-connection x1"), "to %s: %s", to, events)
	}
}

// Of several allocations of one buffer node a free ends the last one.
func TestEventsOfFreeOfTheLast(t *testing.T) {
	event := func(kind, address string) string {
		return `"node_type":"buffer_` + kind + `","params":{"device_id":0,"address":` + address + `,"size":64,"type":"L1","layout":"INTERLEAVED","max_size_per_bank":64},"connections":[0]`
	}
	events := fewEvents(t, Options{}, `"node_type":"buffer","params":{},"connections":[]`,
		event("allocate", "1000000"), event("allocate", "2000"), event("deallocate", "2000"))
	require.Contains(t, events, "allocate 1 l1 on [0] [1000000,1000064)")
	require.Contains(t, events, "allocate 2 l1 on [0] [2000,2064)")
	require.Contains(t, events, "3 free 2 ")
}

// Runs that differ in the kind of their buffers alone are different programs.
func TestEventsOfKinds(t *testing.T) {
	cb := placeOn(0)
	dataflow := strings.Replace(cb, "circular_buffer_allocate", "dataflow_buffer_allocate", 1)
	scratchpad := strings.Replace(cb, "circular_buffer_allocate", "scratchpad_allocate", 1)
	events := fewEvents(t, Options{}, cb, freeOf(0), dataflow, freeOf(0), scratchpad, freeOf(0), cb)
	for _, run := range []string{"run 0 on 0:0-0\n", "run 1 on 0:2-2\n", "run 2 on 0:4-4\n", "run 0 on 0:6-6\n"} {
		require.Contains(t, events, run)
	}
}

package capture_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/replay"
)

// The circular buffers of a capture, with what each takes on one core.
func ExampleReader_Nodes() {
	const text = `[
  {"counter": 0, "node_type": "capture_start", "params": {}},
  {"counter": 1, "node_type": "circular_buffer_allocate", "params":
    {"address": 111616, "size": 4096, "core_range_set": "{[0-0 - 1-1]}", "globally_allocated": "0", "device_id": 0}},
  {"counter": 2, "node_type": "circular_buffer_allocate", "params":
    {"address": 1048576, "size": 32768, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "1", "device_id": 0}},
  {"counter": 3, "node_type": "capture_end", "params": {}}
]`
	for n, err := range capture.NewReader(strings.NewReader(text), "trace.json").Nodes() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if n.Type == capture.TypeCircularBufferAllocate {
			fmt.Printf("line %d: %d bytes at %d on %v, global %v\n", n.Pos.Line, n.Size.V, n.Address.V, n.Cores, n.Global)
		}
	}
	// Output:
	// line 3: 4096 bytes at 111616 on {[0-0 - 1-1]}, global false
	// line 5: 32768 bytes at 1048576 on {[0-0 - 7-7]}, global true
}

// Two programs that start at one address: together they take what the larger takes.
func ExampleReader_Events() {
	const text = `[
  {"counter": 0, "node_type": "circular_buffer_allocate", "params":
    {"address": 111616, "size": 4096, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0", "device_id": 0}},
  {"counter": 1, "node_type": "circular_buffer_deallocate_all", "params": {"device_id": 0}},
  {"counter": 2, "node_type": "circular_buffer_allocate", "params":
    {"address": 111616, "size": 6144, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0", "device_id": 0}}
]`
	result, err := replay.Run("trace.json", capture.NewReader(strings.NewReader(text), "trace.json").Events(capture.Options{}), replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range result.Devices {
		fmt.Printf("device %d: %d programs, %d bytes registered, logical %d\n", d.ID.V, d.Programs, d.Registered, d.RegisteredLogical)
		fmt.Printf("fullest core %v: %d bytes\n", d.Fullest.Core, d.Fullest.Bytes)
	}
	// Output:
	// device 0: 2 programs, 393216 bytes registered, logical 655360
	// fullest core 0-0: 6144 bytes
}

// Every error says what is wrong, and where.
func ExampleReader_Nodes_refused() {
	const text = `[{"counter": 0, "node_type": "buffer_allocate", "params": {"size": "4096 bytes"}}]`
	for _, err := range capture.NewReader(strings.NewReader(text), "trace.json").Nodes() {
		fmt.Println(err)
	}
	// Output:
	// trace.json:1: byte 67: node 0: size: "4096 bytes" is not a whole number
}

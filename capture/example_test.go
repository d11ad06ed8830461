package capture_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/replay"
)

// twoPrograms start at one address.
const twoPrograms = `[
  {"counter": 0, "node_type": "circular_buffer_allocate", "params":
    {"address": 111616, "size": 4096, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0", "device_id": 0}},
  {"counter": 1, "node_type": "circular_buffer_deallocate_all", "params": {"device_id": 0}},
  {"counter": 2, "node_type": "circular_buffer_allocate", "params":
    {"address": 111616, "size": 6144, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0", "device_id": 0}}
]`

// What happens in a capture, one event after the other.
func ExampleReader_Events() {
	for e, err := range capture.NewReader(strings.NewReader(twoPrograms), "trace.json").Events(capture.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(e.Node, " ", e.Kind)
		for _, cb := range e.CBs {
			fmt.Printf(" %d bytes at %d on %v", cb.Size, cb.Address, cb.Cores)
		}
		fmt.Println()
	}
	// Output:
	// 0 log
	// 0 device
	// 0 program 4096 bytes at 111616 on {[0-0 - 7-7]}
	// 1 run
	// 1 cbs_freed
	// 2 program 6144 bytes at 111616 on {[0-0 - 7-7]}
	// 2 run
	// 3 upstream
	// 3 end
}

// What replay makes of them: together the programs take what the larger one takes.
func ExampleReader_Events_replayed() {
	events := capture.NewReader(strings.NewReader(twoPrograms), "trace.json").Events(capture.Options{})
	result, err := replay.Run("trace.json", events, replay.Options{})
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

// An unreadable field hides its node, and what depends on it.
func ExampleReader_Events_hidden() {
	const text = `[{"counter": 0, "node_type": "buffer_allocate", "params": {"size": "4096 bytes"}}]`
	for e, err := range capture.NewReader(strings.NewReader(text), "trace.json").Events(capture.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Kind == event.KindHidden {
			fmt.Printf("node %d, %s: %s\n", e.Node, e.Code, e.Detail)
		}
	}
	// Output:
	// node 0, unreadable: size: "4096 bytes" is not a whole number
}

// Every error says what is wrong, and where. Nodes without their counters cannot be told apart.
func ExampleReader_Events_refused() {
	const text = `[{"counter": 7, "node_type": "capture_start"}]`
	for _, err := range capture.NewReader(strings.NewReader(text), "trace.json").Events(capture.Options{}) {
		fmt.Println(err)
	}
	// Output:
	// trace.json:1: byte 13: node 0: counter: 7 is out of order: 0 belongs here
}

// A folder has a capture for each host process.
func ExampleInputs() {
	inputs, err := capture.Inputs("testdata/ranks")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range inputs {
		for e, err := range in.Events(capture.Options{}) {
			if err != nil {
				fmt.Println(err)
				return
			}
			if e.Kind == event.KindEnd {
				fmt.Printf("rank %d: %d nodes\n", e.Rank.V, e.Nodes)
			}
		}
	}
	// Output:
	// rank 0: 23 nodes
	// rank 1: 47 nodes
}

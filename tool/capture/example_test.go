package capture_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
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
		fmt.Println(e.Node, e.Kind, err)
		for _, cb := range e.CBs {
			fmt.Println("  ", cb.Size, "bytes at", cb.Address, "on", cb.Cores)
		}
	}
	// Output:
	// 0 log <nil>
	// 0 device <nil>
	// 0 program <nil>
	//    4096 bytes at 111616 on {[0-0 - 7-7]}
	// 1 run <nil>
	// 1 cbs_freed <nil>
	// 2 program <nil>
	//    6144 bytes at 111616 on {[0-0 - 7-7]}
	// 2 run <nil>
	// 3 upstream <nil>
	// 3 end <nil>
}

// What replay makes of them: together the programs take what the larger one takes.
func ExampleReader_Events_replayed() {
	events := capture.NewReader(strings.NewReader(twoPrograms), "trace.json").Events(capture.Options{})
	result, err := replay.Run("trace.json", events, replay.Options{})
	fmt.Println(err)
	for _, d := range result.Devices {
		fmt.Println(d.Programs, "programs registered", d.Registered, "bytes, logical", d.RegisteredLogical)
		fmt.Println("fullest core", d.Fullest.Core, "has", d.Fullest.Bytes)
	}
	// Output:
	// <nil>
	// 2 programs registered 393216 bytes, logical 655360
	// fullest core 0-0 has 6144
}

// An unreadable field hides its node, and what depends on it.
func ExampleReader_Events_hidden() {
	const text = `[{"counter": 0, "node_type": "buffer_allocate", "params": {"size": "4096 bytes"}}]`
	for e, err := range capture.NewReader(strings.NewReader(text), "trace.json").Events(capture.Options{}) {
		if err != nil || e.Kind == event.KindHidden {
			fmt.Println(e.Node, e.Code, e.Detail, err)
		}
	}
	// Output:
	// 0 unreadable size: "4096 bytes" is not a whole number <nil>
}

// Every error says what is wrong, and where. Nodes need their counters.
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
	fmt.Println(len(inputs), err)
	for e, err := range inputs[1].Events(capture.Options{}) {
		if err != nil || e.Kind == event.KindEnd {
			fmt.Println("rank", e.Rank.V, "nodes", e.Nodes, err)
		}
	}
	// Output:
	// 2 <nil>
	// rank 1 nodes 47 <nil>
}

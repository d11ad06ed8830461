package diff_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"github.com/cbl1/cbl1/tool/replay/diff"
)

// captured is a capture of two operations with a circular buffer each.
const captured = `[
  {"counter": 0, "node_type": "capture_start", "params": {}, "connections": [1, 5, 9]},
  {"counter": 1, "node_type": "function_start", "params": {"name": "ttnn::rms_norm"}, "connections": [2, 3, 4]},
  {"counter": 2, "node_type": "circular_buffer_allocate", "params":
    {"address": 103712, "size": 4096, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0", "device_id": 0}},
  {"counter": 3, "node_type": "circular_buffer_deallocate_all", "params": {"device_id": 0}},
  {"counter": 4, "node_type": "function_end", "params": {"name": "ttnn::rms_norm"}},
  {"counter": 5, "node_type": "function_start", "params": {"name": "ttnn::matmul"}, "connections": [6, 7, 8]},
  {"counter": 6, "node_type": "circular_buffer_allocate", "params":
    {"address": 103712, "size": 8192, "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0", "device_id": 0}},
  {"counter": 7, "node_type": "circular_buffer_deallocate_all", "params": {"device_id": 0}},
  {"counter": 8, "node_type": "function_end", "params": {"name": "ttnn::matmul"}},
  {"counter": 9, "node_type": "capture_end", "params": {}}
]`

// side replays a capture. Programs are compared buffer by buffer.
func side(name, text string) ([]*diff.Run, error) {
	events := capture.NewReader(strings.NewReader(text), name).Events(capture.Options{})
	r, err := replay.Run(name, events, replay.Options{Buffers: true, Groups: true})
	if err != nil {
		return nil, err
	}
	return []*diff.Run{diff.Of(r)}, nil
}

// What "cbl1 diff --max-growth 10% old.json new.json" prints, as values: a matmul takes larger blocks.
func ExampleCompare() {
	before, err := side("old.json", captured)
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := side("new.json", strings.Replace(captured, "8192", "10240", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	limit, err := answer.ParseBudget("10%")
	if err != nil {
		fmt.Println(err)
		return
	}
	d := diff.Compare(before, after, diff.Terms{MaxGrowth: &limit})
	fmt.Println("equal:", d.Equal, "compared by", d.Basis.Programs)
	fmt.Println("peak", d.Sides.Old.Peak.Bytes, "->", d.Sides.New.Peak.Bytes, "bytes on core", d.Sides.New.Peak.Core)
	fmt.Println(d.Growth.Program, "grew;", d.Growth.Allowed, "bytes allowed, exceeded:", d.Growth.Exceeded)
	for _, dev := range d.Devices {
		fmt.Println("device", dev.IDs[0].New.V, "is", dev.State, dev.Counts)
		for _, p := range dev.Changes {
			fmt.Println(" ", p.Op, p.State, p.Change(), "of", p.New.Core)
			for _, cb := range p.CBs {
				fmt.Println("    CB", cb.New.Number, cb.State, cb.Old.Bytes, "->", cb.New.Bytes)
			}
		}
	}
	// Output:
	// equal: false compared by buffers
	// peak 8192 -> 10240 bytes on core 0-0
	// ttnn::matmul grew; 819 bytes allowed, exceeded: true
	// device 0 is grown map[grown:1 same:1]
	//   ttnn::matmul grown 2048 of 10240
	//     CB 0 grown 8192 -> 10240
}

// A saved report has the sums of its programs. They are compared with the sums of a log.
func ExampleDecode() {
	const saved = `{"schema":"cbl1.report/2","file":"old.json","checks":{"runs":1,"untold":[]},` +
		`"devices":{"0":{"kind":"chip","programs":1,"programs_detail":[{"op":"ttnn::matmul","local_cbs":1,"cores":64,` +
		`"logical_bytes":524288,"resident_bytes":524288,"core_max_bytes":8192,"highest_end":111904}]}}}`
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"ttnn::matmul","cbs":[{"cores":"[0-0 - 7-7]","size":6144}]}
{"event":"enqueue","program":1}
`
	before, err := diff.Decode(strings.NewReader(saved), "old.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.Run("new.jsonl", event.NewLog(strings.NewReader(log), "new.jsonl").Events(), replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := diff.Compare(before, []*diff.Run{diff.Of(r)}, diff.Terms{})
	fmt.Println("compared by", d.Basis.Programs)
	for _, p := range d.Devices[0].Changes {
		fmt.Println(p.Op, p.State, p.Old.Core, "->", p.New.Core)
	}
	// Output:
	// compared by sums
	// ttnn::matmul shrunk 8192 -> 6144
}

func ExampleIsReport() {
	fmt.Println(diff.IsReport([]byte(`{"schema":"cbl1.report/2","file":"run.json"`)))
	fmt.Println(diff.IsReport([]byte(`{"event":"log","version":1}`)))
	// Output:
	// true
	// false
}

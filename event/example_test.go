package event_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The events of a log, one by one.
func ExampleLog() {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":1,"name":"matmul","cbs":[{"cores":"[0-0 - 7-7]","size":262144}]}
{"event":"enqueue","program":1,"t":1200}
{"query":"totals","device":0,"id":"after launch"}
`
	for e, err := range event.NewLog(strings.NewReader(log), "run.jsonl").Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: %s\n", e.Node, e.Kind)
	}
	// Output:
	// 0: log
	// 1: device
	// 2: program
	// 3: enqueue
	// 4: query
}

// A log that may still be written to.
func ExampleLog_OfFile() {
	f, err := os.Open("testdata/conformance.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }() // open for reading only
	info, err := f.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}
	programs := 0
	for e, err := range event.NewLog(f, f.Name()).OfFile(info, f.Stat).Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Kind == event.KindProgram {
			programs++
		}
	}
	fmt.Println(programs > 20)
	// Output:
	// true
}

// A source that saw a run, and says so.
func ExampleWriter_Write() {
	w := event.NewWriter(os.Stdout)
	for _, e := range []event.Event{
		{Kind: event.KindHeader, Source: "trace"},
		{Kind: event.KindProgram, Node: 3, Program: 1, AsWritten: true, CBs: []event.CB{
			{CB: program.CB{Cores: l1.N150().Grid(), Size: 2048, Address: 103712, Fixed: true}},
		}},
		{Kind: event.KindRun, Node: 3, Program: 1, Op: event.Some("ttnn::add"), On: []event.RunOn{{Device: 0, First: 1, Last: 3}}},
		{Kind: event.KindCBsFreed, Node: 4, Devices: event.Some([]device.ID{0})},
		{Kind: event.KindEnd, Nodes: 5},
	} {
		if err := w.Write(&e); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// {"event":"log","version":1,"source":"trace"}
	// {"event":"program","node":3,"program":1,"as_written":true,"cbs":[{"cores":"{[0-0 - 7-7]}","size":2048,"address":103712}]}
	// {"event":"run","node":3,"op":"ttnn::add","program":1,"on":[{"device":0,"first":1,"last":3}]}
	// {"event":"cbs_freed","node":4,"devices":[0]}
	// {"event":"end","node":0,"nodes":5}
}

// A fleet refuses a program that its devices do not know. The code is the one that a log has.
func ExampleCodeOf() {
	fleet := device.NewFleet()
	d, err := fleet.AddDevice(0, l1.N150())
	if err != nil {
		fmt.Println(err)
		return
	}
	err = fleet.Dispatch(7, d.Set())
	fmt.Println(event.CodeOf(err), "-", err)
	// Output:
	// not-registered - device 0: program 7: program is not registered
}

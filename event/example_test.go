package event_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// The events of a log, one by one.
func ExampleLog() {
	const log = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"enqueue","program":1,"name":"matmul","cbs":[{"cores":"[0-0 - 7-7]","size":262144}],"t":1200}
{"query":"totals","device":0,"id":"after launch"}
`
	for e, err := range event.NewLog(strings.NewReader(log), "run.jsonl").Events() {
		fmt.Println(e.Node, e.Kind, err)
	}
	// Output:
	// 0 log <nil>
	// 1 device <nil>
	// 2 enqueue <nil>
	// 3 query <nil>
}

// A log that may still be written to.
func ExampleLog_OfFile() {
	f, opened := os.Open("testdata/conformance.jsonl")
	info, known := f.Stat()
	kinds, read := map[event.Kind]int{}, error(nil)
	for e, err := range event.NewLog(f, "conformance.jsonl").OfFile(info, f.Stat).Events() {
		kinds[e.Kind]++
		read = err
	}
	fmt.Println(kinds[event.KindProgram] > 20, errors.Join(opened, known, read, f.Close()))
	// Output:
	// true <nil>
}

// A source that saw a run, and says so.
func ExampleWriter_Write() {
	w := event.NewWriter(os.Stdout)
	for _, e := range []event.Event{
		{Kind: event.KindHeader, Source: "trace"},
		{Kind: event.KindRun, Node: 3, Program: 1, Op: event.Some("ttnn::add"), On: []event.RunDevice{{Device: 0, First: 1, Last: 3}}},
		{Kind: event.KindEnd, Nodes: 5},
	} {
		fmt.Println(w.Write(&e))
	}
	// Output:
	// {"event":"log","version":1,"source":"trace"}
	// <nil>
	// {"event":"run","node":3,"op":"ttnn::add","program":1,"on":[{"device":0,"first":1,"last":3}]}
	// <nil>
	// {"event":"end","node":0,"nodes":5}
	// <nil>
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

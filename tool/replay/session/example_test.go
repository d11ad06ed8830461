package session_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/session"
)

const exampleLog = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"p150b"}}
{"event":"program","program":1,"name":"matmul","cbs":[{"cores":"[0-0 - 7-7]","size":262144}]}
{"event":"allocate","buffer":1,"kind":"l1","parts":[{"address":368640,"size":1204224}]}
{"event":"enqueue","program":1,"t":1200}
{"query":"totals","device":0,"id":"after launch"}
`

const streamLog = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"cbs":[{"cores":"[0-0 - 1-0]","size":4096}]}
{"event":"register","program":1}
{"event":"dispatch","program":2}
{"query":"headroom","program":1,"cb":0,"id":7}
`

// A fleet that follows a log. What does not fit changes nothing.
func ExampleSession() {
	var s session.Session
	for e, err := range event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events() {
		if err := errors.Join(err, s.Apply(e)); err != nil {
			fmt.Println(err)
		}
	}
	d, err := s.Fleet().Device(0)
	fmt.Println(d.Totals().Tracked, err)
	// Output:
	// line 5: enqueue (matmul): Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at 368640 and static circular buffer region ends at 373760
	// 132464640 <nil>
}

// What "cbl1 stream" does: a line for each answer, before the next line is read.
func ExampleSession_Stream() {
	var s session.Session
	if err := s.Stream(event.NewLog(strings.NewReader(streamLog), "run.jsonl").Events(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"answer":"anomaly","line":5,"event":"dispatch","code":"not-registered","error":"device 0: program 2: program is not registered"}
	// {"answer":"headroom","id":7,"program":1,"groups":[{"device":0,"devices":1,"cores":"{[0-0 - 1-0]}","count":2,"region_end":107808,"free_bytes":1391328,"largest_gap_bytes":1391328,"largest_gap_start":107808}],"may_grow_bytes":1391328}
}

// The answers of "cbl1 stream", as values.
func ExampleSession_Query() {
	var s session.Session
	for e, err := range event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events() {
		if err := errors.Join(err, s.Apply(e)); err != nil {
			a := s.Anomaly(e, err)
			fmt.Println(a.Event, "of", a.Name, "is refused:", a.Code)
		}
	}
	for _, query := range []event.Query{
		{Name: "totals", Device: event.Some(device.ID(0))},
		{Name: "core", Device: event.Some(device.ID(0)), Core: event.Some(l1.Core{X: 7, Y: 7})},
		{Name: "who", Device: event.Some(device.ID(0)), Core: event.Some(l1.Core{}), Address: event.Some(uint64(400_000))},
		{Name: "check", Program: event.Some(program.ID(1))},
		{Name: "headroom"},
		{Name: "totals", Device: event.Some(device.ID(9))},
	} {
		switch a := s.Query(&event.Event{Kind: event.KindQuery, Query: query}).(type) {
		case session.TotalsAnswer:
			fmt.Println(a.L1, "bytes of L1 buffers;", a.Tracked, "tracked, at most", a.Peak.Tracked)
		case session.CoreAnswer:
			fmt.Println("core", a.Core, "holds", a.Usage.Tracked, "bytes, of programs:", a.Dispatched)
		case session.WhoAnswer:
			fmt.Println("address", a.Address, "belongs to buffer", *a.Resident[0].Buffer, "at", a.Resident[0].Range())
		case session.CheckAnswer:
			fmt.Println(a.Name, "fits:", a.Fits, "- over by", a.Clashes[0].Over, "bytes on", a.Clashes[0].Count, "cores")
		case session.HeadroomAnswer:
			fmt.Println(a.Groups[0].Free, "bytes are free on each of", a.Groups[0].Count, "cores")
		case session.ErrorAnswer:
			fmt.Println(a.Code, "-", a.Error)
		}
	}
	// Output:
	// enqueue of matmul is refused: does-not-fit
	// 132464640 bytes of L1 buffers; 132464640 tracked, at most 132464640
	// core 7-7 holds 1204224 bytes, of programs: 0
	// address 400000 belongs to buffer 1 at [368640,1572864)
	// matmul fits: false - over by 5120 bytes on 64 cores
	// 257024 bytes are free on each of 110 cores
	// no-device - device 9: no such device
}

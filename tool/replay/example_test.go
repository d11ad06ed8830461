package replay_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
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
	var s replay.Session
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
	var s replay.Session
	if err := s.Stream(event.NewLog(strings.NewReader(streamLog), "run.jsonl").Events(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"answer":"anomaly","line":5,"event":"dispatch","code":"not-registered","error":"device 0: program 2: program is not registered"}
	// {"answer":"headroom","id":7,"program":1,"groups":[{"device":0,"devices":1,"cores":"{[0-0 - 1-0]}","count":2,"region_end":107808,"free_bytes":1391328,"largest_gap_bytes":1391328,"largest_gap_start":107808}],"may_grow_bytes":1391328}
}

// The answers of "cbl1 stream", as values.
func ExampleSession_Query() {
	var s replay.Session
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
		case replay.TotalsAnswer:
			fmt.Println(a.L1, "bytes of L1 buffers;", a.Tracked, "tracked, at most", a.Peak.Tracked)
		case replay.CoreAnswer:
			fmt.Println("core", a.Core, "holds", a.Usage.Tracked, "bytes, of programs:", a.Dispatched)
		case replay.WhoAnswer:
			fmt.Println("address", a.Address, "belongs to buffer", *a.Resident[0].Buffer, "at", a.Resident[0].Range())
		case replay.CheckAnswer:
			fmt.Println(a.Name, "fits:", a.Fits, "- over by", a.Clashes[0].Over, "bytes on", a.Clashes[0].Count, "cores")
		case replay.HeadroomAnswer:
			fmt.Println(a.Groups[0].Free, "bytes are free on each of", a.Groups[0].Count, "cores")
		case replay.ErrorAnswer:
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

// What "cbl1 peak" prints, as values.
func ExampleResult_Peak() {
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events(), replay.Options{})
	fmt.Println(err)
	for _, on := range r.Peak().Devices {
		fmt.Println("device", on.Device.V, "held", on.Peak.Bytes, "bytes on each of", on.Peak.Count, "cores")
		for _, x := range on.Peak.Residents {
			fmt.Println(x.Kind, x.Range())
		}
	}
	// Output:
	// <nil>
	// device 0 held 1204224 bytes on each of 110 cores
	// L1 buffer [368640,1572864)
}

// What "cbl1 room --size 250000" prints, as values.
func ExampleResult_Room() {
	asks := replay.Options{Room: &answer.RoomQuestion{Size: 250_000}}
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events(), asks)
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := r.Room(nil)
	fmt.Println(doc.Answer, "between", doc.All.Below.Program.Op, "and the", doc.All.Above.Buffer.Kind)
	// Output: does_not_fit between matmul and the L1 buffer
}

// What "cbl1 who run.jsonl 400000" prints, as values.
func ExampleResult_Who() {
	q := answer.Question{Address: 400_000}
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events(), replay.Options{Ask: &q})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range r.Who(q, answer.Filter{}).Held {
		fmt.Println(h.Resident[0].Kind, "at", h.Resident[0].Range(), "on", h.Count, "cores")
	}
	// Output: L1 buffer at [368640,1572864) on 110 cores
}

// What "cbl1 map run.jsonl" prints, as values.
func ExampleResult_Map() {
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events(), replay.Options{Groups: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := r.Map(event.Opt[uint64]{})
	for _, g := range doc.Devices[0].Groups {
		fmt.Println(g.Count, "cores with", g.Bytes, "bytes each")
	}
	fmt.Println("does not fit:", doc.Clash.Program.Op, "on core", doc.Clash.Core, "by", doc.Clash.Over, "bytes")
	// Output:
	// 110 cores with 1204224 bytes each
	// does not fit: matmul on core 0-0 by 5120 bytes
}

// What "cbl1 check run.jsonl" prints, as values.
func ExampleResult_Check() {
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events(), replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := r.Check(r.Judge(answer.Terms{}))
	for _, f := range doc.Failures {
		fmt.Println(doc.Answer, f.Run.Op, "by", f.Row.Clashes[0].Over, "bytes on", f.Row.Clashes[0].Count, "cores")
	}
	// Output: does_not_fit matmul by 5120 bytes on 64 cores
}

// What "cbl1 report --format json run.jsonl" prints, as values.
func ExampleResult_Report() {
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(exampleLog), "run.jsonl").Events(), replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := r.Report()
	fmt.Println(doc.Checks.Answer, doc.L1[0].Peak.Bytes, "bytes,", doc.L1[0].BuffersPeak, "buffer")
	// Output: does_not_fit 1204224 bytes, 1 buffer
}

// The present figures of the devices of a fleet, as "cbl1 watch" shows them.
func ExampleNewLiveDevice() {
	fleet := device.NewFleet()
	mesh, _ := fleet.AddMesh(0, 1, 2, l1.N150())
	p, _ := program.Place(7, "matmul", l1.N150(), program.CB{Cores: l1.N150().Grid(), Size: 4096})
	_, err := fleet.Register(p, mesh.Set())
	for d := range fleet.Devices() {
		row := answer.NewLiveDevice(d)
		fmt.Println(row.Device, row.Board, *row.Registered, *row.Core, *row.Headroom, err)
	}
	// Output:
	// 0 n150 262144 4096 1391328 <nil>
	// 1 n150 262144 4096 1391328 <nil>
}

package answer_test

import (
	"fmt"
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

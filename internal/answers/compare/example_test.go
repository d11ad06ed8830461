package compare_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/answers/compare"
	"github.com/cbl1/cbl1/replay"
)

const planLog = `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"program","program":1,"name":"norm","cbs":[{"cores":"[0-0 - 7-7]","size":4096}]}
{"event":"enqueue","program":1}
{"event":"program","program":2,"name":"matmul","cbs":[{"cores":"[0-0 - 7-7]","size":8192}]}
{"event":"enqueue","program":2}
`

// side replays a log.
func side(log string) []*compare.Run {
	r, err := replay.Run("plan.jsonl", event.NewLog(strings.NewReader(log), "plan.jsonl").Events(), replay.Options{Buffers: true})
	if err != nil {
		panic(err)
	}
	return []*compare.Run{compare.Of(r)}
}

// A buffer of one program is made larger.
func ExampleCompare() {
	d := compare.Compare(side(planLog), side(strings.Replace(planLog, "8192", "10240", 1)), compare.Terms{})
	for _, p := range d.Devices[0].Changes {
		fmt.Println(p.Op, p.State, p.Change(), "of", p.New.Core)
		for _, cb := range p.CBs {
			fmt.Println("  CB", cb.New.Number, cb.State, cb.Old.Bytes, cb.New.Bytes)
		}
	}
	fmt.Println(d.Sides.Old.Peak.Bytes, d.Sides.New.Peak.Bytes)
	// Output:
	// matmul grown 2048 of 10240
	//   CB 0 grown 8192 10240
	// 8192 10240
}

package replay_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
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

// The figures and the judgement of a log. Package answer has what else a Result says.
func ExampleRun() {
	log := event.NewLog(strings.NewReader(exampleLog), "run.jsonl")
	r, err := replay.Run("run.jsonl", log.Events(), replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Judge(answer.Terms{}).Answer, r.L1[0].Peak.Bytes, "bytes of each core at the peak of device 0")
	// Output: does_not_fit 1204224 bytes of each core at the peak of device 0
}

package page_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/pictures/page"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A page about one run, in one file.
func ExampleWrite() {
	log := `{"event":"log","version":1}
{"event":"device","device":0,"spec":{"board":"n150"}}
{"event":"enqueue","program":1,"name":"matmul","cbs":[{"cores":"[0-0 - 7-7]","size":4096}]}
`
	r, err := replay.Run("run.jsonl", event.NewLog(strings.NewReader(log), "run.jsonl").Events(), replay.Options{})
	var out bytes.Buffer
	fmt.Println(page.Write(&out, []*answer.Result{r}, answer.Terms{}, nil), err)
	fmt.Println(len(r.Devices), bytes.Contains(out.Bytes(), []byte("</html>")))
	// Output:
	// <nil> <nil>
	// 1 true
}

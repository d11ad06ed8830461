package clash_test

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/clash"
)

func ExampleScan() {
	log := strings.NewReader(`(EngineCore_DP0 pid=230) TT_THROW: Statically allocated circular buffers in program 5
(EngineCore_DP0 pid=230) clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=6)]. L1 buffer
(EngineCore_DP0 pid=230) allocated at 600064 and static circular buffer region ends at 700000.`)
	for m, err := range clash.Scan(log) {
		over, _ := m.Over()
		fmt.Println(m.Line, m.Kind, m.Numbers["program"], m.Cores, m.NumCores(), over, err)
	}
	// Output:
	// 1 clash 5 {[0-0 - 7-6]} 56 99936 <nil>
}

func ExampleExplain() {
	for m, err := range clash.Scan(strings.NewReader("Total circular buffer size 5000 B must be divisible by page size 2048 B")) {
		e := clash.Explain(m, l1.P150())
		fmt.Println(e.Summary, err)
		fmt.Println(e.Notes[0].Text)
	}
	// Output:
	// not whole pages: a CB of 5,000 bytes (4.9 KiB) has 2 pages of 2,048 bytes and 904 bytes more <nil>
	// the nearest legal sizes are 4,096 and 6,144 bytes
}

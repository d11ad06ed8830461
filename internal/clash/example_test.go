package clash_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/cbl1/cbl1/internal/clash"
	"github.com/cbl1/cbl1/l1"
)

func ExampleScan() {
	log := strings.NewReader(`(EngineCore_DP0 pid=230) TT_THROW: Statically allocated circular buffers in program 5
(EngineCore_DP0 pid=230) clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=6)]. L1 buffer
(EngineCore_DP0 pid=230) allocated at 600064 and static circular buffer region ends at 700000.`)
	for m, err := range clash.Scan(log) {
		over, _ := m.Over()
		fmt.Println(m.Line, m.Kind, m.Program, m.Cores, m.NumCores(), over, err)
	}
	// Output:
	// 1 clash 5 {[0-0 - 7-6]} 56 99936 <nil>
}

func ExampleWriteText() {
	const log = "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1600512 B which is beyond max L1 size of 1499136 B"
	found, err := clash.Read(strings.NewReader(log))
	fmt.Println(len(found.Messages), err)
	if err := clash.WriteText(os.Stdout, found, l1.Spec{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 <nil>
	// line 1: too large for L1: the circular buffers end 101,376 bytes (99.0 KiB) beyond the end of L1
	//   cores    [0-0 - 7-7], 64 cores
	//   numbers  the CB region ends at 1,600,512, the L1 of a core at 1,499,136: 101,376 bytes (99.0 KiB) over = 6.8% of the region (1,496,800 bytes above base 103,712)
	//   why      CBs are placed upwards from the base, and end beyond L1 by themselves: L1 buffers play no part, moving them does not help
	//   chip     likely Wormhole (max L1 size is that of Wormhole): L1 1,499,136 bytes; base 103,712 (it varies with the release)
	//   fit      if the base is 103,712, the region must shrink from 1,496,800 bytes (1.4 MiB) to the room of 1,395,424 bytes (1.3 MiB)
	//   likely   perhaps a budget that counts L1 from address 0: there the 1,496,800 bytes of the region would fit, from base 103,712 they do not
	//   open     no parameter of open_device helps
	//   try      smaller blocks, or single instead of double buffering: the CBs must lose 6.8% (50 tiles of 2,048 bytes)
	//   unknown  which CB is large, and holes between them (only the end counts): a capture has each CB as a node, and `cbl1 report --programs CAPTURE` says which are the program's
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

package render_test

import (
	"fmt"
	"os"

	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/answers/render"
	"github.com/cbl1/cbl1/tool/replay"
)

func ExampleReport() {
	inputs, err := capture.Inputs("../../../capture/testdata/repeats.json")
	fmt.Println(len(inputs), err)
	result, err := replay.Run("repeats.json", inputs[0].Events(capture.Options{Arch: "wormhole"}), replay.Options{})
	fmt.Println(err)
	if err := render.Report(result, render.Options{Cores: true}).Text(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 <nil>
	// <nil>
	// fits  repeats.json  14,336 of 1,395,424 usable bytes (1.0%, 14.0 KiB) on the fullest core
	//
	//         ------ fullest core -------  ----------- all cores -----------
	// device  L1 peak  registered  at end  registered  alive peak    logical  programs
	// 0        14,336      14,336  14,336     917,504     917,504  1,441,792         2
	//
	// at the peak, ttnn.add (node 32), on core 0-0 and 63 more
	//  bytes  what                   from       to  whose
	// 14,336  3 circular buffers  103,712  118,048  ttnn.add > UnaryDeviceOperation (node 30)
	//
	//   tightest  1,381,088 bytes free above ttnn.add > UnaryDeviceOperation (node 30)
	//   ?         5 operations from the program cache: as last time (--no-infer)
	//
	// cores of device 0, fullest first; bytes are those of each core
	// registered  alive peak  highest end  regions  programs  cores  which
	//     14,336      14,336      118,048        1         2     64  [0-0 - 7-7]
}

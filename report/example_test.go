package report_test

import (
	"fmt"
	"os"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func ExampleReport() {
	inputs, err := capture.Inputs("../capture/testdata/repeats.json")
	fmt.Println(len(inputs), err)
	result, err := replay.Run("repeats.json", inputs[0].Events(capture.Options{Arch: "wormhole"}), replay.Options{})
	fmt.Println(err)
	if err := report.Report(result, report.Options{Cores: true}).Text(os.Stdout, 0); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 <nil>
	// <nil>
	// fullest core: 14,336 CB bytes, 1.0% of usable L1 (wormhole), device 0, ttnn.add
	//   core      0-0 and 63 more; 14.0 KiB registered, ends at 118,048 (1,381,088 below the top of L1)
	//   program   ttnn.add > UnaryDeviceOperation (nodes 30-32) takes all of them
	// repeats.json: 49 nodes, 2 programs, recorded addresses
	//
	//                   ---- fullest core ----  --- sum over cores ---  misleading sum
	// device  programs  registered  alive peak  registered  alive peak    logical  ratio
	// 0              2      14,336      14,336     917,504     917,504  1,441,792   1.6x
	//                     14.0 KiB    14.0 KiB   896.0 KiB   896.0 KiB    1.4 MiB
	//
	//   basis     registered = all programs, as the program cache keeps them; alive = until their free;
	//             logical = size x cores of every CB, shared bytes again and again
	//   counted   5 local CBs on 64 cores; not counted: L1 buffers, kernels
	//   dispatch  7 executions on device 0 left CBs of at most 917,504 bytes, 14,336 on the fullest core;
	//             917,504 at the end
	//   note      5 operations ran from the program cache (first at node 10, UnaryDeviceOperation): taken
	//             to run what ran last time, in figures of the whole L1 and in checks; alive figures miss
	//             it
	//
	// cores of device 0, fullest first; bytes are those of each core
	// registered  alive peak  highest end  regions  programs  cores  which
	//     14,336      14,336      118,048        1         2     64  [0-0 - 7-7]
}

package report

import (
	"fmt"
	"iter"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// programsOf returns the programs of a device that are shown.
func programsOf(r *replay.Result, d *replay.Device) iter.Seq[replay.ProgramDetail] {
	return func(yield func(replay.ProgramDetail) bool) {
		for _, p := range d.ProgramsDetail.All() {
			if r.Only.HasOp(p.Op) && !yield(p) {
				return
			}
		}
	}
}

// onlyText says to what an answer is narrowed: " (only ttnn.matmul on core 3-0 of device 0)".
func onlyText(f replay.Filter) string {
	var words []string
	if f.Op != "" {
		words = append(words, shown.Start(string(f.Op), 60))
	}
	if f.Core.OK {
		words = append(words, "on core "+f.Core.V.String())
	}
	if f.Device.OK {
		words = append(words, fmt.Sprintf("of device %d", f.Device.V))
	}
	if len(words) == 0 {
		return ""
	}
	return " (only " + strings.TrimPrefix(strings.TrimPrefix(strings.Join(words, " "), "on "), "of ") + ")"
}

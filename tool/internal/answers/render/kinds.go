package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// kindsText lists the bytes of a core by kind, without kernels and the reserved area.
func kindsText(p *answer.L1Peak) string {
	var kinds []string
	for k := fit.KindCB; k.InL1(); k++ {
		if n := p.Kinds[k]; n > 0 && !k.Below() {
			kinds = append(kinds, fmt.Sprintf("%ss %s", k, grouped(n)))
		}
	}
	return strings.Join(kinds, ", ")
}

// bufferText gives the peak of buffers over all banks of the device with the most, and the buffers that live at
// the end.
func bufferText(r *answer.Result) string {
	var best *answer.DeviceL1
	for i := range r.L1 {
		if d := &r.L1[i]; best == nil || d.L1Peak+d.DRAMPeak > best.L1Peak+best.DRAMPeak {
			best = d
		}
	}
	if best == nil || best.BuffersPeak == 0 {
		return ""
	}
	var parts []string
	for _, k := range []struct {
		name string
		peak uint64
	}{{"L1", best.L1Peak}, {"L1_SMALL", best.SmallPeak}, {"DRAM", best.DRAMPeak}} {
		if k.peak > 0 {
			parts = append(parts, fmt.Sprintf("%s peak %s", k.name, grouped(k.peak)))
		}
	}
	text := strings.Join(parts, ", ") + " bytes in all banks"
	if len(parts) == 0 {
		text = "of no bytes"
	}
	if n := r.Live.Buffers; n > 0 {
		text += fmt.Sprintf("; %s live at the end: %s bytes in L1, %s in DRAM", shown.Plural(n, "buffer"), grouped(r.Live.L1+r.Live.L1Small), grouped(r.Live.DRAM))
	} else {
		text += "; none live at the end"
	}
	if best.Backings > 0 {
		text += fmt.Sprintf("; not counted: %s of bytes that others have", shown.Plural(best.Backings, "allocation"))
	}
	return text
}

// dispatchedText counts the executions on a device and the bytes of circular buffers that they left.
func dispatchedText(r *answer.Result, row *answer.DeviceL1) string {
	d := row.Dispatched
	text := fmt.Sprintf("%s on %s left CBs of at most %s bytes, %s on the fullest core; %s at the end",
		shown.Plural(d.Executions, "execution"), deviceName(r, row.ID), grouped(d.Peak), grouped(d.CorePeak), grouped(d.Final))
	if d.Unknown > 0 {
		text += fmt.Sprintf("; %s of unknown programs", grouped(d.Unknown))
	}
	return text
}

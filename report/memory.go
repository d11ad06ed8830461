package report

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// wholeL1 says what lived in L1 beside circular buffers, in a few lines: the other
// commands show more.
func wholeL1(r *replay.Result) []note {
	var out []note
	if text := trackedText(r); text != "" {
		out = append(out, note{"whole L1", text})
	}
	if text := bufferText(r); text != "" {
		out = append(out, note{"buffers", text})
	}
	for i := range r.L1 {
		if d := r.L1[i].Dispatched; d != nil {
			out = append(out, note{"dispatch", dispatchedText(r, &r.L1[i])})
			break // the devices of a mesh run the same
		}
	}
	if k := r.Checks; k.Failed > 0 {
		out = append(out, note{"check", fmt.Sprintf("%s of %s %s not fit beside the L1 buffers of that time: cbl1 check says why",
			grouped(k.Failed), shown.Plural(k.Runs, "program run"), doNot(k.Failed))})
	}
	return out
}

// trackedText says how much a core held at most of everything.
func trackedText(r *replay.Result) string {
	row := fullestL1(r)
	if row == nil || onlyCBs(row.Peak) {
		return ""
	}
	p := row.Peak
	once := ""
	if len(p.Shared) > 0 {
		once = " (shared bytes count once)"
	}
	return fmt.Sprintf("at most %s bytes on one core: %s%s; cbl1 peak says which", grouped(p.Bytes), kindsText(p), once)
}

// onlyCBs reports whether nothing but circular buffers was there.
func onlyCBs(p *replay.L1Peak) bool {
	return len(p.Kinds) == 1 && p.Kinds[fit.KindCB] > 0
}

// kindsText lists the kinds of what a core held, kernels and the reserved area left
// out.
func kindsText(p *replay.L1Peak) string {
	var kinds []string
	for k := fit.KindCB; k.InL1(); k++ {
		if n := p.Kinds[k]; n > 0 && !k.Below() {
			kinds = append(kinds, fmt.Sprintf("%ss %s", k, grouped(n)))
		}
	}
	return strings.Join(kinds, ", ")
}

// bufferText says how many bytes buffers took over all banks of the device that had
// most, and what was left at the end.
func bufferText(r *replay.Result) string {
	var best *replay.DeviceL1
	for i := range r.L1 {
		if d := &r.L1[i]; best == nil || d.L1.Peak+d.DRAM.Peak > best.L1.Peak+best.DRAM.Peak {
			best = d
		}
	}
	if best == nil || best.Buffers.Peak == 0 {
		return ""
	}
	var parts []string
	for _, k := range []struct {
		name string
		replay.HighLow
	}{{"L1", best.L1}, {"L1_SMALL", best.L1Small}, {"DRAM", best.DRAM}} {
		if k.Peak > 0 {
			parts = append(parts, fmt.Sprintf("%s peak %s", k.name, grouped(k.Peak)))
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

// dispatchedText says what executions left of circular buffers.
func dispatchedText(r *replay.Result, row *replay.DeviceL1) string {
	d := row.Dispatched
	text := fmt.Sprintf("%s on %s left CBs of at most %s bytes, %s on the fullest core; %s at the end",
		shown.Plural(d.Executions, "execution"), deviceName(r, row.ID), grouped(d.Peak), grouped(d.CorePeak), grouped(d.Final))
	if d.Unknown > 0 {
		text += fmt.Sprintf("; %s of nobody knows what", grouped(d.Unknown))
	}
	return text
}

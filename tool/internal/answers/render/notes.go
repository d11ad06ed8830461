package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// opened is what buffers needed of the sizes with which a device is opened: the most of any device.
func opened(r *answer.Result) (out []note) {
	var small, size, trace uint64
	for i := range r.L1 {
		d := &r.L1[i]
		spec := r.SpecOf(d.ID)
		if bytes, _, _ := d.Needs.SmallBank(spec.Spec); bytes > small {
			small, size = bytes, spec.L1Small
		}
		trace = max(trace, d.Needs.Trace.Value)
	}
	if small > 0 {
		text := grouped(small) + " bytes of a bank"
		if size > 0 {
			text = fmt.Sprintf("%s of %s bytes of a bank", grouped(small), grouped(size))
		}
		out = append(out, note{"L1_SMALL", text + ": cbl1 sizes says more"})
	}
	if trace > 0 {
		out = append(out, note{"traces", fmt.Sprintf("at most %s bytes together, in all banks", grouped(trace))})
	}
	return out
}

// remarks are the reasons of a verdict, the assumptions and the anomalies.
func remarks(r *answer.Result, j answer.Judgement) []note {
	var out []note
	said := append(slices.Clone(j.Untold), r.Reason(answer.CodeInferred))
	if k := r.Checks; k.Failed > 0 && j.Answer == answer.CannotTell { // on a chip that is assumed: the reason says it
		said = append(said, r.Reason(answer.CodeBeyondL1))
	} else if k.Failed > 0 {
		out = append(out, note{"check", fmt.Sprintf("%s of %s %s not fit beside the L1 buffers of that time: cbl1 check says why",
			grouped(k.Failed), shown.Plural(k.Runs, "program run"), doNot(k.Failed))})
	}
	if t := r.Checks.Tightest; t != nil {
		of := ""
		if r.Checks.Failed > 0 {
			of = ", of the runs that fit"
		}
		out = append(out, note{"tightest", fmt.Sprintf("%s bytes free above %s%s", grouped(t.Headroom.Free), runText(r, t.Run, 60), of)})
	}
	out = append(out, opened(r)...)
	label := "because"
	if j.Answer != answer.CannotTell {
		label = "besides"
	}
	for _, n := range reasonNotes(label, j.Untold) {
		if n.text != nothingCounted(r) && (r.Only.Op == "" || n.text != nothingRan(r)) { // the first line has it
			out = append(out, n)
		}
	}
	out = append(out, textNotes("?", doubts(r))...)
	return append(out, textNotes("note", r.AnomalyTexts(said...))...)
}

// details are the counts behind the figures, and the figures of buffers and executions.
func details(r *answer.Result, folds []deviceFold[answer.Device]) []note {
	out := []note{{"read", fmt.Sprintf("%s, addresses of circular buffers: %s", length(r), r.Addresses)}}
	if d := r.FullestDevice(); d != nil {
		f := d.Fullest
		out = append(out, note{"registered", fmt.Sprintf("%s bytes on core %s of %s, end at %s; %s", grouped(f.Bytes), cores(f), deviceName(r, d.ID), end(r.SpecOf(d.ID), f.End), share(r, f))})
	}
	if len(folds) > 0 {
		out = append(out, note{"counted", counted(folds)})
	}
	table := "" // there is none
	if tabled(r) {
		table = "; only L1 peak in the table counts them"
	}
	for _, f := range folds {
		where := ""
		if len(folds) > 1 {
			where = f.where() + ": "
		}
		if k := f.first.Dataflow; k.Nodes > 0 {
			out = append(out, note{"apart", where + apart(k, "dataflow buffer", table)})
		}
		if k := f.first.Scratchpad; k.Nodes > 0 {
			out = append(out, note{"apart", where + apart(answer.Dataflow(k), "scratchpad", table)})
		}
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
	if text := upstream(r); text != "" {
		out = append(out, note{"ttnn", text})
	}
	return out
}

// counted names the buffers that the table counts and leaves out.
func counted(folds []deviceFold[answer.Device]) string {
	var local, global int64
	var loose uint64
	for _, f := range folds {
		n, d := int64(len(f.names)), f.first
		local, global, loose = local+n*d.LocalCBs, global+n*d.GlobalCBs, max(loose, d.UnattributedPeak)
	}
	text := shown.Plural(local, "local CB")
	if len(folds) == 1 && local > 0 {
		text += " on " + shown.Plural(folds[0].first.Cores, "core")
		if n := len(folds[0].names); n > 1 {
			text += fmt.Sprintf(" of %d chips", n)
		}
	}
	text += "; not counted: "
	if global > 0 {
		text += shown.Plural(global, "global CB") + " (bytes of tensors), "
	}
	if loose > 0 {
		text += "CBs that name no core (up to " + grouped(loose) + " bytes at a time), "
	}
	return text + "L1 buffers, kernels"
}

// apart describes dataflow buffers or scratchpads, which the table leaves out; table
// says so.
func apart(k answer.Dataflow, noun, table string) string {
	text := shown.Plural(k.Nodes, noun)
	switch k.Borrowed {
	case 0:
	case k.Nodes:
		return text + " in borrowed memory: no bytes of their own"
	default:
		text += fmt.Sprintf(", %s of them in borrowed memory", grouped(k.Borrowed))
	}
	return fmt.Sprintf("%s: registered %s bytes on the fullest core, %s over all; alive peak %s and %s%s",
		text, grouped(k.RegisteredCorePeak), grouped(k.Registered), grouped(k.CorePeak), grouped(k.ResidentPeak), table)
}

// upstream says where ttnn's own figures differ from the truth, and why.
func upstream(r *answer.Result) string {
	var truth, sizes uint64
	copies := 0
	for _, d := range r.Devices {
		truth, sizes = max(truth, d.CorePeak), max(sizes, d.LogicalSizesPeak)
		if d.LocalCBs > 0 {
			copies++
		}
	}
	var parts []string
	if cb := r.Upstream.PeakCB; cb.OK && cb.V != truth && !r.Upstream.PerCore {
		why := causes(r.Upstream.Causes)
		told := len(why) > 0
		if !told && copies > 1 && cb.V > sizes {
			why = append(why, fmt.Sprintf("they add the copies on %d devices", copies))
		}
		if !told && sizes > truth {
			why = append(why, "they add CBs whatever their cores and addresses")
		}
		if len(why) == 0 {
			why = append(why, "their frees reach every device")
		}
		parts = append(parts, fmt.Sprintf("releases before September 2026 print a peak_cb of %s where the fullest core had %s alive: %s",
			grouped(cb.V), grouped(truth), strings.Join(why, ", and ")))
	}
	if r.Upstream.Wrapped {
		parts = append(parts, fmt.Sprintf("peak_l1 and peak_total mean nothing: more was freed than the %s allocates, and they ran below zero", r.Source()))
	}
	return strings.Join(parts, "; ")
}

// causes says why ttnn's peak_cb is not what a core held.
func causes(all []event.UpstreamCause) (why []string) {
	for _, c := range all {
		switch c.Code {
		case event.CauseCopies:
			why = append(why, fmt.Sprintf("they add the copies on %d devices", c.Count))
		case event.CauseDevices:
			why = append(why, fmt.Sprintf("they add the CBs of %d devices", c.Count))
		case event.CauseCores:
			why = append(why, fmt.Sprintf("they add CBs on %d sets of cores as if on one core", c.Count))
		case event.CauseWrapped: // of another figure
		}
	}
	return why
}

// staleNotes say which tensors lay at the peak after their last use.
func staleNotes(r *answer.Result) (notes []note) {
	for _, s := range r.Stale {
		then := ""
		switch {
		case s.Lower.V > 0:
			then = fmt.Sprintf("the peak would be %s lower", grouped(s.Lower.V))
		case s.Lower.OK:
			then = "the peak would be the same"
		}
		notes = append(notes, staleNote(r, s, then))
	}
	return notes
}

// staleNote says when a tensor was used last and freed, and what had been if it was freed then.
func staleNote(r *answer.Result, s answer.Stale, then string) note {
	text := fmt.Sprintf("L1 buffer of %s bytes at %s: ", grouped(s.Bytes), grouped(s.Start))
	if !s.Freed.OK {
		source := "capture"
		if r.Log {
			source = "log"
		}
		return note{"stale", text + fmt.Sprintf("not used again in this %s after %s", source, r.Where(s.LastUse, ""))}
	}
	if text += fmt.Sprintf("last used at %s, freed at %d", r.Where(s.LastUse, ""), s.Freed.V); then != "" {
		text += fmt.Sprintf("; freed at %d, %s", s.LastUse, then)
	}
	return note{"stale", text}
}

// staleAt returns notes about residents that were not used any more at a node.
func staleAt(r *answer.Result, rows []answer.L1Resident, at uint64) (notes []note) {
	for _, x := range rows {
		if s, ok := x.Stale(at); ok {
			notes = append(notes, staleNote(r, s, "it would not be there, if nothing else moves"))
		}
	}
	return notes
}

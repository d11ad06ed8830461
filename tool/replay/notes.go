package replay

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// notes are anomalies by code.
type notes map[answer.Code]*answer.AnomalyCount

// note counts an anomaly. The first one that is noted stays the first.
func (n notes) note(code answer.Code, at int64, detail string) { n.noteAll(code, at, detail, 1) }

// noteAll counts an anomaly that so many devices have.
func (n notes) noteAll(code answer.Code, at int64, detail string, devices int) {
	if n[code] == nil {
		n[code] = &answer.AnomalyCount{Code: code, First: answer.NodeNumber(at), Detail: detail}
	}
	n[code].Count += int64(devices)
}

// date gives the anomalies that were first noted at an event its time.
func (n notes) date(at int64, t json.Number) {
	for _, have := range n {
		if have.First == answer.NodeNumber(at) {
			have.T = t
		}
	}
}

// add adds the anomalies of a code that a source has counted.
func (n notes) add(a answer.AnomalyCount) {
	have := n[a.Code]
	if have == nil {
		n[a.Code] = &a
		return
	}
	have.Count += a.Count
	have.Hidden = have.Hidden || a.Hidden
	if a.First < have.First && a.First >= 0 {
		have.First, have.T, have.Detail = a.First, a.T, a.Detail
	}
}

// anomaly adds an anomaly that the source itself reports, or a hidden fact. Without a place in the source
// it is about the whole source.
func (n notes) anomaly(e *event.Event) {
	a := answer.AnomalyCount{Code: answer.Code(e.Code), Count: max(e.Count, 1), First: answer.NodeNumber(at(e)), Detail: e.Detail}
	a.Hidden = e.Kind == event.KindHidden
	if e.Pos.Node < 0 {
		a.First = -1
	}
	n.add(a)
}

// finish notes what a Result does not have, and lists the anomalies in it. begun: its source has more than a header.
func (n notes) finish(out *answer.Result, begun bool) {
	var cbs, others int64
	for _, d := range out.Devices {
		cbs += d.CBNodes
		others += d.Dataflow.Nodes + d.Scratchpad.Nodes
	}
	if out.Log && !begun {
		out.Nodes = 1 // the header
		n.note(answer.CodeNoNodes, -1, "")
	} else if out.Nodes == 0 {
		n.note(answer.CodeNoNodes, -1, "")
	} else if cbs == 0 && n[answer.CodeTensorsOnly] == nil && (!out.Log || others == 0) {
		n.note(answer.CodeNoCBs, -1, "")
	}
	if out.Upstream.Wrapped {
		n.note(answer.CodeUpstreamWrapped, -1, "")
	}
	for _, code := range slices.Sorted(maps.Keys(n)) {
		out.Anomalies = append(out.Anomalies, *n[code])
	}
}

// at is the place of an event in its source: the counter of a node, or a line.
func at(e *event.Event) int64 { return int64(e.Node) }

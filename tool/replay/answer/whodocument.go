package answer

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
)

// A Question is a query for the holders of one byte of L1.
type Question struct {
	Address uint64            `json:"address"`
	At      event.Opt[uint64] `json:"at"` // counter of a node or number of a line: the state after it; absent = the end
}

// WhoSchema names the form of a WhoDocument.
const WhoSchema = "cbl1.who/1"

// A WhoDocument is the answer of cbl1 who. It is narrowed to a core, a device, or some operations.
type WhoDocument struct {
	Origin
	Nodes  int64    `json:"nodes"`
	Basis  Basis    `json:"basis"`
	Untold []Reason `json:"untold"`
	Question
	Core   event.Opt[l1.Core] `json:"core"`
	Device event.Opt[uint64]  `json:"device"`
	Op     Name               `json:"op"`
	Held   []Holders          `json:"held"`
}

// Holders lists all that holds the byte of a Question on some cores of a device.
type Holders struct {
	Device event.Opt[uint64] `json:"device"`
	Kind   DeviceKind        `json:"kind"`
	Chips  []uint64          `json:"chips"` // of a mesh, ascending
	Cores  l1.CoreSet        `json:"cores"`
	Count  int               `json:"count"` // of Cores; of WhoDocument alone

	// Resident has the buffers of the program that ran last on these cores, and allocated
	// ones. A run of CB nodes that is not complete after the node
	// in question counts as it stands.
	Resident []L1Resident `json:"resident"`
	// Registered has the circular buffers of all programs that are registered then. In a
	// capture these are all programs that ran by then, as the program cache keeps them, the
	// last one included. Programs that differ in their nodes alone are there once, by their
	// first run.
	Registered []L1Resident `json:"registered"`
}

// Who returns what holds a byte: the rows of Held that a filter leaves, cut to its core. Options.Ask had
// the same question.
func (r *Result) Who(q Question, only Filter) WhoDocument {
	head := r.Head(WhoSchema)
	doc := WhoDocument{
		head.Origin, head.Nodes, r.Basis(r.Spec), List(r.Untracked()), q, only.Core, only.Device, only.Op, []Holders{},
	}
	for _, h := range r.Held {
		if !only.HasDevice(h.Device) || !only.HasCores(h.Cores) {
			continue
		}
		if only.Core.OK {
			h.Cores = l1.CoreSetOf(only.Core.V)
		}
		if only.Op != "" {
			h.Resident, h.Registered = only.residents(h.Resident), only.residents(h.Registered)
			if len(h.Resident)+len(h.Registered) == 0 {
				continue
			}
		}
		h.Count, h.Chips = h.Cores.Len(), List(h.Chips)
		h.Resident, h.Registered = List(h.Resident), List(h.Registered)
		doc.Held = append(doc.Held, h)
	}
	return doc
}

// residents returns the residents of the operations that are left.
func (f Filter) residents(all []L1Resident) (out []L1Resident) {
	for _, x := range all {
		if x.Program != nil && f.HasOp(x.Program.Op) || x.Buffer != nil && f.HasOp(x.Buffer.Op) {
			out = append(out, x)
		}
	}
	return out
}

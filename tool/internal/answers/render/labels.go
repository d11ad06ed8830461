package render

import (
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// length says how long a capture is.
func length(r *answer.Result) string {
	if r.Log {
		return shown.Plural(r.Nodes, "event")
	}
	return shown.Plural(r.Nodes, "node")
}

func runText(r *answer.Result, run answer.ProgramRun, n int) string {
	text := r.Whose(run.Op, run.At, run.T, n)
	if run.Inferred {
		text += ", inferred"
	}
	return text
}

// what names something in L1 by its kind and, if it has one, its number: "CB 3", "L1 buffer".
func what[N int | uint64](kind fit.Kind, number event.Opt[N]) string {
	switch {
	case !number.OK:
		return kind.String()
	case kind == fit.KindCB:
		return fmt.Sprintf("CB %d", number.V)
	}
	return fmt.Sprintf("%v %d", kind, number.V)
}

// owner returns the operation that something in L1 belongs to: equal for residents
// whose ownerText is equal. Row is 0.
func owner(x answer.L1Resident) answer.ProgramRun {
	switch {
	case x.Program != nil:
		run := *x.Program
		run.Row = 0
		return run
	case x.Buffer != nil:
		return answer.ProgramRun{Op: x.Buffer.Op, At: x.Buffer.At, T: x.Buffer.T}
	}
	return answer.ProgramRun{}
}

// ownerText says whose something in L1 is.
func ownerText(r *answer.Result, x answer.L1Resident, n int) string {
	if x.Program == nil && x.Buffer == nil {
		return ""
	}
	if x.Buffer != nil {
		return r.Named(*x.Buffer, n)
	}
	return runText(r, owner(x), n)
}

// shortOwner is ownerText in few columns.
func shortOwner(r *answer.Result, x answer.L1Resident, n int) string {
	if x.Buffer != nil {
		return r.Short(*x.Buffer, n)
	}
	return ownerText(r, x, n)
}

// devicesName names the first of some devices, and says how many more there are.
func devicesName(r *answer.Result, first event.Opt[uint64], n int) string {
	text := deviceName(r, first)
	if n > 1 {
		text += fmt.Sprintf(" and %s more", grouped(n-1))
	}
	return text
}

// deviceName names a device id of a capture in a sentence: "device 0", "mesh 1 (chip
// 0)".
func deviceName(r *answer.Result, id event.Opt[uint64]) string {
	if !id.OK {
		return "device not named"
	}
	if r != nil {
		for i := range r.L1 {
			if d := namedL1(&r.L1[i]); d.id == id && d.kind == answer.KindMesh {
				return names{d}.label()
			}
		}
	}
	return fmt.Sprintf("device %d", id.V)
}

// between joins the functions of ProgramDetail.Op.
const between = " > "

// opName is shown.Nested.
func opName[T ~string](path T, n int) string { return shown.Nested(string(path), n) }

// shortName is opName without a namespace that all have: the rest of the path gets the room.
func shortName[T ~string](path T, n int) string {
	return opName(strings.ReplaceAll(string(path), "tt::tt_metal::", ""), n)
}

// caller is the outermost function of an op.
func caller[T ~string](op T) T {
	first, _, _ := strings.Cut(string(op), between)
	return T(first)
}

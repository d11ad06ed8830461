package replay

import (
	"errors"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// maxOps is how many of the operations that run inside each other are named.
const maxOps = 100

// A running has the operations of one log that run now, outermost first.
type running struct {
	ops    []string
	path   string // of ops, made when it is read; "" after a change
	deeper int    // operations that run inside the last of ops and have no name there
}

// op returns the operations that are running, outermost first. The last one is whole. Those
// around it are clipped to 1 KiB together: names nested 100 deep would fill memory otherwise.
func (r *running) op() string {
	if last := len(r.ops) - 1; last >= 0 && r.path == "" {
		if r.path = r.ops[last]; last > 0 {
			r.path = shown.ClipJoined(r.ops[:last], " > ", shown.MaxOutput) + " > " + r.path
		}
	}
	return r.path
}

// operation starts or ends an operation.
func (r *running) operation(e *event.Event) (event.Code, error) {
	switch {
	case e.Kind == event.KindOpStart && len(r.ops) == maxOps:
		r.deeper++
	case e.Kind == event.KindOpStart:
		r.ops, r.path = append(r.ops, shown.Clip(e.Name, shown.MaxName)), ""
	case r.deeper > 0:
		r.deeper--
	case len(r.ops) > 0:
		r.ops, r.path = r.ops[:len(r.ops)-1], ""
	default:
		return event.CodeNoOp, errors.New("no operation is running")
	}
	return "", nil
}

package session

import (
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A RefusedError says why a Session refused an event, which then has changed nothing.
type RefusedError struct {
	Event event.Event
	Op    string // operations that were running, outermost first, joined by " > "
	Name  string // of the program that the event names; "" if it is not known
	Code  event.Code
	Err   error // of package device or program, or a text
}

// Error is one line of at most 300 bytes.
func (e *RefusedError) Error() string { return source.Refusal(&e.Event, e.Name, e.Err) }

func (e *RefusedError) Unwrap() error { return e.Err }

// A RefusalCount says how often something was odd, and where first.
type RefusalCount struct {
	Code   event.Code `json:"code"`
	Count  int64      `json:"count"`
	Line   int64      `json:"first_line"`
	Detail string     `json:"detail"` // of the first one
}

// refusals are counts of odd things.
type refusals map[event.Code]*RefusalCount

// count counts an odd thing about an event, or a refusal.
func (r *refusals) count(e *event.Event, code event.Code, refused *RefusedError) {
	c := (*r)[code]
	if c == nil {
		if *r == nil {
			*r = refusals{}
		}
		c = &RefusalCount{Code: code, Line: e.Pos.Line}
		if refused != nil {
			c.Detail = refused.Error()
		}
		(*r)[code] = c
	}
	c.Count++
}

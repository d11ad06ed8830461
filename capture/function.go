package capture

import (
	"github.com/cbl1/cbl1/event"
)

// A function is a call that has not ended.
type function struct {
	name      string
	path      string // names of all functions that run, outermost first, joined by " > "; "" = to be joined
	start     uint64 // counter
	arguments uint64
	cacheHit  event.Opt[bool]
	placed    bool // something was placed in it, or inferred
	decided   bool // something of it was told that is otherwise if an exception ends it
	aborted   bool // an exception ended a function in it
}

// An operation names what is done: the functions that run, and the arguments of the
// innermost one.
type operation struct {
	path      string
	arguments uint64
}

// functions are the calls that run, the innermost one last.
type functions struct {
	stack []function
	texts map[string]string // names and paths: a capture repeats its operations
	text  []byte
}

func newFunctions() *functions { return &functions{texts: map[string]string{}} }

func (f *functions) depth() int { return len(f.stack) }

// inner returns the innermost function, nil if none runs.
func (f *functions) inner() *function {
	if len(f.stack) == 0 {
		return nil
	}
	return &f.stack[len(f.stack)-1]
}

func (f *functions) enter(n *node) {
	f.text = append(f.text[:0], n.Name...)
	f.stack = append(f.stack, function{name: f.intern(), start: n.Counter, arguments: n.Arguments, cacheHit: n.CacheHit})
}

// leave ends the innermost function. What was placed in it was placed in the one around
// it too.
func (f *functions) leave() {
	placed, aborted := f.inner().placed, f.inner().aborted
	f.stack = f.stack[:len(f.stack)-1]
	if outer := f.inner(); outer != nil {
		outer.placed, outer.aborted = outer.placed || placed, outer.aborted || aborted
	}
}

// decide takes in that something was told of the function with a start, if it runs still.
func (f *functions) decide(start uint64) {
	for i := range f.stack {
		f.stack[i].decided = f.stack[i].decided || f.stack[i].start == start
	}
}

// operation returns what runs now.
func (f *functions) operation() operation {
	if inner := f.inner(); inner != nil {
		return operation{f.path(), inner.arguments}
	}
	return operation{}
}

// path returns the names of the functions that run, outermost first.
func (f *functions) path() string {
	inner := f.inner()
	if inner == nil {
		return ""
	}
	if inner.path == "" {
		f.text = f.text[:0]
		for i, one := range f.stack {
			if i > 0 {
				f.text = append(f.text, " > "...)
			}
			f.text = append(f.text, one.name...)
		}
		inner.path = f.intern()
	}
	return inner.path
}

// intern returns the text at hand, the same memory for equal texts.
func (f *functions) intern() string {
	known, ok := f.texts[string(f.text)]
	if !ok {
		known = string(f.text)
		f.texts[known] = known
	}
	return known
}

package capture

import (
	"hash/maphash"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// A function is a call that has not ended.
type function struct {
	name      string // to shown.MaxName bytes
	whole     uint64 // hash of a longer name, 0 of others
	around    around // the functions that it runs in
	path      string // names of all functions that run, outermost first, joined by " > "; "" = to be joined
	start     uint64 // counter
	arguments uint64
	cacheHit  event.Opt[bool]
	placed    bool   // something was placed in it, or inferred
	decided   bool   // something of it was told that is otherwise if an exception ends it
	aborted   bool   // an exception ended a function in it
	unread    bool   // its start cannot be read
	hidden    uint64 // 1 more than the start of the outermost function around it that cannot be read, or 0
}

// around is the names of functions that run inside each other, joined. Of long ones it has
// the start alone, the same memory for all that begin like that: a hundred names of 10 kB
// around 3,000 calls would be 3 GB.
type around struct {
	start  string // the first shown.MaxOutput bytes
	length int    // of all
	hash   uint64 // of all names, whole
	known  bool
}

// An operation names what is done: the functions that run, and the arguments of the
// innermost one.
type operation struct {
	path      string
	cut       uint64 // hash of the whole names where the path has not all of them, else 0
	arguments uint64
	hidden    uint64 // as of the function: an operation in one that cannot be read is like no other
}

// functions are the calls that run, the innermost one last.
type functions struct {
	stack   []function
	freeing *freeing          // nil if something followed it
	texts   map[string]string // names and paths: a capture repeats its operations
	bytes   int               // of them
	text    []byte
	seed    maphash.Seed
}

// maxTextBytes bounds the names and paths that are remembered. Beyond it all are forgotten
// and found anew.
const maxTextBytes = 16 << 20

// between stands between the names of a path.
const between = " > "

func newFunctions() *functions {
	return &functions{texts: map[string]string{}, seed: maphash.MakeSeed()}
}

func (f *functions) depth() int { return len(f.stack) }

// inner returns the innermost function, nil if none runs.
func (f *functions) inner() *function {
	if len(f.stack) == 0 {
		return nil
	}
	return &f.stack[len(f.stack)-1]
}

func (f *functions) enter(n *node) {
	f.text = append(f.text[:0], shown.Clip(n.Name, shown.MaxName)...)
	in := function{name: f.intern(), start: n.Counter, arguments: n.Arguments, cacheHit: n.CacheHit}
	if len(n.Name) > shown.MaxName {
		in.whole = f.hash(0, n.Name)
	}
	if outer := f.inner(); outer != nil {
		in.hidden = outer.hidden
	}
	if in.unread = n.Unreadable != nil; in.unread && in.hidden == 0 {
		in.hidden = n.Counter + 1
	}
	f.stack = append(f.stack, in)
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

// place notes that something was placed in the innermost function.
func (f *functions) place() {
	f.freeing = nil
	if inner := f.inner(); inner != nil {
		inner.placed = true
	}
}

// A freeing is a circular_buffer_deallocate_all that nothing followed yet.
type freeing struct {
	counter  uint64
	last     uint64 // of several back to back
	device   device.ID
	name     string // of the innermost function
	start    uint64 // its counter
	depth    int    // of functions
	cacheHit event.Opt[bool]
	inOp     bool // it belongs to an operation, and is not the end of a program
	settled  bool // what it stands for is known
}

// repeats reports whether a free repeats the node before it.
func (f *freeing) repeats(n *node, id device.ID) bool {
	return f != nil && f.device == id && f.last+1 == n.Counter
}

// free takes in a free of circular buffers. inOp says that it is of an operation, and not the end
// of a program; unread that it is not known which functions run.
func (f *functions) free(at uint64, id device.ID, inOp, unread bool) {
	f.freeing = &freeing{counter: at, last: at, device: id, depth: f.depth()}
	if inner := f.inner(); inner != nil {
		f.freeing.cacheHit, f.freeing.name, f.freeing.start = inner.cacheHit, inner.name, inner.start
		f.freeing.inOp, f.freeing.settled = inOp, inner.unread || unread
	}
}

// ownFree returns the free that nothing followed yet, if it is of the innermost
// function and not settled.
func (f *functions) ownFree() *freeing {
	last, inner := f.freeing, f.inner()
	if last == nil || inner == nil || last.depth != f.depth() || last.settled || last.counter < inner.start {
		return nil
	}
	return last
}

// decide takes in that something was told of the function with a start, if it runs still.
func (f *functions) decide(start uint64) {
	for i := range f.stack {
		f.stack[i].decided = f.stack[i].decided || f.stack[i].start == start
	}
}

// operation returns what runs now.
func (f *functions) operation() operation {
	inner := f.inner()
	if inner == nil {
		return operation{}
	}
	out := operation{path: f.path(), arguments: inner.arguments, hidden: inner.hidden}
	if inner.whole != 0 || inner.around.length > shown.MaxOutput {
		out.cut = f.hash(inner.around.hash^inner.whole, inner.name)
	}
	return out
}

// path returns the names of the functions that run, outermost first. Those around the
// innermost one take shown.MaxOutput bytes at most.
func (f *functions) path() string {
	inner := f.inner()
	if inner == nil {
		return ""
	}
	if inner.path == "" {
		f.join()
		f.text = f.text[:0]
		if out := inner.around; len(f.stack) > 1 {
			f.text = append(f.text, shown.ClipStart(out.start, out.length, shown.MaxOutput)...)
			f.text = append(f.text, between...)
		}
		f.text = append(f.text, inner.name...)
		inner.path = f.intern()
	}
	return inner.path
}

// join joins the names around each function where nobody has. A function costs that once.
func (f *functions) join() {
	i := len(f.stack) - 1
	for i > 0 && !f.stack[i].around.known {
		i--
	}
	for i++; i < len(f.stack); i++ {
		outer := &f.stack[i-1]
		to := around{start: outer.around.start, length: outer.around.length, known: true}
		f.text = append(f.text[:0], to.start...)
		if i > 1 {
			f.text = append(f.text, between...)
			to.length += len(between)
		}
		f.text = append(f.text, outer.name...)
		to.length += len(outer.name)
		if len(to.start) < shown.MaxOutput {
			f.text = f.text[:min(len(f.text), shown.MaxOutput)]
			to.start = f.intern()
		}
		to.hash = f.hash(outer.around.hash^outer.whole, outer.name)
		f.stack[i].around = to
	}
}

// hash goes on with a hash.
func (f *functions) hash(before uint64, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	maphash.WriteComparable(&h, before)
	h.WriteString(name)
	return max(h.Sum64(), 1)
}

// intern returns the text at hand, the same memory for equal texts.
func (f *functions) intern() string {
	known, ok := f.texts[string(f.text)]
	if !ok {
		if f.bytes += len(f.text); f.bytes > maxTextBytes {
			clear(f.texts)
			f.bytes = len(f.text)
		}
		known = string(f.text)
		f.texts[known] = known
	}
	return known
}

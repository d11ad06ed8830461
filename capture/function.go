package capture

import (
	"hash/maphash"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
)

// A function is a call that has not ended.
type function struct {
	name      string // to shown.MaxName bytes
	whole     uint64 // hash of a longer name, 0 of others
	around    around // the functions that it runs in
	call      call   // inside it; without a path until somebody asks
	start     uint64 // counter
	arguments uint64
	cacheHit  event.Opt[bool]
	placed    bool   // something was placed in it, or inferred
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

// maxTextBytes bounds the names and paths that are remembered. Beyond it all are forgotten
// and found anew.
const maxTextBytes = 16 << 20

// between stands between the names of a path.
const between = " > "

// inner returns the innermost function, nil if none runs.
func (o *operations) inner() *function {
	if len(o.stack) == 0 {
		return nil
	}
	return &o.stack[len(o.stack)-1]
}

func (o *operations) enter(n *node) {
	o.text = append(o.text[:0], shown.Clip(n.Name, shown.MaxName)...)
	in := function{name: o.intern(), start: n.Counter, arguments: n.Arguments, cacheHit: n.CacheHit}
	if len(n.Name) > shown.MaxName {
		in.whole = o.hash(0, n.Name)
	}
	if outer := o.inner(); outer != nil {
		in.hidden = outer.hidden
	}
	if in.unread = n.Unreadable != nil; in.unread && in.hidden == 0 {
		in.hidden = n.Counter + 1
	}
	o.stack = append(o.stack, in)
}

// leave ends the innermost function. What was placed in it was placed in the one around
// it too.
func (o *operations) leave() {
	placed, aborted := o.inner().placed, o.inner().aborted
	o.stack = o.stack[:len(o.stack)-1]
	if outer := o.inner(); outer != nil {
		outer.placed, outer.aborted = outer.placed || placed, outer.aborted || aborted
	}
}

// A call is where a node stands among the functions that run. The zero call is outside of all.
type call struct {
	operation
	name  string // of the innermost function
	start uint64 // its counter
	depth int    // how many functions run
}

// call returns what runs now.
func (o *operations) call() call {
	inner := o.inner()
	if inner == nil {
		return call{}
	}
	if inner.call.path == "" {
		inner.call = call{operation{o.path(), 0, inner.arguments, inner.hidden}, inner.name, inner.start, len(o.stack)}
		if inner.whole != 0 || inner.around.length > shown.MaxOutput {
			inner.call.cut = o.hash(inner.around.hash^inner.whole, inner.name)
		}
	}
	return inner.call
}

// path returns the names of the functions that run, outermost first. Those around the
// innermost one take shown.MaxOutput bytes at most.
func (o *operations) path() string {
	o.join()
	inner := o.inner()
	o.text = o.text[:0]
	if out := inner.around; len(o.stack) > 1 {
		o.text = append(o.text, shown.ClipStart(out.start, out.length, shown.MaxOutput)...)
		o.text = append(o.text, between...)
	}
	o.text = append(o.text, inner.name...)
	return o.intern()
}

// join joins the names around each function where nobody has. A function costs that once.
func (o *operations) join() {
	i := len(o.stack) - 1
	for i > 0 && !o.stack[i].around.known {
		i--
	}
	for i++; i < len(o.stack); i++ {
		outer := &o.stack[i-1]
		to := around{start: outer.around.start, length: outer.around.length, known: true}
		o.text = append(o.text[:0], to.start...)
		if i > 1 {
			o.text = append(o.text, between...)
			to.length += len(between)
		}
		o.text = append(o.text, outer.name...)
		to.length += len(outer.name)
		if len(to.start) < shown.MaxOutput {
			o.text = o.text[:min(len(o.text), shown.MaxOutput)]
			to.start = o.intern()
		}
		to.hash = o.hash(outer.around.hash^outer.whole, outer.name)
		o.stack[i].around = to
	}
}

// hash goes on with a hash.
func (o *operations) hash(before uint64, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(o.seed)
	maphash.WriteComparable(&h, before)
	h.WriteString(name)
	return max(h.Sum64(), 1)
}

// intern returns the text at hand, the same memory for equal texts.
func (o *operations) intern() string {
	known, ok := o.texts[string(o.text)]
	if !ok {
		if o.bytes += len(o.text); o.bytes > maxTextBytes {
			clear(o.texts)
			o.bytes = len(o.text)
		}
		known = string(o.text)
		o.texts[known] = known
	}
	return known
}

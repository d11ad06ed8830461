package capture

import (
	"hash/maphash"
	"math"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// operations is the second stage of a reading. It says of each node which functions run, and
// whether one of them found its program in the program cache.
type operations struct {
	known   *survey.Knowledge
	ranMore func(op operation, runs int, mesh device.ID) bool // reports whether an operation is known to have run a program there
	dead    survey.FreeNode                                   // the last end of a program
	nodes   int                                               // that placed something, so far
	group   *freeing                                          // the last group of frees
	stack   []function                                        // that run, the innermost one last
	freeing *freeing                                          // nil if something followed it
	hidden  event.Opt[uint64]                                 // last node that hides a free of circular buffers, or may
	texts   map[string]string                                 // names and paths: a capture repeats its operations
	bytes   int                                               // of them
	text    []byte
	seed    maphash.Seed
	step    step
}

func newOperations(known *survey.Knowledge) *operations {
	return &operations{known: known, texts: map[string]string{}, seed: maphash.MakeSeed()}
}

// A step is a node, or the end of a function or of the capture where no node says it, and where it
// stands among the functions.
type step struct {
	node *graph.Node
	at   uint64 // counter of the node, or of the last one before the end
	call call   // before the step

	hit     bool     // the innermost function ran a program that it found in the cache
	flagged bool     // the capture says so
	behind  *freeing // the free of that program; nil = it has none
	closed  *freeing // a free that nothing followed
	opened  *freeing // the group of frees that a free begins
	short   *freeing // frees behind which fewer nodes placed something than there are frees
	again   bool     // a free repeats the node before it
	dies    bool     // a free is the end of a program
	hides   bool     // a free may announce programs together with a hidden one
	ends    bool     // a function ends
	aborts  bool     // by an exception
	noted   bool     // a function in it has reported the exception
}

// A freeing is a circular_buffer_deallocate_all that nothing followed yet.
type freeing struct {
	counter uint64
	frees   int  // back to back
	ended   bool // what was placed behind it is known
	runs    int  // the number of this group of frees in its function, from 1, or of the last one whose programs ran
	nodes   int  // nodes that placed something before
	device  device.ID
	name    string // of the innermost function
	start   uint64 // its counter
	depth   int    // of functions
	inOp    bool   // it belongs to an operation, and is not the end of a program
	settled bool   // the third stage knows what it stands for
}

// repeats reports whether a free repeats the node before it.
func (f *freeing) repeats(n *graph.Node, id device.ID) bool {
	return f != nil && f.device == id && f.counter+uint64(f.frees) == n.Counter
}

// next returns the step of a node, which is valid until the next one. With lost it is not known
// which functions run.
func (o *operations) next(n *graph.Node, lost bool) *step {
	s := o.now(n.Counter)
	s.node = n
	switch n.Type {
	case graph.TypeCircularBufferAllocate, graph.TypeDataflowBufferAllocate, graph.TypeScratchpadAllocate:
		o.place()
	case graph.TypeCircularBufferDeallocateAll:
		o.free(s, lost)
	case graph.TypeProgramExecution:
		if f := o.ownFree(); f != nil && n.Unreadable == nil && o.reaches(f.device, n) {
			o.hit(s, lost)
		}
	case graph.TypeFunctionStart:
		o.enter(n)
	case graph.TypeFunctionEnd:
		s.aborts = n.Function.Aborted || n.Unreadable != nil // an unreadable one may be of an exception, which shows less
		if len(o.stack) > 0 {
			o.end(s, lost)
		}
	case "":
		if n.Unreadable != nil {
			o.hidden = event.Some(n.Counter)
			o.place()
		}
	}
	return s
}

// finish returns the step of the end of the capture.
func (o *operations) finish(at uint64, lost bool) *step {
	s := o.now(at)
	if len(o.stack) > 0 {
		o.endGroup(s, o.inner().group)
		o.hit(s, lost)
	}
	o.endGroup(s, o.group)
	o.close(s)
	return s
}

// now returns a step without a node.
func (o *operations) now(at uint64) *step {
	o.step = step{at: at, call: o.call()}
	return &o.step
}

// place records that something is placed in the innermost function.
func (o *operations) place() {
	o.nodes++
	o.freeing = nil
	if inner := o.inner(); inner != nil {
		inner.placed = true
	}
}

// free records a free of circular buffers.
func (o *operations) free(s *step, lost bool) {
	id := graph.DeviceOf(s.node.DeviceID)
	if s.node.Unreadable != nil || o.hidden.OK && o.hidden.V+1 == s.at {
		o.hidden, s.hides = event.Some(s.at), true
		o.place()
		return
	}
	if s.again = o.freeing.repeats(s.node, id); s.again {
		o.freeing.frees++
		return
	}
	if s.dies = o.dies(id, s.at); s.dies {
		o.dead = survey.FreeNode{ID: id, After: s.at + 1}
		return
	}
	if o.ownFree() != nil {
		o.hit(s, lost)
	}
	o.close(s)
	o.endGroup(s, o.group)
	m := o.known.Members
	o.freeing = &freeing{counter: s.at, start: s.at, frees: 1, nodes: o.nodes, device: id, depth: len(o.stack), inOp: m.IsMesh(id) && (!m.IsBoth(id) || o.known.Unshown.Has(s.at))}
	o.group, s.opened = o.freeing, o.freeing
	if inner := o.inner(); inner != nil {
		o.freeing.name, o.freeing.start = inner.name, inner.start
		o.freeing.inOp, o.freeing.settled = true, inner.unread || lost
		o.freeing.runs = o.call().runs + 1
		inner.group = o.freeing
	}
}

// dies reports whether a free is the end of a program.
func (o *operations) dies(id device.ID, at uint64) bool {
	inner := o.inner()
	switch kind := o.known.FreeOf(id, at); {
	case o.dead == (survey.FreeNode{ID: id, After: at}) && at > 0:
		return true
	case inner == nil:
		return o.known.Members.OnlyChip(id)
	case kind == survey.FreeAsks:
		return !o.ranMore(inner.key, o.call().runs+1, id)
	default:
		return kind == survey.FreeEnds
	}
}

// endGroup ends a group of frees, if there is one: its function ends, or the next group begins.
func (o *operations) endGroup(s *step, of *freeing) {
	if of == nil || of.ended {
		return
	}
	of.ended = true
	if n := o.nodes - of.nodes; 0 < n && n < of.frees && of.inOp && !of.settled {
		s.short = of
	}
}

// close hands on a free that nothing followed.
func (o *operations) close(s *step) { s.closed, o.freeing = o.freeing, nil }

// ownFree returns the free that nothing followed yet, if it is of the innermost
// function and not settled.
func (o *operations) ownFree() *freeing {
	last, inner := o.freeing, o.inner()
	if last == nil || inner == nil || last.depth != len(o.stack) || last.settled || last.counter < inner.start {
		return nil
	}
	return last
}

// reaches reports whether a free with an id reaches the chip of an execution.
func (o *operations) reaches(id device.ID, n *graph.Node) bool {
	if !n.PhysicalDeviceID.OK {
		return false
	}
	ofItsMesh := n.DeviceID.OK && id == device.ID(n.DeviceID.V)
	return ofItsMesh || o.known.Members.Reaches(id, device.ID(n.PhysicalDeviceID.V))
}

// end ends the innermost function.
func (o *operations) end(s *step, lost bool) {
	s.ends = true
	o.endGroup(s, o.inner().group)
	if f := o.inner(); s.aborts {
		s.noted, f.aborted = f.aborted, true
	}
	if !s.aborts || !o.known.Aborted[s.call.start] {
		o.hit(s, lost)
	}
	if o.freeing != nil && o.freeing.depth == len(o.stack) {
		o.close(s)
	}
	o.leave()
}

// hit sets s.hit if the innermost function, which ends or goes on to its next program, found
// its program in the cache: it freed and placed nothing since, or its node says so. A function
// that an exception ends found nothing there.
func (o *operations) hit(s *step, lost bool) {
	c, f := o.inner(), o.ownFree()
	if o.known.Aborted[c.start] || c.unread || lost {
		return
	}
	s.flagged = c.cacheHit.OK && c.cacheHit.V
	switch {
	case f != nil && (s.flagged || !c.cacheHit.OK && f.inOp):
	case f == nil && s.flagged && !c.placed:
	default:
		return
	}
	s.hit, s.behind, c.placed = true, f, true
}

// hits returns the functions around the innermost one that say that their program came from the cache,
// and placed nothing.
func (o *operations) hits() (out []function) {
	for i, c := range o.stack {
		if i < len(o.stack)-1 && c.cacheHit.V && !c.placed {
			out = append(out, c)
		}
	}
	return out
}

// A function is a call that has not ended.
type function struct {
	call           // inside it
	names    chain // of the functions that run, this one included
	cacheHit event.Opt[bool]
	placed   bool     // something was placed in it, or inferred
	aborted  bool     // an exception ended a function in it
	unread   bool     // its start cannot be read
	group    *freeing // its last group of frees
	hidden   uint64   // 1 more than the start of the outermost function around it that cannot be read, or 0
}

// A chain is the names of functions that run inside each other, joined. Of long ones it has
// the start alone, the same memory for all that begin like that: a hundred names of 10 kB
// around 3,000 calls would be 3 GB.
type chain struct {
	start  string // the first shown.MaxOutput bytes
	length int    // of all
	hash   uint64 // of all names, whole
}

// An operation is the key of programs in the program cache, as far as a capture has it. Of a device operation with
// arguments it does not contain the caller, as in tt-metal.
type operation struct {
	name      string // of a device operation with arguments; else the functions that run
	cut       uint64 // hash of the whole names where name has not all of them, else 0
	arguments uint64
	hidden    uint64 // as of the function: an operation in one that cannot be read is like no other
}

// deviceOperation is how tt-metal's names of device operations end.
const deviceOperation = "DeviceOperation"

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

func (o *operations) enter(n *graph.Node) {
	whole, arguments := n.Function.Name, n.Function.Arguments
	name := o.intern(shown.MaxName, shown.Clip(whole, shown.MaxName))
	in := function{call: call{path: name, name: name, start: n.Counter, depth: len(o.stack) + 1}, cacheHit: n.Function.CacheHit}
	var around chain
	sep := ""
	if outer := o.inner(); outer != nil {
		in.hidden, around, sep = outer.hidden, outer.names, between
		in.path = o.intern(math.MaxInt, shown.ClipStart(around.start, around.length, shown.MaxOutput), sep, name)
	}
	if in.unread = n.Unreadable != nil; in.unread && in.hidden == 0 {
		in.hidden = n.Counter + 1
	}
	in.names = chain{around.start, around.length + len(sep) + len(name), o.hash(around.hash, whole)}
	if len(around.start) < shown.MaxOutput {
		in.names.start = o.intern(shown.MaxOutput, around.start, sep, name)
	}
	switch {
	case arguments == 0 || in.unread || !strings.HasSuffix(whole, deviceOperation):
		in.key = operation{name: in.path, arguments: arguments, hidden: in.hidden}
		if len(whole) > shown.MaxName || around.length > shown.MaxOutput {
			in.key.cut = in.names.hash
		}
	default:
		in.key = operation{name: name, arguments: arguments}
		if len(whole) > shown.MaxName {
			in.key.cut = o.hash(0, whole)
		}
	}
	o.stack = append(o.stack, in)
}

// leave ends the innermost function. Placing in it counts for the function around it too.
func (o *operations) leave() {
	placed, aborted := o.inner().placed, o.inner().aborted
	o.stack = o.stack[:len(o.stack)-1]
	if outer := o.inner(); outer != nil {
		outer.placed, outer.aborted = outer.placed || placed, outer.aborted || aborted
	}
}

// A call is where a node stands among the functions that run. The zero call is outside of all.
type call struct {
	key   operation
	path  string // functions that run, outermost first; those around the innermost one take shown.MaxOutput bytes at most
	name  string // of the innermost one, to shown.MaxName bytes
	start uint64 // its counter
	runs  int    // its groups of frees so far
	depth int    // how many functions run
}

// call returns what runs now.
func (o *operations) call() call {
	inner := o.inner()
	if inner == nil {
		return call{}
	}
	c := inner.call
	if inner.group != nil {
		c.runs = inner.group.runs
	}
	return c
}

// hash goes on with a hash.
func (o *operations) hash(before uint64, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(o.seed)
	maphash.WriteComparable(&h, before)
	h.WriteString(name)
	return max(h.Sum64(), 1)
}

// intern returns joined texts up to some bytes, the same memory for equal ones.
func (o *operations) intern(most int, texts ...string) string {
	o.text = o.text[:0]
	for _, text := range texts {
		o.text = append(o.text, text...)
	}
	o.text = o.text[:min(len(o.text), most)]
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

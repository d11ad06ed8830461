package capture

import (
	"hash/maphash"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
)

// operations is the second stage of a reading. It says of each node which functions run, and
// whether one of them found its program in the program cache.
type operations struct {
	known   *knowledge
	stack   []function        // that run, the innermost one last
	freeing *freeing          // nil if something followed it
	hidden  event.Opt[uint64] // last node that hides a free of circular buffers, or may
	texts   map[string]string // names and paths: a capture repeats its operations
	bytes   int               // of them
	text    []byte
	seed    maphash.Seed
	step    step
}

func newOperations(known *knowledge) *operations {
	return &operations{known: known, texts: map[string]string{}, seed: maphash.MakeSeed()}
}

// A step is a node, or the end of a function or of the capture where no node says it, and where it
// stands among the functions.
type step struct {
	node *node
	at   uint64 // counter of the node, or of the last one before the end
	call call   // before the step

	hit    bool     // the innermost function ran a program that it found in the cache
	says   bool     // the capture says so
	behind *freeing // the free of that program; nil = it has none
	closed *freeing // a free that nothing followed
	again  bool     // a free repeats the node before it
	hides  bool     // a free may announce programs together with a hidden one
	ends   bool     // a function ends
	aborts bool     // by an exception
	noted  bool     // which a function in it says already
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
	settled  bool // the third stage knows what it stands for
}

// repeats reports whether a free repeats the node before it.
func (f *freeing) repeats(n *node, id device.ID) bool {
	return f != nil && f.device == id && f.last+1 == n.Counter
}

// next returns the step of a node, which is valid until the next one. With lost it is not known
// which functions run.
func (o *operations) next(n *node, lost bool) *step {
	s := o.now(n.Counter)
	s.node = n
	switch n.Type {
	case typeCircularBufferAllocate, typeDataflowBufferAllocate, typeScratchpadAllocate:
		o.place()
	case typeCircularBufferDeallocateAll:
		o.free(s, lost)
	case typeProgramExecution:
		if f := o.ownFree(); f != nil && n.Unreadable == nil && o.reaches(f.device, n) {
			o.hit(s, lost)
		}
	case typeFunctionStart:
		o.enter(n)
	case typeFunctionEnd:
		if s.aborts = n.Aborted || n.Unreadable != nil; len(o.stack) > 0 { // an unreadable end may be of an exception, which shows less
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

// unfinished returns the step in which the innermost function ends without a node.
func (o *operations) unfinished(at uint64, lost bool) *step {
	s := o.now(at)
	o.end(s, lost)
	return s
}

// finish returns the step of the end of the capture.
func (o *operations) finish(at uint64, lost bool) *step {
	s := o.now(at)
	if len(o.stack) > 0 {
		o.hit(s, lost)
	}
	o.close(s)
	return s
}

// now returns a step without a node.
func (o *operations) now(at uint64) *step {
	o.step = step{at: at, call: o.call()}
	return &o.step
}

// place takes in that something is placed in the innermost function.
func (o *operations) place() {
	o.freeing = nil
	if inner := o.inner(); inner != nil {
		inner.placed = true
	}
}

// free takes in a free of circular buffers.
func (o *operations) free(s *step, lost bool) {
	id := idOf(s.node.DeviceID)
	if s.node.Unreadable != nil || o.hidden.OK && o.hidden.V+1 == s.at {
		o.hidden, s.hides = event.Some(s.at), true
		o.place()
		return
	}
	if s.again = o.freeing.repeats(s.node, id); s.again && !o.known.members.onlyChip(id) {
		o.freeing.last = s.at
		return
	}
	if o.ownFree() != nil {
		o.hit(s, lost)
	}
	o.close(s)
	o.freeing = &freeing{counter: s.at, last: s.at, device: id, depth: len(o.stack)}
	if inner := o.inner(); inner != nil {
		o.freeing.cacheHit, o.freeing.name, o.freeing.start = inner.cacheHit, inner.name, inner.start
		o.freeing.inOp, o.freeing.settled = !o.known.members.onlyChip(id), inner.unread || lost
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
func (o *operations) reaches(id device.ID, n *node) bool {
	if !n.PhysicalDeviceID.OK {
		return false
	}
	ofItsMesh := n.DeviceID.OK && id == device.ID(n.DeviceID.V)
	return ofItsMesh || o.known.members.reaches(id, device.ID(n.PhysicalDeviceID.V))
}

// end ends the innermost function.
func (o *operations) end(s *step, lost bool) {
	s.ends = true
	if f := o.inner(); s.aborts {
		s.noted, f.aborted = f.aborted, true
	}
	if !s.aborts || !o.known.aborts(s.call.start) {
		o.hit(s, lost)
	}
	o.leave()
}

// hit looks at the innermost function, which ends or goes on to its next program: if it
// freed and placed nothing since, or says so, its program came from the cache. What an
// exception ends found nothing there.
func (o *operations) hit(s *step, lost bool) {
	c, f := o.inner(), o.ownFree()
	if o.known.aborted[c.start] || c.unread || lost {
		return
	}
	s.says = c.cacheHit.OK && c.cacheHit.V
	switch {
	case f != nil && (s.says || !c.cacheHit.OK && f.inOp):
	case f == nil && s.says && !c.placed:
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

package tensor

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/google/btree"

	"github.com/cbl1/cbl1/event"
)

// Uses finds the tensors of L1 buffers, and their uses. Ids are those that nodes name, or event.NoDevice.
type Uses struct {
	table   *Table
	live    *btree.BTreeG[*buffer]
	widest  uint64              // bytes on a core of any buffer so far
	tensors map[uint64]*buffer  // by the counters of tensors
	nodes   map[uint64][]uint64 // tensors by buffer node
	running []*call
	coming  map[uint64][]*call  // functions that return a tensor, by the counter of a tensor that is not yet there
	awaited map[uint64][]*call  // functions that take one, the same
	takers  map[uint64][]uint64 // tensors with a connection to a function that is not yet there, by its counter
	views   map[uint64]bool     // tensors without a place

	inputs bool              // a function names an input
	unread bool              // a node cannot be read, or a tensor in L1 is of no known buffer
	trace  event.Opt[uint64] // the first buffer of a trace
}

// A buffer is a buffer in L1 that the capture allocates.
type buffer struct {
	Place
	at       uint64
	tensors  []uint64 // their counters
	shapes   []string
	names    *Tensor // in the table
	last     *call   // the outermost function of its last use
	freed    event.Opt[uint64]
	returned bool // by an outermost function
	viewed   bool // perhaps
	tensor   bool // it may be stale: no L1_SMALL
}

// A Place is where a buffer lies: on the id that a node names, from an address, so many bytes on a core.
type Place struct {
	ID, Address, Size uint64
}

// A call is a function that runs, or one that a tensor to come is returned by.
type call struct {
	Function
	start, end uint64
	path       string    // of all functions that run, once it ended
	outermost  *call     // perhaps itself
	inputs     []*buffer // it takes their tensors
}

// NewUses returns Uses that fill a table anew.
func NewUses(to *Table) *Uses {
	*to = Table{map[uint64]*Tensor{}, map[Place]*Tensor{}}
	return &Uses{
		table: to, tensors: map[uint64]*buffer{}, nodes: map[uint64][]uint64{}, coming: map[uint64][]*call{}, awaited: map[uint64][]*call{}, takers: map[uint64][]uint64{}, views: map[uint64]bool{},
		live: btree.NewG(16, func(a, b *buffer) bool {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Address, b.Address), cmp.Compare(a.at, b.at)) < 0
		}),
	}
}

// Describe records that a buffer node names tensors.
func (u *Uses) Describe(node uint64, tensors []uint64) { u.nodes[node] = tensors }

// Allocate records that a node allocates a buffer in L1 of a buffer node. small: it is in L1_SMALL.
func (u *Uses) Allocate(at uint64, node event.Opt[uint64], place Place, small bool) {
	b := &buffer{Place: place, at: at, tensor: !small, names: &Tensor{}}
	u.widest = max(u.widest, place.Size)
	if u.live.ReplaceOrInsert(b); node.OK {
		for _, c := range u.nodes[node.V] {
			if c > at {
				u.join(b, c)
			}
		}
	}
	u.table.allocated[at] = b.names
}

// join records that a tensor belongs to a buffer.
func (u *Uses) join(b *buffer, tensor uint64) {
	if u.tensors[tensor] != b {
		u.tensors[tensor] = b
		b.tensors = append(b.tensors, tensor)
	}
}

// Trace records that a node allocates a buffer of a trace.
func (u *Uses) Trace(at uint64) {
	if !u.trace.OK {
		u.trace = event.Some(at)
	}
}

// Free records that a node frees the buffer that another one allocated.
func (u *Uses) Free(at uint64, of uint64, place Place) {
	b, ok := u.live.Delete(&buffer{Place: place, at: of})
	if !ok {
		return
	}
	b.freed = event.Some(at)
	u.conclude(b)
	for _, c := range b.tensors {
		delete(u.tensors, c)
	}
}

// Cut records that no node behind has a connection to one before, nor one before to one behind.
func (u *Uses) Cut() {
	clear(u.nodes)
	clear(u.tensors)
	clear(u.coming)
	clear(u.awaited)
	clear(u.takers)
	clear(u.views)
}

// Unread records a node that cannot be read: any use may be hidden.
func (u *Uses) Unread() { u.unread = true }

// Tensor records a tensor, the functions that take it by its connections, and where its parts lie: at address 0 if that is not
// said. A tensor of another memory has no parts. inL1: the node says that it lies in L1.
func (u *Uses) Tensor(at uint64, t *Tensor, takers []uint64, parts []Place, inL1 bool) {
	b := u.tensors[at]
	placed := len(parts) == 0
	for i := 0; i < len(parts) && b == nil; i++ {
		placed = placed || parts[i].Address > 0
		if b = u.lies(parts[i]); b != nil {
			u.join(b, at)
		}
	}
	u.unread = u.unread || inL1 && !placed && b == nil
	for _, c := range u.awaited[at] {
		u.take(c, b)
	}
	if !placed && b == nil {
		u.views[at] = true
	}
	for _, by := range takers {
		if by > at {
			u.takers[by] = append(u.takers[by], at)
		}
		for _, c := range u.running {
			if c.start == by {
				u.inputs = true
				u.take(c, b)
			}
		}
	}
	for _, c := range u.coming[at] {
		switch {
		case b != nil:
			u.give(c, b)
		case !placed:
			c.viewInputs()
		}
	}
	if b != nil {
		b.describe(t)
		return
	}
	for _, part := range parts {
		if part.Size = 0; part.Address > 0 && u.table.before[part] == nil {
			u.table.before[part] = t
		}
	}
}

// Pass records that a node is behind, whatever it was.
func (u *Uses) Pass(at uint64) {
	if len(u.coming)+len(u.awaited)+len(u.takers) > 0 {
		delete(u.coming, at)
		delete(u.awaited, at)
		delete(u.takers, at)
	}
	if len(u.takers)+len(u.views) > maxAhead {
		clear(u.takers)
		clear(u.views)
		u.unread = true
	}
}

// describe adds what a tensor says to its buffer.
func (b *buffer) describe(t *Tensor) {
	switch {
	case len(b.shapes) == 0:
		b.names.Shape, b.names.DType, b.names.Layout = t.Shape, t.DType, t.Layout
	case slices.Contains(b.shapes, t.Shape) || len(b.shapes) > maxShapes:
		return
	default:
		b.names.Others++
	}
	b.shapes = append(b.shapes, t.Shape)
}

// maxAhead is how many tensors are remembered that are a view perhaps, or have a function to come.
const maxAhead = 1 << 16

// maxShapes is how many other shapes of a buffer are counted.
const maxShapes = 99

// lies returns the live buffer in which an address lies.
func (u *Uses) lies(at Place) (found *buffer) {
	if at.Address == 0 {
		return nil
	}
	u.live.DescendLessOrEqual(&buffer{Place: at, at: math.MaxUint64}, func(b *buffer) bool {
		if b.ID == at.ID && at.Address-b.Address < max(b.Size, 1) {
			found = b
		}
		return false
	})
	return found
}

// A Function is a call of an operation, and the file and line that it came from, if that is known.
type Function struct{ Name, Caller string }

// Enter records that a function begins, with the counters of the tensors that it takes.
func (u *Uses) Enter(at uint64, f Function, inputs []uint64) {
	c := &call{Function: f, start: at}
	if c.outermost = c; len(u.running) > 0 {
		c.outermost = u.running[0]
	}
	u.running = append(u.running, c)
	for _, tensor := range inputs {
		if u.inputs = true; tensor > at {
			u.awaited[tensor] = append(u.awaited[tensor], c)
			continue
		}
		u.take(c, u.tensors[tensor])
	}
	for _, tensor := range u.takers[at] {
		u.inputs = true
		u.take(c, u.tensors[tensor])
	}
}

// take records that a function takes the tensor of a buffer.
func (u *Uses) take(c *call, b *buffer) {
	if b == nil || strings.HasSuffix(c.Name, "deallocate") {
		return
	}
	c.inputs = append(c.inputs, b)
	b.use(c)
}

// viewInputs records that a function returns a tensor without a place, which may be a view of what it takes.
func (c *call) viewInputs() {
	for _, in := range c.inputs {
		in.viewed = true
	}
}

// use records that a function uses a buffer until the outermost one ends.
func (b *buffer) use(c *call) {
	if b.last == nil || b.last.start < c.outermost.start {
		b.last = c.outermost
	}
}

// Leave records that the innermost function ends, with the counters of the tensors that it returns.
func (u *Uses) Leave(at uint64, returns []uint64) {
	last := len(u.running) - 1
	if last < 0 {
		return
	}
	c := u.running[last]
	var path []string
	for _, of := range u.running {
		path = append(path, of.Name)
	}
	c.path, u.running = strings.Join(path, " > "), u.running[:last]
	for _, tensor := range returns {
		if b := u.tensors[tensor]; b != nil {
			u.give(c, b)
		} else if tensor > at {
			u.coming[tensor] = append(u.coming[tensor], c)
		} else if u.views[tensor] {
			c.viewInputs()
		}
	}
	c.end = at
}

// give records that a function returns the tensor of a buffer.
func (u *Uses) give(c *call, b *buffer) {
	b.use(c)
	b.returned = b.returned || c.outermost == c
	if b.at > c.start && !strings.HasSuffix(c.Name, "create_device_tensor") {
		b.names.Output, b.names.OutputAt, b.names.Caller = c.path, c.start, c.Caller
	}
}

// Global records that a global circular buffer lies at a place of each of some ids.
func (u *Uses) Global(at Place, ids []uint64) {
	if len(u.running) == 0 || at.Address == 0 {
		return
	}
	for _, id := range ids {
		at.ID = id
		u.live.DescendLessOrEqual(&buffer{Place: at, at: math.MaxUint64}, func(b *buffer) bool {
			if b.ID != id || at.Address-b.Address >= max(u.widest, 1) {
				return false
			}
			if at.Address-b.Address < b.Size {
				b.use(u.running[0])
			}
			return true
		})
	}
}

// End completes the table.
func (u *Uses) End() {
	u.live.Ascend(func(b *buffer) bool {
		u.conclude(b)
		return true
	})
	for at, t := range u.table.allocated {
		if !u.inputs || u.unread {
			t.LastUse, t.Freed = event.Opt[uint64]{}, event.Opt[uint64]{}
		}
		if *t == (Tensor{}) {
			delete(u.table.allocated, at)
		}
	}
}

// conclude keeps the last use of a buffer if that is certain.
func (u *Uses) conclude(b *buffer) {
	replayed := u.trace.OK && (!b.freed.OK || b.freed.V > u.trace.V)
	if !b.tensor || !b.returned || b.viewed || replayed || len(b.shapes) == 0 || b.last.end == 0 {
		return
	}
	b.names.LastUse, b.names.Freed = event.Some(b.last.end), b.freed
}

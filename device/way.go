package device

// A crossing is where the ways of changes begin and end: a set of programs (state) or of
// buffers (heap). From a crossing, "with P" and "without P" lead along ways that were
// gone before, without a look at any hash:
//
//	S --with P--> S+P        remembered when the first device goes there,
//	S <-without P-- S+P      in both directions
//
// A way is two ends and the name of the farther one. A crossing whose set changes, or
// that ends, has another name from then on: so a way ends with either end, and nobody
// has to look for the ways that lead here. A crossing remembers two ways.
type crossing[T any] struct {
	self *T
	name uint64 // of what is here now, never given twice in a fleet; 0 = it has ended
	ways [2]way[T]
}

// A way leads to what a crossing becomes when one thing leaves it and another one comes.
type way[T any] struct {
	old, new uint64 // serial numbers; 0 = nothing
	to       *crossing[T]
	name     uint64 // of to, when it was there
}

// open reports whether the way still leads to where it led.
func (w *way[T]) open() bool { return w.to != nil && w.name == w.to.name }

// follow returns where the way of a change leads, nil if none is known.
func (c *crossing[T]) follow(old, new uint64) *T {
	for i := range c.ways {
		if w := &c.ways[i]; w.old == old && w.new == new && w.open() {
			if i > 0 {
				c.ways[0], c.ways[i] = c.ways[i], c.ways[0]
			}
			return c.ways[0].to.self
		}
	}
	return nil
}

// connect remembers the way from c to another crossing, and the way back.
func (c *crossing[T]) connect(to *crossing[T], old, new uint64) {
	c.keep(way[T]{old, new, to, to.name})
	to.keep(way[T]{new, old, c, c.name})
}

// keep remembers a way instead of one that has ended, or of the one that was gone least
// lately.
func (c *crossing[T]) keep(w way[T]) {
	if c.ways[0].open() {
		c.ways[1] = c.ways[0]
	}
	c.ways[0] = w
}

// rename says that something else is here from now on. All ways end.
func (c *crossing[T]) rename(name uint64) { c.name, c.ways = name, [2]way[T]{} }

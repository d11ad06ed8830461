package lookup

// A Crossing is where the ways of changes begin and end: a set of programs or of
// buffers. From a crossing, "with P" and "without P" lead along ways that were
// gone before, without a look at any hash:
//
//	S --with P--> S+P        remembered when the first device goes there,
//	S <-without P-- S+P      in both directions
//
// A way is two ends and the name of the farther one. A crossing whose set changes, or
// that ends, has another name from then on: so a way ends with either end, and nobody
// has to look for the ways that lead here. A crossing remembers two ways.
type Crossing[T any] struct {
	Self *T
	Name uint64 // of what is here now, never given twice in a fleet; 0 = it has ended
	Ways [2]Way[T]
}

// A Way leads to what a crossing becomes when one thing leaves it and another one comes.
type Way[T any] struct {
	Old, New uint64 // serial numbers; 0 = nothing
	To       *Crossing[T]
	name     uint64 // of To, when it was there
}

// Open reports whether the way still leads to where it led.
func (w *Way[T]) Open() bool { return w.To != nil && w.name == w.To.Name }

// Follow returns where the way of a change leads, nil if none is known.
func (c *Crossing[T]) Follow(old, new uint64) *T {
	for i := range c.Ways {
		if w := &c.Ways[i]; w.Old == old && w.New == new && w.Open() {
			if i > 0 {
				c.Ways[0], c.Ways[i] = c.Ways[i], c.Ways[0]
			}
			return c.Ways[0].To.Self
		}
	}
	return nil
}

// Connect remembers the way from c to another crossing, and the way back.
func (c *Crossing[T]) Connect(to *Crossing[T], old, new uint64) {
	c.keep(Way[T]{old, new, to, to.Name})
	to.keep(Way[T]{new, old, c, c.Name})
}

// keep remembers a way instead of one that has ended, or of the one that was gone least
// lately.
func (c *Crossing[T]) keep(w Way[T]) {
	if c.Ways[0].Open() {
		c.Ways[1] = c.Ways[0]
	}
	c.Ways[0] = w
}

// Rename says that something else is here from now on. All ways end.
func (c *Crossing[T]) Rename(name uint64) { c.Name, c.Ways = name, [2]Way[T]{} }

package replay

import "github.com/cbl1/cbl1/device"

// A crowd is the devices of a row. Who leaves it is crossed out, and the list is written anew
// when half of it is, so that leaving costs O(1) however many stay:
//
//	0 1 2 3 4 5    2 leaves, 0 leaves    1 (2) 3 4 5
type crowd struct {
	ids  []device.ID        // ascending; the first and the last of them are there
	left map[device.ID]bool // those of ids that are not
}

func (c *crowd) len() int         { return len(c.ids) - len(c.left) }
func (c *crowd) first() device.ID { return c.ids[0] }
func (c *crowd) last() device.ID  { return c.ids[len(c.ids)-1] }

// add adds a device above all others.
func (c *crowd) add(id device.ID) { c.ids = append(c.ids, id) }

// list returns the devices, ascending. It is valid until one is added.
func (c *crowd) list() []device.ID {
	if len(c.left) > 0 {
		fresh := make([]device.ID, 0, c.len())
		for _, id := range c.ids {
			if !c.left[id] {
				fresh = append(fresh, id)
			}
		}
		c.ids, c.left = fresh, nil
	}
	return c.ids
}

// leave takes devices away that are there, but not all.
func (c *crowd) leave(ids []device.ID) {
	for _, id := range ids {
		if c.left == nil {
			c.left = map[device.ID]bool{}
		}
		c.left[id] = true
	}
	for c.left[c.first()] {
		delete(c.left, c.first())
		c.ids = c.ids[1:]
	}
	for c.left[c.last()] {
		delete(c.left, c.last())
		c.ids = c.ids[:len(c.ids)-1]
	}
	if 2*len(c.left) > len(c.ids) {
		c.list()
	}
}

// without returns those that are not among ids, which are ascending.
func (c *crowd) without(ids []device.ID) (rest []device.ID) {
	rest = make([]device.ID, 0, c.len()-len(ids))
	for _, id := range c.list() {
		if len(ids) > 0 && ids[0] == id {
			ids = ids[1:]
			continue
		}
		rest = append(rest, id)
	}
	return rest
}

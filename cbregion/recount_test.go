package cbregion

import "fmt"

// CheckInvariants recomputes from the boundaries everything that v keeps at hand,
// and returns an error that names the first difference.
func (v *Coverage) CheckInvariants() error {
	if v.boundaries == 0 {
		switch {
		case v.bytes != 0:
			return fmt.Errorf("empty coverage with %d bytes", v.bytes)
		case v.root.size() != 0:
			return fmt.Errorf("empty coverage with a root of size %d", v.root.size())
		case v.root.kids != nil:
			return fmt.Errorf("empty coverage with an inner node as root")
		}
		return nil
	}
	if v.root.kids != nil && v.root.size() < 2 {
		return fmt.Errorf("root with %d children", v.root.size())
	}
	c := coverageCheck{v: v, leafDepth: -1}
	if err := c.node(&v.root, 0); err != nil {
		return err
	}
	switch {
	case c.boundaries != v.boundaries:
		return fmt.Errorf("%d boundaries, counted as %d", c.boundaries, v.boundaries)
	case c.count != 0:
		return fmt.Errorf("count %d behind the last boundary", c.count)
	case c.bytes != v.bytes:
		return fmt.Errorf("%d bytes covered, counted as %d", c.bytes, v.bytes)
	}
	return nil
}

// A coverageCheck walks all boundaries in order and counts as a reader of the
// definition would.
type coverageCheck struct {
	v          *Coverage
	boundaries int
	last       uint64 // address of the last boundary
	count      int64  // behind it
	bytes      uint64 // covered so far
	leafDepth  int    // -1 before the first leaf
}

func (c *coverageCheck) node(n *node, depth int) error {
	limit := c.v.limit(n)
	if depth == 0 {
		limit = c.v.most()
	}
	if size := n.size(); size == 0 || size > limit {
		return fmt.Errorf("node of size %d, limit %d", n.size(), limit)
	}
	if n.kids == nil {
		if c.leafDepth < 0 {
			c.leafDepth = depth
		}
		if c.leafDepth != depth {
			return fmt.Errorf("leaves at depths %d and %d", c.leafDepth, depth)
		}
		return c.block(n.block)
	}
	if len(n.block) > 0 {
		return fmt.Errorf("inner node with boundaries")
	}
	kids := n.kids
	for i, k := range kids {
		if err := c.node(&k.node, depth+1); err != nil {
			return err
		}
		if want := newChild(k.node).summary; k.summary != want {
			return fmt.Errorf("summary is %+v, should be %+v", k.summary, want)
		}
		quarter := c.v.limit(&k.node) / 4
		if i > 0 && k.size() <= quarter && kids[i-1].size() <= quarter {
			return fmt.Errorf("neighbours of size %d and %d", kids[i-1].size(), k.size())
		}
	}
	return nil
}

func (c *coverageCheck) block(block []boundary) error {
	for _, b := range block {
		switch {
		case c.boundaries > 0 && b.addr <= c.last:
			return fmt.Errorf("boundary %d follows %d", b.addr, c.last)
		case b.delta == 0:
			return fmt.Errorf("boundary %d without a change", b.addr)
		}
		if c.count > 0 {
			c.bytes += b.addr - c.last
		}
		c.boundaries++
		c.last = b.addr
		c.count += b.delta
		if c.count < 0 {
			return fmt.Errorf("count %d behind %d", c.count, b.addr)
		}
	}
	return nil
}

// CheckInvariants recomputes the whole Counter from its live ranges and returns an error that names
// the first difference.
func (c *Counter) CheckInvariants() error {
	if err := c.cover.CheckInvariants(); err != nil {
		return err
	}
	if c.live == nil {
		switch {
		case c.n != 0:
			return fmt.Errorf("no live ranges, but %d are counted", c.n)
		case !c.cover.IsEmpty():
			return fmt.Errorf("no live ranges, but %d bytes are covered", c.cover.Bytes())
		}
		return nil
	}
	var (
		err   error
		n     int
		last  holding
		delta = make(map[uint64]int64)
	)
	c.live.Ascend(func(h holding) bool {
		switch {
		case h.Check() != nil || h.IsEmpty() || h.times < 1:
			err = fmt.Errorf("live range %v of owner %d, %d times", h.Range, h.owner, h.times)
		case n > 0 && !last.less(h):
			err = fmt.Errorf("live range %v of owner %d follows %v of owner %d", h.Range, h.owner, last.Range, last.owner)
		}
		n += h.times
		last = h
		delta[h.Start] += int64(h.times)
		delta[h.End] -= int64(h.times)
		return err == nil
	})
	if err != nil {
		return err
	}
	if n != c.n {
		return fmt.Errorf("%d live ranges, counted as %d", n, c.n)
	}
	for addr, d := range delta {
		if d == 0 {
			delete(delta, addr)
		}
	}
	if len(delta) != c.cover.Boundaries() {
		return fmt.Errorf("%d boundaries, should be %d", c.cover.Boundaries(), len(delta))
	}
	return c.cover.root.eachBoundary(func(b boundary) error {
		if delta[b.addr] != b.delta {
			return fmt.Errorf("boundary %d has delta %d, should be %d", b.addr, b.delta, delta[b.addr])
		}
		return nil
	})
}

func (n *node) eachBoundary(fn func(boundary) error) error {
	for _, b := range n.block {
		if err := fn(b); err != nil {
			return err
		}
	}
	for i := range n.kids {
		if err := n.kids[i].eachBoundary(fn); err != nil {
			return err
		}
	}
	return nil
}

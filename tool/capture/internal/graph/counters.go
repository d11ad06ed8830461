package graph

// Counters are a set of counters of nodes. Those near each other share a block, so that a
// long capture takes a few bits for each of its buffers.
type Counters map[uint64]*[8]uint64 // by counter/512

// Add adds the counter of a node.
func (c Counters) Add(n uint64) {
	block := c[n>>9]
	if block == nil {
		block = new([8]uint64)
		c[n>>9] = block
	}
	block[n>>6&7] |= 1 << (n & 63)
}

// Remove takes out all of o.
func (c Counters) Remove(o Counters) {
	for at, block := range o {
		if mine := c[at]; mine != nil {
			for i := range mine {
				mine[i] &^= block[i]
			}
		}
	}
}

// Has reports whether the set has the counter of a node.
func (c Counters) Has(n uint64) bool {
	block := c[n>>9]
	return block != nil && block[n>>6&7]>>(n&63)&1 != 0
}

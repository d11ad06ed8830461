package device

// Numbers give out serial numbers, and hashes of them. The zero numbers begin at 1.
type numbers struct {
	last uint64 // given out
	hashes
}

// next returns a number that was not given out before.
func (n *numbers) next() uint64 {
	n.last++
	return n.last
}

package lookup

// Numbers give out serial numbers, and hashes of them. The zero numbers begin at 1.
type Numbers struct {
	Last uint64 // given out
	Hashes
}

// Next returns a number that was never given out before.
func (n *Numbers) Next() uint64 {
	n.Last++
	return n.Last
}

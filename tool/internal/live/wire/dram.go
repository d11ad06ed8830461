package wire

import "github.com/cbl1/cbl1/l1"

// A DRAM is the memory that all cores of a device share, as tt-metal counts it: without the
// firmware's part. The zero DRAM is not known.
type DRAM struct {
	Bytes      uint64
	Channels   uint32 // 0: not known
	PerChannel uint32 // bytes; 0: not known
}

// DRAMOf returns the DRAM of a device. bytes is its declared size. 0 is none: then DRAMOf takes the
// size of the ready-made board with the given name, from tt-metal's description of its chip. It
// returns zero for unknown boards.
func DRAMOf(board string, bytes uint64) DRAM {
	const gib = 1 << 30
	spec, _ := l1.Board(board)
	d := DRAM{Bytes: bytes}
	switch spec.Arch {
	case l1.Wormhole:
		d.Channels, d.PerChannel = 12, gib
	case l1.Blackhole:
		d.Channels, d.PerChannel = 8, 4*gib-16<<20
	case l1.Grayskull:
		d.Channels, d.PerChannel = 8, gib
	}
	if board == "p100" { // one channel is fused off
		d.Channels = 7
	}
	all := uint64(d.Channels) * uint64(d.PerChannel)
	if bytes != 0 && bytes != all {
		return DRAM{Bytes: bytes} // in an unknown number of channels
	}
	d.Bytes = all
	return d
}

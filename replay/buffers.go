package replay

import (
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
)

// A ProgramBuffer is a circular buffer, dataflow buffer or scratchpad of a program.
type ProgramBuffer struct {
	Kind   fit.Kind   `json:"kind"`
	Number int        `json:"cb"`     // position among the program's buffers of this kind, from 0
	Global bool       `json:"global"` // it lies in memory of something else
	Cores  l1.CoreSet `json:"cores"`
	Size   uint64     `json:"size_bytes"` // on each core
	Range  l1.Range   `json:"range"`      // empty if the place is not known, or the size is 0
}

// setBuffers notes what the program in a row of a device places, if somebody asks.
func (r *replay) setBuffers(d *row, row int, c *content) {
	if !r.opt.Buffers {
		return
	}
	f := &d.figures
	for len(f.ProgramsBuffers) <= row {
		f.ProgramsBuffers = append(f.ProgramsBuffers, nil)
	}
	f.ProgramsBuffers[row] = c.placedBuffers()
}

// placedBuffers returns what the programs place, in their order. It is worked out once.
func (c *content) placedBuffers() []ProgramBuffer {
	if c.buffers != nil {
		return c.buffers
	}
	numbers := map[fit.Kind]int{}
	for _, p := range c.programs {
		for _, cb := range p.CBs() {
			kind := fit.Kind(cb.Kind)
			c.buffers = append(c.buffers, ProgramBuffer{kind, numbers[kind], cb.Global, cb.Cores.Cores(), cb.Size, cb.Range})
			numbers[kind]++
		}
	}
	return c.buffers
}

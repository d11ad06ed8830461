package oracle

import (
	"fmt"
	"slices"
)

// barrier is a range that one more L1 buffer could not have at some time: the bytes of a buffer, or
// everything below the end of a program.
type barrier struct {
	cores []core // nil: all
	bytes span
}

// barRun notes the end of a program: on its own cores by bytes, and by tt-metal's regions wherever they are compared.
func (p *player) barRun(c *chip, run program) {
	for _, b := range run.buffers {
		if b.local && b.size > 0 && len(b.cores) > 0 {
			c.barriers = append(c.barriers, barrier{b.cores, span{0, b.addr + b.size}})
		}
	}
	for _, e := range regions(run.buffers) {
		c.barriers = append(c.barriers, barrier{bytes: span{0, e.End}})
	}
}

// barBuffer adds the barrier of a buffer. A buffer without a size has an unknown end.
func (p *player) barBuffer(c *chip, a *alloc) {
	if end := a.end; a.placed {
		if !a.sized {
			end = c.spec.size
		}
		if on := a.cores(c); len(on) > 0 {
			c.barriers = append(c.barriers, barrier{on, span{a.start, end}})
		}
		if on := a.veiled(c); len(on) > 0 { // it may lie anywhere
			c.barriers = append(c.barriers, barrier{on, span{0, c.spec.size}})
		}
	}
}

// Room returns the longest run of bytes between base and L1_SMALL, the highest of equals, that a buffer on some cores of a
// device ("x-y"; nil is all of them) could have had throughout, aligned as L1 buffers of the device are. ok is false if the device is not known.
func (m *L1Results) Room(device string, cores []string) (start, end uint64, ok bool) {
	c := m.chips[device]
	if c == nil {
		return 0, 0, false
	}
	taken := make([]bool, c.spec.size)
	for _, b := range c.barriers {
		touched := cores == nil || b.cores == nil
		for _, x := range b.cores {
			touched = touched || slices.Contains(cores, fmt.Sprintf("%d-%d", x.x, x.y))
		}
		if !touched {
			continue
		}
		for i := b.bytes.start; i < min(b.bytes.end, c.spec.size); i++ {
			taken[i] = true
		}
	}
	top := c.spec.size - min(c.spec.small, c.spec.size)
	from := c.spec.Base
	for i := from; i <= top; i++ {
		if i < top && !taken[i] {
			continue
		}
		if aligned := roundUp(from, c.align); aligned < i && i-aligned >= end-start {
			start, end = aligned, i
		}
		from = i + 1
	}
	return start, end, true
}

package device

import (
	"errors"

	"github.com/cbl1/cbl1/device/internal/bitset"
	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/program"
)

// write puts a residue over the residues of the devices in slots.
func (f *Fleet) write(id program.ID, slots bitset.Bits, over *residue.Residue) error {
	o, err := f.writable(id, slots, over)
	if err == nil {
		f.overwrite(slots, over, &o)
	}
	return err
}

// overwrite is write after writable.
func (f *Fleet) overwrite(slots bitset.Bits, over *residue.Residue, o *overlays) {
	if !o.moves {
		return
	}
	for c := range f.shares(slots) {
		f.leaveOne(f.cut(c), o.of(f, c.left, over))
	}
	f.publishMeshes()
}

// writable refuses to put a residue over the residues of the devices in slots if a
// sum would overflow in the end. It returns the overlays to apply.
func (f *Fleet) writable(id program.ID, slots bitset.Bits, over *residue.Residue) (o overlays, err error) {
	at, err := f.sums(slots, func(m *mesh) uint64 { return m.load }, func(c share) (sum, off, on uint64) {
		to := o.of(f, c.left, over)
		o.moves = o.moves || to != c.left
		return c.load(), c.left.Charged(), to.Charged()
	})
	if errors.Is(err, ErrOverflow) {
		err = of(id, at, err)
	}
	return o, err
}

// overlays maps residues to the residues after a dispatch. It remembers the last one,
// since devices in a row mostly hold the same.
type overlays struct {
	moves    bool // at least one device will change
	known    bool
	from, to *residue.Residue
}

func (o *overlays) of(f *Fleet, under, over *residue.Residue) *residue.Residue {
	if !o.known || under != o.from {
		o.known, o.from, o.to = true, under, f.residues.Over(under, over, &f.numbers)
	}
	return o.to
}

// leaveOne changes the residue of the devices of a cohort.
func (f *Fleet) leaveOne(c *cohort, to *residue.Residue) {
	from := c.left
	if from == to {
		return
	}
	c.left = to
	if c.memory == nil && to.Others() > 0 {
		c.remember(from)
	}
	f.noteLeft(c, to.Total()-from.Total(), to.Charged()-from.Charged()) // wraps and comes back
}

// noteLeft updates the figures of c after the residue of its devices grew by grew bytes, and their load
// by loaded.
func (f *Fleet) noteLeft(c *cohort, grew, loaded uint64) {
	left, n := c.left, uint64(c.n)
	c.resident.Store(left.Total())
	c.residentPeak = max(c.residentPeak, left.Total())
	c.corePeak = max(c.corePeak, left.Fullest())
	if m := c.mesh; m != nil {
		m.sum.Resident += n * grew
		m.load += n * loaded
		if c.memory == nil {
			m.sum.Tracked += n * grew
			m.peak.TrackedCore = max(m.peak.TrackedCore, left.Fullest())
		}
		f.touch(m)
	}
	if c.memory != nil {
		f.noteTracked(c)
	}
}

package oracle

import (
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/l1"
	stated "github.com/cbl1/cbl1/program"
)

// device names the only device of a model.
func device() []uint64 { return []uint64{0} }

func (c *chip) l1Spec() l1.Spec {
	return l1.Spec{L1Size: c.spec.size, L1Small: c.spec.small, CBBase: c.spec.Base, CBAlign: c.spec.Align, L1Align: c.align}
}

// holding returns a model of a device with some buffers, numbered as they come. It checks no grid.
func (c *chip) holding(buffers []*alloc) *model.Fleet {
	f := model.NewFleet()
	if err := f.AddDevice(0, c.l1Spec()); err != nil {
		panic(err)
	}
	for i, a := range buffers {
		if err := f.Allocate(a.stated(c, uint64(i)), device()); err != nil {
			panic(err)
		}
	}
	return f
}

// stated returns a placed buffer as the model has it. tt-metal compares only buffers of kind L1.
func (a *alloc) stated(c *chip, id uint64) model.Buffer {
	b := model.Buffer{ID: id, Kind: model.L1Small, Unsized: !a.sized, Hidden: setOf(a.veiled(c))}
	if a.kind == "L1" {
		b.Kind, b.Mode = model.L1, map[string]model.Mode{"per core": model.PerCore, "range": model.RangeLockstep}[a.mode]
	}
	start := min(a.start, farthest)
	b.Parts = []model.Part{{Cores: setOf(a.cores(c)), Range: l1.Range{Start: start, End: max(start, min(a.end, farthest))}}}
	return b
}

func setOf(cores []core) l1.CoreRangeSet {
	var set []l1.Core
	for _, c := range cores {
		set = append(set, c.l1())
	}
	return l1.CoreSetOf(set...).Ranges()
}

// built returns a program of placed buffers. Those without bytes say nothing.
func (c *chip) built(id int, group []*buffer) *stated.Program {
	b := stated.NewBuilder(stated.ID(id)).AsWritten()
	for _, cb := range cbsOf(group) {
		if cb.Global || cb.Size > 0 {
			b.CB(cb)
		}
	}
	p, err := b.Build(c.l1Spec())
	if err != nil {
		panic(err)
	}
	return p
}

// Room returns the longest run of bytes, the highest of equals, that a buffer on some cores of a device (none: on
// all of them) could have had throughout: beside all buffers and programs that were ever there. It is in lockstep,
// or per core on some cores of a device in HYBRID mode. ok is false if the device is not known.
func (m *L1Results) Room(name string, cores l1.CoreRangeSet) (room l1.Range, ok bool) {
	c := m.chips[name]
	if c == nil {
		return room, false
	}
	f := c.holding(c.held)
	for i, run := range c.runs {
		circulars, others := run.kinds()
		for k, group := range [][]*buffer{circulars, others} {
			if _, err := f.Register(c.built(2*i+k, group), device()); err != nil {
				panic(err)
			}
		}
	}
	mode := model.Lockstep
	if c.hybrid && cores.Len() > 0 {
		mode = model.PerCore
	}
	if g := c.grid; g != nil && cores.Len() == 0 {
		cores = setOf(rect{core{}, core{int(g.cols) - 1, int(g.rows) - 1}}.cores())
	}
	room, err := f.Room(mode, cores, device())
	if err != nil {
		panic(err)
	}
	return room, true
}

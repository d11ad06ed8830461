package capture

import (
	"encoding/binary"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// layouts number the programs of a capture: runs with the same content are one. Memory
// grows with what differs, not with what ran.
type layouts struct {
	byContent map[string]program.ID
	content   []byte
	far       []l1.Core // by program: the largest coordinates that it names
	partly    bool      // some program is shown on a part of its mesh
	locals    []string  // by program: the content of its local buffers, if partly
}

// inside reports whether all cores that a program names are on a grid that the file says.
func (l *layouts) inside(id program.ID, g *grid) bool {
	far := l.far[id]
	return g.from != event.FromFile || int(far.X) < g.cols && int(far.Y) < g.rows
}

// of returns the program of a run on a device whose circular buffers start at base. If it is a new one, cbs are its buffers, placed.
func (l *layouts) of(run []program.CB, spec l1.Spec, base uint64) (id program.ID, cbs []event.CB, err error) {
	l.read(run)
	if !lies(run) {
		l.content = binary.LittleEndian.AppendUint64(l.content, base)
	}
	if id, ok := l.byContent[string(l.content)]; ok {
		return id, nil, nil
	}
	id = program.ID(len(l.byContent))
	spec.CBBase = base
	if cbs, err = placed(id, run, spec); err != nil {
		return 0, nil, err
	}
	l.byContent[string(l.content)] = id
	var far l1.Core
	for _, cb := range run {
		for r := range cb.Cores.All() {
			far = l1.Core{X: max(far.X, r.End.X), Y: max(far.Y, r.End.Y)}
		}
	}
	l.far = append(l.far, far)
	if l.partly {
		l.read(slices.DeleteFunc(slices.Clone(run), func(cb program.CB) bool { return cb.Global }))
		l.locals = append(l.locals, string(l.content))
	}
	return id, cbs, nil
}

// read records all fields by which two runs can differ.
func (l *layouts) read(run []program.CB) {
	to := l.content[:0]
	for _, cb := range run {
		global := byte(0)
		if cb.Global {
			global = 1
		}
		to = append(to, byte(cb.Kind), global)
		to = binary.LittleEndian.AppendUint64(to, cb.Address)
		to = binary.LittleEndian.AppendUint64(to, cb.Size)
		to = binary.LittleEndian.AppendUint32(to, uint32(cb.Cores.Len()))
		for r := range cb.Cores.All() {
			to = append(to, r.Start.X, r.Start.Y, r.End.X, r.End.Y)
		}
	}
	l.content = to
}

// placed gives the buffers of a run their addresses. Circular buffers and the rest are
// placed apart, each from the base on. Where some addresses are recorded and some are
// not, the recorded ones come first: they are facts to place around. Core ranges key the
// placement as the capture writes them: what ttnn builds does not merge them.
func placed(id program.ID, run []program.CB, spec l1.Spec) ([]event.CB, error) {
	if lies(run) {
		out := make([]event.CB, len(run))
		for i, cb := range run {
			out[i].CB = cb
		}
		return out, nil
	}
	var ordered []program.CB
	for _, fixed := range []bool{true, false} {
		for _, cb := range run {
			if cb.Fixed == fixed {
				ordered = append(ordered, cb)
			}
		}
	}
	out := make([]event.CB, len(ordered))
	for _, circular := range []bool{true, false} {
		b, of := program.NewBuilder(id).AsWritten(), []int(nil)
		for i, cb := range ordered {
			if (cb.Kind == program.CircularBuffer) == circular {
				b.CB(cb)
				of = append(of, i)
			}
		}
		p, err := b.Build(spec)
		if err != nil {
			return nil, err
		}
		for k, cb := range p.CBs() {
			to := &out[of[k]]
			to.CB = ordered[of[k]]
			if to.Synthesised = !to.Global && !to.Fixed; to.Synthesised {
				to.Address, to.Fixed = cb.Address, true
			}
		}
	}
	return out, nil
}

// lies reports whether all buffers of a run have an address, and are so small that no sum
// over all cores can be too large: nothing is left to place or to refuse.
func lies(run []program.CB) bool {
	const cores = 1 << 16 // of the largest grid
	sum := uint64(0)
	for _, cb := range run {
		if sum += cb.Size; !cb.Fixed || sum > l1.MaxAddr/cores {
			return false
		}
	}
	return true
}

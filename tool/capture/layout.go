package capture

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// layouts number the programs of a capture: runs with the same content are one. Memory
// grows with what differs, not with what ran.
type layouts struct {
	byContent map[contentSum]program.ID
	far       []l1.Core    // by program: the largest coordinates that it names
	locals    []contentSum // by program: of its local buffers; empty unless partly
	partly    bool         // some program is shown on a part of its mesh
	seeds     [2]maphash.Seed
	text      []byte
}

// A contentSum is a seeded hash of the buffers of a run, one after the other: a run that grows is not read again from
// its start. With its whole content as the key, a run of 4,000 buffers that grows between others took 200 MB.
type contentSum [2]uint64

func newLayouts(partly bool) *layouts {
	return &layouts{byContent: map[contentSum]program.ID{}, partly: partly, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// inside reports whether all cores that a program names are on a grid that the file says.
func (l *layouts) inside(id program.ID, g *survey.Grid) bool {
	far := l.far[id]
	return g.From != event.FromFile || int(far.X) < g.Cols && int(far.Y) < g.Rows
}

// of returns the program of a run on a device whose circular buffers start at base. If it is a new one, cbs are its
// buffers, placed. A program has one base.
func (l *layouts) of(r *run, spec l1.Spec, base uint64) (id program.ID, cbs []event.CB, err error) {
	r.sum = l.add(r.sum, r.cbs[r.emitted:])
	r.facts.add(r.cbs[r.emitted:])
	key := r.sum
	if !r.lies() || base != spec.CBBase {
		key = l.mix(key, binary.LittleEndian.AppendUint64(l.text[:0], base))
	}
	if id, ok := l.byContent[key]; ok {
		return id, nil, nil
	}
	id = program.ID(len(l.byContent))
	spec.CBBase = base
	if r.lies() {
		cbs = r.asEvents()
	} else if cbs, err = placed(id, r.cbs, spec); err != nil {
		return 0, nil, err
	}
	l.byContent[key] = id
	l.far = append(l.far, r.facts.far)
	if l.partly {
		l.locals = append(l.locals, l.add(contentSum{}, slices.DeleteFunc(slices.Clone(r.cbs), func(cb program.CB) bool { return cb.Global })))
	}
	return id, cbs, nil
}

// mix adds a text to a sum.
func (l *layouts) mix(s contentSum, text []byte) contentSum {
	l.text = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(text, s[0]), s[1])
	return contentSum{maphash.Bytes(l.seeds[0], l.text), maphash.Bytes(l.seeds[1], l.text)}
}

// add adds all fields by which two runs can differ.
func (l *layouts) add(s contentSum, more []program.CB) contentSum {
	for _, cb := range more {
		to, global := l.text[:0], byte(0)
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
		s = l.mix(s, to)
	}
	return s
}

// asEvents returns the buffers of a run for an event. All have an address. A longer form shares the memory of the shorter
// one: without that a run of 2,000 buffers that grows between others took 200 MB.
func (r *run) asEvents() []event.CB {
	r.events = r.events[:min(len(r.events), r.emitted)]
	for _, cb := range r.cbs[len(r.events):] {
		r.events = append(r.events, event.CB{CB: cb})
	}
	return slices.Clip(r.events)
}

// placed gives the buffers of a run their addresses. Circular buffers and the rest are
// placed apart, each from the base on. Where some addresses are recorded and some are
// not, the recorded ones come first: they are facts to place around. Core ranges key the
// placement as the capture writes them: what ttnn builds does not merge them.
func placed(id program.ID, run []program.CB, spec l1.Spec) ([]event.CB, error) {
	circular, others := program.NewBuilder(id).AsWritten(), program.NewBuilder(id).AsWritten()
	var ordered []program.CB
	for _, fixed := range []bool{true, false} {
		for _, cb := range run {
			if cb.Fixed == fixed {
				ordered = append(ordered, cb)
			}
		}
	}
	for _, cb := range ordered {
		if cb.Kind == program.CircularBuffer {
			circular.CB(cb)
		} else {
			others.CB(cb)
		}
	}
	one, err := circular.Build(spec)
	if err != nil {
		return nil, err
	}
	rest, err := others.Build(spec)
	if err != nil {
		return nil, err
	}
	ofCircular, ofOthers := addresses(one), addresses(rest)
	out := make([]event.CB, len(ordered))
	for i, cb := range ordered {
		from := &ofOthers
		if cb.Kind == program.CircularBuffer {
			from = &ofCircular
		}
		out[i] = event.CB{CB: cb, Synthesised: !cb.Global && !cb.Fixed}
		if out[i].Synthesised {
			out[i].Address, out[i].Fixed = (*from)[0], true
		}
		*from = (*from)[1:]
	}
	return out, nil
}

// facts sum up the buffers of a run that have an event, for the layouts and the bottom of L1.
type facts struct {
	far    l1.Core // the largest coordinates that they name
	bytes  uint64  // of all on one core; no more than mostBytes+1
	start  uint64  // 1 + the lowest address of a local one that takes bytes; 0 if there is none
	placed bool    // one has no address
	local  bool    // that is so of a local one
}

// mostBytes is how many bytes on a core are so few that no sum over all cores of the largest grid is too large.
const mostBytes = l1.MaxAddr >> 16

// add adds more buffers: a run that grows is not read again from its start.
func (f *facts) add(more []program.CB) {
	for _, cb := range more {
		for r := range cb.Cores.All() {
			f.far = l1.Core{X: max(f.far.X, r.End.X), Y: max(f.far.Y, r.End.Y)}
		}
		f.bytes = min(f.bytes+min(cb.Size, mostBytes+1), mostBytes+1)
		f.placed, f.local = f.placed || !cb.Fixed, f.local || !cb.Fixed && !cb.Global
		if !cb.Global && cb.Size > 0 && cb.Cores.Len() > 0 && (f.start == 0 || cb.Address < f.start) {
			f.start = cb.Address + 1
		}
	}
}

// lies reports whether all buffers of a run have an address, and are so small that no sum
// over all cores can be too large: nothing is left to place or to refuse.
func (f *facts) lies() bool { return !f.placed && f.bytes <= mostBytes }

// addresses returns the addresses of a program's buffers in creation order.
func addresses(p *program.Program) []uint64 {
	out := make([]uint64, 0, p.Len())
	for _, cb := range p.CBs() {
		out = append(out, cb.Address)
	}
	return out
}

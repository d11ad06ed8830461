package model

import (
	"maps"
	"math/big"
	"slices"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A place is where one kind of things is written: each kind has a last writer of its
// own on each core.
type place struct {
	kind program.Kind
	core l1.Core
}

// A residue holds the bytes of the last program that was dispatched to a core; there may be none.
type residue struct {
	of    *registration
	bytes byteSet
}

// A trace is a captured sequence of dispatches.
type trace struct {
	on       []*device
	recorded []*registration
	ended    bool
	broken   bool // a recorded program left one of the devices
}

// leave notes that a program leaves some devices.
func (t *trace) leave(r *registration, devices []*device) {
	meets := slices.ContainsFunc(t.on, func(d *device) bool { return slices.Contains(devices, d) })
	names := slices.ContainsFunc(t.recorded, func(o *registration) bool { return o.latest() == r })
	t.broken = t.broken || meets && names
}

// latest returns the registration that replaced r, the last of several; r if none did.
func (r *registration) latest() *registration {
	for r.heir != nil {
		r = r.heir
	}
	return r
}

// writes returns the residues of a dispatch: on every core that a CB of a kind names, the bytes of
// the local CBs of that kind.
func (r *registration) writes() map[place]residue {
	out := map[place]residue{}
	for _, cb := range r.program.CBs() {
		for c := range covered(cb.Cores) {
			out[place{cb.Kind, c}] = residue{r, r.picture.kind(cb.Kind).occupied[c]}
		}
	}
	return out
}

// floods reports whether sums would be too large if something was written on devices.
func (f *Fleet) floods(devices []*device, writes map[place]residue) bool {
	return f.overloaded(devices, func(d *device) *big.Int {
		left := maps.Clone(d.left)
		maps.Copy(left, writes)
		return d.load(left)
	})
}

// Dispatch makes a program resident on devices. All of them must have it. The last writer of each
// core wins, other cores keep their bytes.
func (f *Fleet) Dispatch(p program.ID, ids []uint64) error {
	devices, err := f.find(ids)
	wrong := complaints{err}
	r := f.programs[p]
	there := r.everywhere(devices)
	wrong.when(!there, ErrNotRegistered)
	wrong.when(there && len(devices) > 0 && f.floods(devices, r.writes()), ErrOverflow)
	if err := wrong.err(); err != nil {
		return err
	}
	for _, d := range devices {
		maps.Copy(d.left, r.writes())
	}
	f.settle()
	return nil
}

// everywhere reports whether a program is registered on all of some devices.
func (r *registration) everywhere(devices []*device) bool {
	return !slices.ContainsFunc(devices, func(d *device) bool { return r == nil || !r.on[d] })
}

// Evict removes the residues of a program on devices, and returns the devices that held one.
func (f *Fleet) Evict(p program.ID, ids []uint64) (evicted []uint64, err error) {
	devices, err := f.find(ids)
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		had := len(d.left)
		maps.DeleteFunc(d.left, func(_ place, l residue) bool { return l.of.program.ID() == p })
		if len(d.left) < had {
			evicted = append(evicted, d.id)
		}
	}
	return evicted, nil
}

// BeginTrace starts the capture of a trace on devices and returns its number: 1, 2 and
// so on. Refused calls take no number.
func (f *Fleet) BeginTrace(ids []uint64) (id uint64, err error) {
	devices, err := f.find(ids)
	if err != nil {
		return 0, err
	}
	f.captured++
	f.traces[f.captured] = &trace{on: devices}
	return f.captured, nil
}

// NextTrace returns the number that the next trace gets.
func (f *Fleet) NextTrace() uint64 { return f.captured + 1 }

// Record adds a dispatch to a trace that is being captured.
func (f *Fleet) Record(trace uint64, p program.ID) error {
	var wrong complaints
	t := f.traces[trace]
	if t == nil {
		return ErrNoTrace
	}
	wrong.when(t.ended, ErrTraceEnded)
	wrong.when(f.lost(t), ErrNoDevice)
	r := f.programs[p]
	wrong.when(!r.everywhere(t.on), ErrNotRegistered)
	if err := wrong.err(); err != nil {
		return err
	}
	if len(t.on) > 0 {
		t.recorded = append(t.recorded, r)
	}
	return nil
}

// lost reports whether a device of a trace was removed.
func (f *Fleet) lost(t *trace) bool {
	return slices.ContainsFunc(t.on, func(d *device) bool { return f.devices[d.id] != d })
}

// EndTrace ends a capture.
func (f *Fleet) EndTrace(trace uint64) error {
	t := f.traces[trace]
	switch {
	case t == nil:
		return ErrNoTrace
	case t.ended:
		return ErrTraceEnded
	}
	t.ended = true
	return nil
}

// Replay leaves, kind by kind, on each core that a captured trace writes, the bytes of its largest
// program there, as recorded, the last of equals. All of them, or their replacements, must have
// been registered on all its devices ever since. Each of them, as recorded, must fit beside the
// present buffers.
func (f *Fleet) Replay(trace uint64) error {
	t := f.traces[trace]
	switch {
	case t == nil:
		return ErrNoTrace
	case !t.ended:
		return ErrTraceOpen
	}
	var wrong complaints
	wrong.when(f.lost(t), ErrNoDevice)
	peak := map[place]residue{}
	for _, r := range t.recorded {
		wrong.when(t.broken || !r.latest().everywhere(t.on), ErrNotRegistered)
		wrong.when(!f.lost(t) && !judge(r.program, t.on).Fits(), ErrFit)
		for at, l := range r.writes() {
			if had, ok := peak[at]; !ok || had.bytes.count() <= l.bytes.count() {
				peak[at] = l
			}
		}
	}
	wrong.when(!f.lost(t) && f.floods(t.on, peak), ErrOverflow)
	if err := wrong.err(); err != nil {
		return err
	}
	for _, d := range t.on {
		maps.Copy(d.left, peak)
	}
	f.settle()
	return nil
}

// ReleaseTrace forgets a trace. Its residues stay.
func (f *Fleet) ReleaseTrace(trace uint64) error {
	if f.traces[trace] == nil {
		return ErrNoTrace
	}
	delete(f.traces, trace)
	return nil
}

// Traces returns the numbers of the traces that were not released, ascending.
func (f *Fleet) Traces() []uint64 { return slices.Sorted(maps.Keys(f.traces)) }

// Trace returns the devices of a trace, ascending, and whether its capture has ended.
// ok is false if there is none of that number.
func (f *Fleet) Trace(id uint64) (on []uint64, ended, ok bool) {
	t := f.traces[id]
	if t == nil {
		return nil, false, false
	}
	for _, d := range t.on {
		on = append(on, d.id)
	}
	return on, t.ended, true
}

// Resident returns the id of the program whose circular buffers were dispatched to a
// core last, and the regions of the bytes that it left there. ok is false if none was.
func (f *Fleet) Resident(id uint64, core l1.Core) (p program.ID, regions []l1.Range, ok bool) {
	if d := f.devices[id]; d != nil {
		if l, ok := d.left[place{program.CircularBuffer, core}]; ok {
			return l.of.program.ID(), l.bytes.regions(), true
		}
	}
	return 0, nil, false
}

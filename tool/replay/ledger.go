package replay

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/program"
	"github.com/cbl1/cbl1/tool/replay/internal/source"
)

// A ledger has the fleets that count programs by kind of buffer. In a log a program is registered and alive until
// it is unregistered. In a capture a program that ran stays registered, and is alive until its free.
type ledger struct {
	state             *source.State // its fleet has circular buffers as registered
	registered, alive [source.NumKinds]*device.Fleet
}

// newLedger returns a ledger beside the fleet of a source, which is a log until its header says otherwise.
func newLedger(state *source.State) ledger {
	l := ledger{state: state, registered: [source.NumKinds]*device.Fleet{program.CircularBuffer: &state.Fleet}}
	l.begin()
	return l
}

// begin makes the fleets when the source is known.
func (l *ledger) begin() {
	for kind := range source.NumKinds {
		if l.registered[kind] == nil {
			l.registered[kind] = device.NewFleet()
		}
		if l.alive[kind] = l.registered[kind]; l.state.Captured {
			l.alive[kind] = device.NewFleet()
		}
	}
}

// register counts a program on a device as registered.
func (l *ledger) register(d *row, c *source.Content) error { return l.count(d, c, &l.registered) }

// live counts a program on a device as alive.
func (l *ledger) live(d *row, c *source.Content) error { return l.count(d, c, &l.alive) }

// count counts a program on a device in fleets.
func (l *ledger) count(d *row, c *source.Content, in *[source.NumKinds]*device.Fleet) error {
	for kind, counted := range c.Counted {
		if f := in[kind]; counted != nil && f != &l.state.Fleet {
			set, err := d.in(f, counted.Spec)
			if err != nil {
				return err
			}
			if _, err := f.Register(counted, set); err != nil {
				return err
			}
		}
	}
	return nil
}

// end records that a program is not alive any more.
func (l *ledger) end(d *row, c *source.Content) error {
	for kind, counted := range c.Counted {
		if counted == nil || l.alive[kind] == &l.state.Fleet {
			continue
		}
		set, err := d.in(l.alive[kind], nil)
		if err == nil {
			err = l.alive[kind].Unregister(counted.ID(), set)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove removes the devices of a row.
func (l *ledger) remove(d *row) error {
	for _, f := range l.registered {
		if f == &l.state.Fleet {
			continue
		}
		set, err := d.in(f, nil)
		if err == nil {
			err = f.Remove(set)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keep copies the high-water marks that the fleets have for a device.
func (l *ledger) keep(d *row) {
	f := &d.figures
	if t, ok := totalsOf(l.alive[program.CircularBuffer], d.slot); ok {
		f.LogicalPeak, f.ResidentPeak, f.CorePeak = max(f.LogicalPeak, t.Peak.Logical), max(f.ResidentPeak, t.Peak.Registered), max(f.CorePeak, t.Peak.Core)
	}
	for _, of := range f.Others() {
		if t, ok := totalsOf(l.alive[of.Kind], d.slot); ok {
			of.ResidentPeak, of.CorePeak = max(of.ResidentPeak, t.Peak.Registered), max(of.CorePeak, t.Peak.Core)
		}
	}
}

// reset begins the high-water marks of a device anew. The session's fleet does so for the event.
func (l *ledger) reset(d *row) {
	for _, f := range l.alive {
		for _, id := range d.members.List() {
			if dev, err := f.Device(id); err == nil && f != &l.state.Fleet {
				dev.ResetPeaks()
			}
		}
	}
}

// totalsOf returns what a fleet has of a device, if it has it.
func totalsOf(f *device.Fleet, id device.ID) (device.Totals, bool) {
	d, err := f.Device(id)
	if err != nil {
		return device.Totals{}, false
	}
	return d.Totals(), true
}

// finish completes the registered figures of a row.
func (l *ledger) finish(d *row) {
	f := &d.figures
	for _, of := range f.Others() {
		if t, ok := totalsOf(l.registered[of.Kind], d.slot); ok {
			of.Registered, of.RegisteredCorePeak = t.Registered, max(t.Core, of.CorePeak)
			if !l.state.Captured {
				of.RegisteredLogical = t.Logical
			}
		}
	}
	t := d.dev.Totals()
	f.Registered, f.RegisteredCoreFinal, f.RegisteredRangeGranular = t.Registered, t.Core, t.Reserved
	f.RegisteredCorePeak = max(t.Core, f.CorePeak) // in a log, alive is registered; in a capture, no program is unregistered
	if !l.state.Captured {
		f.RegisteredLogical = t.Logical
	}
}

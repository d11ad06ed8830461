package device

import (
	"slices"

	"github.com/cbl1/cbl1/device/internal/residue"
	"github.com/cbl1/cbl1/program"
)

// A TraceID names a captured command trace of a fleet.
type TraceID uint64

// A trace is a captured sequence of dispatches. While it runs, all its programs keep
// their bytes, so that a replay counts the largest of them on each core.
type trace struct {
	on       Set
	recorded []recording // each program once, in the order of its last recording
	ended    bool
	peak     *residue.Residue // after the end
}

// BeginTrace starts the capture of a command trace on the devices of s. Capturing
// changes nothing on them. It takes memory until ReleaseTrace. Errors: ErrForeignSet;
// ErrNoDevice for a removed device.
func (f *Fleet) BeginTrace(s Set) (_ TraceID, err error) {
	defer named("BeginTrace", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(s); err != nil {
		return 0, err
	}
	f.lastTrace++
	if f.traces == nil {
		f.traces = map[TraceID]*trace{}
	}
	f.traces[f.lastTrace] = &trace{on: s}
	f.emit(Notice{Kind: NoticeTraceBegun, Set: s, Trace: f.lastTrace})
	return f.lastTrace, nil
}

// Record adds a dispatch of a program to a trace that is being captured. The program
// must be registered on all devices of the trace, since it has to run once before it
// can be captured. The trace records the registered layout. Cost: O(programs of the
// trace).
//
// Errors, the first that applies: ErrNoTrace or ErrTraceEnded; ErrNoDevice for a
// device that was removed meanwhile; ErrNotRegistered.
func (f *Fleet) Record(id TraceID, p program.ID) (err error) {
	defer named("Record", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.capturing(id)
	if err != nil {
		return err
	}
	r, err := f.registered(p, t.on)
	if err != nil {
		return err
	}
	if r != nil {
		t.record(r, f.operation)
		f.emit(Notice{Kind: NoticeTraceRecorded, Trace: id, Program: r.Program})
	}
	return nil
}

// record adds r as the last program. A program that is recorded again keeps the time
// of its first recording.
func (t *trace) record(r *registration, now uint64) {
	next := recording{r, now}
	if i := slices.IndexFunc(t.recorded, func(o recording) bool { return o.registration == r }); i >= 0 {
		next = t.recorded[i]
		t.recorded = slices.Delete(t.recorded, i, i+1)
	} else {
		r.heritage().traces++
	}
	t.recorded = append(t.recorded, next)
}

// EndTrace ends the capture, so that the trace can be replayed. It changes nothing on
// the devices. Cost: O(programs of the trace x groups of cores). Errors: ErrNoTrace,
// ErrTraceEnded.
func (f *Fleet) EndTrace(id TraceID) (err error) {
	defer named("EndTrace", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.capturing(id)
	if err != nil {
		return err
	}
	t.ended = true
	var peak []residue.Piece
	for _, r := range t.recorded {
		peak = residue.Larger(peak, f.piecesOf(r.registration))
	}
	t.peak = f.residues.Of(peak, &f.numbers)
	f.emit(Notice{Kind: NoticeTraceEnded, Trace: id})
	return nil
}

// Replay makes a captured trace resident on its devices: on each core that it writes,
// the ranges of its largest program there, the last of equals. Other cores keep their
// content. All its devices change, or none.
//
// The programs must have stayed on all devices of the trace since they were recorded.
// A program that left one of them and was registered there again is another program.
// A program that was resized or replaced leaves the layout of its recording: a trace
// repeats the commands of its capture.
//
// A replay is judged like an enqueue: each program of the trace runs, whatever the
// others leave, so that each has to fit as recorded. The observer gets an
// NoticeRefused for one that does not. Cost: a Dispatch, and the check of an Enqueue
// for each recorded program; O(devices) for each that left a device since the last
// replay.
//
// Errors, the first that applies: ErrNoTrace or ErrTraceOpen; ErrNoDevice for a
// device that was removed meanwhile; ErrNotRegistered of a recorded program that is
// gone; the fit.Verdict of the first program of the trace that does not fit;
// ErrOverflow.
func (f *Fleet) Replay(id TraceID) (err error) {
	defer named("Replay", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.trace(id)
	if err != nil {
		return err
	}
	if !t.ended {
		return ofTrace(id, ErrTraceOpen)
	}
	if err := f.check(t.on); err != nil {
		return err
	}
	for i := range t.recorded {
		if err := f.strayed(&t.recorded[i], t.on); err != nil {
			err.About, err.Trace = err.About|AboutTrace, id
			return err
		}
	}
	if t.on.s == nil {
		return nil
	}
	if err := f.replays(id, t); err != nil {
		return err
	}
	if t.peak != nil { // it has circular buffers
		if err := f.write(t.recorded[len(t.recorded)-1].Program.ID(), t.on.s.slots, t.peak); err != nil {
			return err
		}
	}
	f.emit(Notice{Kind: NoticeTraceReplayed, Set: t.on, Trace: id})
	return nil
}

// strayed refuses a recorded program that has not stayed on all devices of a trace.
func (f *Fleet) strayed(r *recording, on Set) *Error {
	p := r.Program.ID()
	if err := f.lacking(p, on, r.latest().on.Bits); err != nil {
		return err
	}
	if slot, ok := r.departed(on); ok {
		return of(p, f.ids[slot], ErrNotRegistered)
	}
	return nil
}

// replays refuses a trace with a program that does not fit.
func (f *Fleet) replays(id TraceID, t *trace) error {
	for _, recorded := range t.recorded {
		r := recorded.registration
		if f.fitsStill(r, t.on) {
			continue
		}
		all, err := f.sitesOf(r.Program, t.on)
		if err != nil {
			return err
		}
		if v := judge(r.Program, all); !v.Fits() {
			f.emit(Notice{Kind: NoticeRefused, Set: t.on, Trace: id, Program: r.Program, Verdict: v})
			return ofProgram(r.Program.ID(), v)
		}
		f.fitted(r, t.on)
	}
	return nil
}

// ReleaseTrace forgets a trace, captured or being captured. The residue of its
// replays stays. Errors: ErrNoTrace.
func (f *Fleet) ReleaseTrace(id TraceID) (err error) {
	defer named("ReleaseTrace", &err)
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.trace(id)
	if err != nil {
		return err
	}
	for _, r := range t.recorded {
		r.heirs.release()
	}
	delete(f.traces, id)
	f.emit(Notice{Kind: NoticeTraceReleased, Trace: id})
	return nil
}

// capturing returns a trace that did not end yet.
func (f *Fleet) capturing(id TraceID) (*trace, error) {
	t, err := f.trace(id)
	if err == nil && t.ended {
		err = ofTrace(id, ErrTraceEnded)
	}
	return t, err
}

func (f *Fleet) trace(id TraceID) (*trace, error) {
	t := f.traces[id]
	if t == nil {
		return nil, ofTrace(id, ErrNoTrace)
	}
	return t, nil
}

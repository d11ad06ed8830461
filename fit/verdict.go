package fit

import (
	"fmt"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A Verdict reports whether a program fits beside the content of L1, by two judges. tt-metal's
// checks compare the end of the charged ranges with an address. Our own check compares bytes core
// by core. The zero Verdict concerns no program, and fits.
//
// A Verdict does not change later. If the program does not fit, the Verdict keeps a copy of the
// places with their buffers in L1: Difference and Advice read the copy.
type Verdict struct {
	Program *program.Program

	// Refusals are the refusals of tt-metal, in the order of its checks; it stops at the first. The
	// mode of each device is the mode of its allocator.
	Refusals []*Refusal
	// Hybrid are the same with every allocator in HYBRID mode, where the L1 buffers of all places
	// count. The modes of the buffers stay.
	Hybrid []*Refusal
	// Clashes are the cores on which bytes of the program are beyond L1, or are held by
	// something else; by device, then first core.
	Clashes []Clash

	// Doubts are regions that tt-metal may refuse or not. There are none beside refusals and
	// clashes, which decide.
	Doubts []Doubt

	judged sites               // for Difference and Advice, if the program does not fit
	name   func(Buffer) string // of Named
}

// Error is String: a Verdict that does not fit is the cause of a refusal.
func (v Verdict) Error() string { return v.String() }

// Fits reports whether tt-metal accepts the program and no byte clashes. It is false if
// that is not known: see CannotTell.
func (v Verdict) Fits() bool {
	return len(v.Refusals) == 0 && len(v.Clashes) == 0 && len(v.Doubts) == 0
}

// CannotTell reports whether the fit of the program is unknown: Doubts hold the reasons.
func (v Verdict) CannotTell() bool { return len(v.Doubts) > 0 }

// A RefusalKind names the check of tt-metal that refuses a program.
type RefusalKind string

// The checks. (validate_circular_buffer_region and validate_circular_buffer_core_ranges
// of tt_metal/impl/program/program.cpp.)
const (
	RefusedGrow    RefusalKind = "grow"          // the region ends beyond L1
	RefusedClash   RefusalKind = "clash"         // the lowest L1 buffer starts below the end of the region
	RefusedService RefusalKind = "service-clash" // the same on a service core
	RefusedGrid    RefusalKind = "grid"          // a core range beyond the compute grid
)

// A Refusal is an error of tt-metal's, on one core range of a program. Its Error is
// tt-metal's own text.
type Refusal struct {
	Kind    RefusalKind
	What    program.Kind // circular or dataflow buffers; scratchpads are among the latter
	Program program.ID
	Device  DeviceID // the first of them
	Devices int      // that refuse it with the same figures
	Cores   l1.CoreRange
	End     uint64 // where the region ends
	Limit   uint64 // the size of L1, or the address of the lowest buffer
	Cols    int    // of the grid
	Rows    int
}

// Over returns the bytes by which the region is too large, 0 for RefusedGrid.
func (r *Refusal) Over() uint64 { return r.End - min(r.End, r.Limit) }

// Buffers returns the name of the buffers in the text: "circular" or "dataflow".
func (r *Refusal) Buffers() string {
	if r.What == program.CircularBuffer {
		return "circular"
	}
	return "dataflow"
}

// Error returns the text with which tt-metal refuses the program.
func (r *Refusal) Error() string {
	what := r.Buffers()
	switch r.Kind {
	case RefusedGrow:
		return fmt.Sprintf("Statically allocated %s buffers on core range %v grow to %d B which is beyond max L1 size of %d B", what, r.Cores, r.End, r.Limit)
	case RefusedService:
		return fmt.Sprintf("Circular buffers on service-core range %v in program %d clash with ServiceCoreManager-allocated L1 (lowest service allocation at %d, CB region ends at %d)",
			r.Cores, r.Program, r.Limit, r.End)
	case RefusedGrid:
		return fmt.Sprintf("Circular buffer core range %v in program %d exceeds device compute grid (%dx%d) and is not entirely on cores claimed via ServiceCoreManager",
			r.Cores, r.Program, r.Cols, r.Rows)
	}
	return fmt.Sprintf("Statically allocated %s buffers in program %d clash with L1 buffers on core range %v. L1 buffer allocated at %d and static %s buffer region ends at %d",
		what, r.Program, r.Cores, r.Limit, what, r.End)
}

// A Clash is a set of cores on which a program does not fit, by the bytes that are
// really there.
type Clash struct {
	Device  DeviceID // the first of them
	Devices int      // with the same buffers
	Cores   l1.CoreSet

	End   uint64 // where the program's region ends on these cores
	Limit uint64 // where the lowest thing in its way starts, or the size of L1
	Grows bool   // it ends beyond L1; Limit is the size of L1

	Bytes uint64 // of each core that are beyond L1 or held by something else too
}

// Over returns the bytes by which the region must shrink on each core.
func (c Clash) Over() uint64 { return c.End - min(c.End, c.Limit) }

// A Resident is something that holds bytes of a core.
type Resident struct {
	Kind    Kind
	Range   l1.Range
	Program *program.Program // of a circular buffer, dataflow buffer or scratchpad; else nil
	CB      int              // its position in that program, else -1
	Buffer  Buffer           // of the other kinds
}

// A Hole is a run of free bytes on a core that placement cannot use.
type Hole struct {
	Range l1.Range
	Why   string
}

// String describes the verdict in one line: the text of tt-metal's first refusal, or where bytes
// clash.
func (v Verdict) String() string {
	switch {
	case len(v.Refusals) > 0:
		return v.Refusals[0].Error()
	case len(v.Clashes) > 0:
		return v.clashText(v.Clashes[0])
	case len(v.Doubts) > 0:
		return fmt.Sprintf("cannot tell whether program %d fits: %s", v.Program.ID(), v.Doubts[0])
	case v.Program == nil:
		return "no program: nothing to fit"
	}
	return fmt.Sprintf("%v fits", v.Program)
}

// A DoubtKind is the reason why the fit of a program is unknown.
type DoubtKind string

// The doubts.
const (
	DoubtRange  DoubtKind = "range-lockstep"  // whether a buffer in range lockstep counts on other cores is not known
	DoubtHidden DoubtKind = "per-core-hidden" // where a buffer that was allocated per core lies on some cores is not known
)

// A Doubt is a region of a program that tt-metal may refuse: that depends on
// something about a buffer that is not known.
type Doubt struct {
	Kind    DoubtKind
	Device  DeviceID // the first of them
	Devices int      // with the same buffers
	What    program.Kind
	Cores   l1.CoreRange // of the region
	End     uint64       // of the region
	Buffer  Buffer       // the first that matters
}

// String describes the doubt in one line.
func (d Doubt) String() string {
	if d.Kind == DoubtRange {
		return fmt.Sprintf("%v has one address on a range of cores: whether tt-metal compares it with core range %v is not known", d.Buffer, d.Cores)
	}
	return fmt.Sprintf("%v was allocated per core, and its address is not known on cores of %v", d.Buffer, d.Cores)
}

// cure describes the way to an answer.
func (v *Verdict) cure(d Doubt) string {
	if d.Kind == DoubtHidden {
		return fmt.Sprintf("say where %s lies on each of its cores", v.called(d.Buffer))
	}
	low := uint64(l1.MaxAddr)
	for p := range d.Buffer.All() {
		low = min(low, p.Range.Start)
	}
	return fmt.Sprintf("end the region at %s at most, or allocate %s per core or in lockstep", grouped(low), v.called(d.Buffer))
}

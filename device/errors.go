package device

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Wrong calls, to be matched with errors.Is. The errors returned carry the device
// and program in question.
var (
	ErrNotRegistered = errors.New("program is not registered")
	ErrNoDevice      = errors.New("no such device")
	ErrDeviceExists  = errors.New("device exists already")
	ErrForeignSet    = errors.New("set of devices of another fleet")
	ErrNoProgram     = errors.New("program is nil")
	ErrNoFleet       = errors.New("device, mesh or set belongs to no fleet")
)

// A DeviceError says which device an operation failed on. Unwrap gives the sentinel.
type DeviceError struct {
	Device ID
	Err    error // ErrNoDevice, ErrDeviceExists
	More   int   // number of further devices with the same trouble
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("device %d%s: %v", e.Device, more(e.More), e.Err)
}

func (e *DeviceError) Unwrap() error { return e.Err }

// A ProgramError says which program an operation failed for, and on which device.
// Unwrap gives the sentinel.
type ProgramError struct {
	Program program.ID
	Device  ID    // 0 if the call named no devices, as Replace
	Err     error // ErrNotRegistered
	More    int   // number of further devices with the same trouble

	noDevice bool
}

func (e *ProgramError) Error() string {
	if e.noDevice {
		return fmt.Sprintf("program %d: %v", e.Program, e.Err)
	}
	return fmt.Sprintf("device %d%s: program %d: %v", e.Device, more(e.More), e.Program, e.Err)
}

func (e *ProgramError) Unwrap() error { return e.Err }

// A ConflictError says that the id of a program is registered already, for another
// footprint or another Spec.
type ConflictError struct {
	Registered, Given string // descriptions of the two programs
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%.135s: its id is taken by %.135s", e.Given, e.Registered)
}

// conflict describes two programs so that they can be told apart.
func conflict(registered, given *program.Program) *ConflictError {
	a, b := registered.String(), given.String()
	if a == b && !registered.Equal(given) {
		of, other := difference(registered, given)
		a = fmt.Sprintf("program %d %s", registered.ID(), of)
		b = fmt.Sprintf("program %d %s", given.ID(), other)
	}
	return &ConflictError{Registered: a, Given: b}
}

// difference says in what two programs that are not Equal differ first.
func difference(p, q *program.Program) (ofP, ofQ string) {
	if field, a, b := specDifference(p.Spec(), q.Spec()); field != "" {
		return "for " + field + " " + a, "for " + field + " " + b
	}
	for kind := program.CircularBuffer; kind <= program.Scratchpad; kind++ {
		for _, of := range []struct {
			verb string
			p, q program.Footprint
		}{
			{"taking ", p.Occupied(kind), q.Occupied(kind)},
			{"reserving ", p.Reserved(kind), q.Reserved(kind)},
		} {
			for i := range max(of.p.NumGroups(), of.q.NumGroups()) {
				if a, b := groupDifference(of.p, of.q, i); a != b {
					return of.verb + a, of.verb + b
				}
			}
		}
	}
	return "on " + coresText(p.Cores()), "on " + coresText(q.Cores())
}

// groupDifference says in what the i-th groups of two footprints differ first, or
// the same of both.
func groupDifference(f, o program.Footprint, i int) (ofF, ofO string) {
	a, b := groupOf(f, i), groupOf(o, i)
	on, onB := coresText(a.Cores()), coresText(b.Cores())
	if on != onB {
		return on, onB
	}
	for k := range max(a.NumRanges(), b.NumRanges()) {
		if r, s := rangeText(a, k), rangeText(b, k); r != s {
			return r + " on " + on, s + " on " + on
		}
	}
	return fmt.Sprintf("%d bytes in CBs on %s", a.Logical(), on), fmt.Sprintf("%d bytes in CBs on %s", b.Logical(), on)
}

// coresText returns the first rectangle of some cores and the number of others.
func coresText(cores l1.CoreSet) string {
	ranges := cores.Ranges()
	for r := range ranges.All() {
		if n := ranges.Len(); n > 1 {
			return fmt.Sprintf("%v (+%d more)", r, n-1)
		}
		return r.String()
	}
	return "no cores"
}

func groupOf(f program.Footprint, i int) program.Group {
	if i < f.NumGroups() {
		return f.Group(i)
	}
	return program.Group{}
}

func rangeText(g program.Group, k int) string {
	if k < g.NumRanges() {
		return g.Range(k).String()
	}
	return "nothing more"
}

// A SpecError says that a program was built for another Spec than a device has. Their sizes
// of L1_SMALL may differ (l1.Spec.Places).
type SpecError struct {
	Program program.ID
	Device  ID
	Built   l1.Spec
	Has     l1.Spec
}

// Error names the first field that differs: Specs may look alike in a few words.
func (e *SpecError) Error() string {
	what, built, has := specDifference(e.Built, e.Has)
	return fmt.Sprintf("device %d: program %d was built for another Spec: %s %s instead of %s", e.Device, e.Program, what, built, has)
}

// specDifference returns the first field in which two Specs differ, and its values;
// "" if there is none.
func specDifference(s, o l1.Spec) (field, ofS, ofO string) {
	for _, f := range []struct {
		name string
		s, o any
	}{
		{"Name", s.Name, o.Name},
		{"Arch", string(s.Arch), string(o.Arch)},
		{"Cols", s.Cols, o.Cols},
		{"Rows", s.Rows, o.Rows},
		{"L1Size", s.L1Size, o.L1Size},
		{"CBBase", s.CBBase, o.CBBase},
		{"CBAlign", s.CBAlign, o.CBAlign},
		{"L1Align", s.L1Align, o.L1Align},
		{"CBIndices", s.CBIndices, o.CBIndices},
	} {
		if f.s != f.o {
			return f.name, value(f.s), value(f.o)
		}
	}
	return "", "", ""
}

// value prints a number, or a text that may be anything, short and quoted.
func value(v any) string {
	const most = 60
	text, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	if text = strconv.QuoteToASCII(text); len(text) > most {
		text = text[:most] + `..."`
	}
	return text
}

// A GridError names a core of a program that lies outside the grid of a device.
type GridError struct {
	Program program.ID
	Device  ID
	Core    l1.Core
	Spec    l1.Spec
}

func (e *GridError) Error() string {
	return fmt.Sprintf("device %d: program %d: core %v lies outside the grid of %dx%d", e.Device, e.Program, e.Core, e.Spec.Cols, e.Spec.Rows)
}

// An OverflowError says that a total of a device or mesh could exceed 2^63-1 because of
// a program. The total is the sum over programs of their logical or reserved bytes,
// whichever is more, or the sum of buffers and dispatched programs. The program is refused
// even where the union would fit.
type OverflowError struct {
	Program program.ID
	Device  ID // the device, or the first of the mesh
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("device %d: program %d: sums would exceed 2^63-1 bytes", e.Device, e.Program)
}

// A BufferOverflowError says that a total of what is resident on a device or mesh,
// buffers and what was dispatched, could exceed 2^63-1 because of a buffer.
type BufferOverflowError struct {
	Buffer BufferID
	Device ID // the device, or the first of the mesh
}

func (e *BufferOverflowError) Error() string {
	return fmt.Sprintf("device %d: buffer %d: sums would exceed 2^63-1 bytes", e.Device, e.Buffer)
}

// A FitError says that a program does not fit, and why.
type FitError struct {
	Verdict fit.Verdict
}

// Error is the text of tt-metal's first refusal, or says where bytes clash.
func (e *FitError) Error() string { return e.Verdict.String() }

// A MeshError says why a mesh or a part of one cannot be.
type MeshError struct {
	First      ID
	Rows, Cols int
	Reason     string
}

func (e *MeshError) Error() string {
	return fmt.Sprintf("mesh of %dx%d devices from %d: %s", e.Rows, e.Cols, e.First, e.Reason)
}

// An InvariantError names a figure with its core, program or mesh, its value and the counted one. It means a
// bug in this package.
type InvariantError struct {
	Device ID
	What   string
	Have   uint64
	Want   uint64
}

func (e *InvariantError) Error() string {
	return fmt.Sprintf("device %d: %s is %d, counted %d", e.Device, e.What, e.Have, e.Want)
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (+%d more)", n)
}

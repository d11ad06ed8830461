package device

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// Causes of errors, to be matched with errors.Is. A refusal because something does
// not fit has the fit.Verdict as its cause, and an illegal Spec the *l1.SpecError.
var (
	ErrNoFleet       = errors.New("device, mesh or set belongs to no fleet")
	ErrForeignSet    = errors.New("set of devices of another fleet")
	ErrNoDevice      = errors.New("no such device")
	ErrDeviceExists  = errors.New("device exists already")
	ErrMesh          = errors.New("no such mesh")
	ErrNoProgram     = errors.New("program is nil")
	ErrNotRegistered = errors.New("program is not registered")
	ErrConflict      = errors.New("its id is taken")        // for another footprint or another Spec
	ErrSpec          = errors.New("built for another Spec") // their sizes of L1_SMALL may differ (l1.Spec.Places)
	ErrGrid          = errors.New("lies outside the grid")  // a core
	ErrOverflow      = errors.New("sums would exceed 2^63-1 bytes")
	ErrBuffer        = errors.New("illegal field")
	ErrAllocated     = errors.New("buffer is allocated already")
	ErrNotAllocated  = errors.New("buffer is not allocated")
	ErrNoTrace       = errors.New("no such trace")
	ErrTraceOpen     = errors.New("trace is still being captured")
	ErrTraceEnded    = errors.New("trace is not being captured any more")
	ErrInvariant     = errors.New("differs from the count") // a bug in this package
)

// An Error holds the call that failed, the device, program, buffer or trace, and the
// cause. All errors of this package are Errors.
//
// ErrOverflow concerns a total of a device or mesh: the larger of the logical and the
// reserved bytes, summed over programs, or the sum of buffers and dispatched
// programs. The program is refused even where the union would fit. For a mesh, Device
// is its first one.
type Error struct {
	Op      string // the method, as "Register"
	About   About  // the ids that apply: 0 is an id too
	Device  ID
	Program program.ID
	Buffer  fit.BufferID
	Trace   TraceID
	More    int   // further devices with the same trouble
	Err     error // the cause: one of this package wraps its sentinel
}

// About is a set of the ids of an Error.
type About uint8

// The ids of an Error.
const (
	AboutDevice About = 1 << iota
	AboutProgram
	AboutBuffer
	AboutTrace
)

// Error names the ids, and then the cause. A Verdict and ErrConflict describe the program themselves.
func (e *Error) Error() string {
	if _, ok := errors.AsType[fit.Verdict](e.Err); ok || errors.Is(e.Err, ErrConflict) {
		return e.Err.Error()
	}
	var b strings.Builder
	if e.About&AboutTrace != 0 {
		fmt.Fprintf(&b, "trace %d: ", e.Trace)
	}
	if e.About&AboutDevice != 0 {
		fmt.Fprintf(&b, "device %d", e.Device)
		if e.More > 0 {
			fmt.Fprintf(&b, " (+%d more)", e.More)
		}
		b.WriteString(": ")
	}
	if e.About&AboutProgram != 0 {
		fmt.Fprintf(&b, "program %d: ", e.Program)
	}
	if e.About&AboutBuffer != 0 {
		fmt.Fprintf(&b, "buffer %d: ", e.Buffer)
	}
	return b.String() + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// named makes an error of a method an Error that names the method.
func named(op string, err *error) {
	if *err == nil {
		return
	}
	e, ok := errors.AsType[*Error](*err)
	if !ok {
		e = &Error{Err: *err}
		*err = e
	}
	e.Op = op
}

// of returns the error of a program on a device.
func of(id program.ID, on ID, err error) *Error {
	return &Error{About: AboutDevice | AboutProgram, Device: on, Program: id, Err: err}
}

// ofProgram returns the error of a program on no particular device.
func ofProgram(id program.ID, err error) *Error {
	return &Error{About: AboutProgram, Program: id, Err: err}
}

// ofBuffer returns the error of a buffer on a device.
func ofBuffer(id fit.BufferID, on ID, err error) *Error {
	return &Error{About: AboutDevice | AboutBuffer, Device: on, Buffer: id, Err: err}
}

// noSense returns the error of a field of a buffer.
func noSense(id fit.BufferID, field string, err error) *Error {
	return &Error{About: AboutBuffer, Buffer: id, Err: fmt.Errorf("%w %s: %w", ErrBuffer, field, err)}
}

// ofDevice returns the error of a device.
func ofDevice(id ID, more int, err error) *Error {
	return &Error{About: AboutDevice, Device: id, More: more, Err: err}
}

// also adds n devices with the same error to e. Without an e it returns next, which
// already concerns one of them.
func (e *Error) also(next *Error, n int) *Error {
	if e == nil {
		e, n = next, n-1
	}
	e.More += n
	return e
}

// ofTrace returns the error of a trace.
func ofTrace(id TraceID, err error) *Error { return &Error{About: AboutTrace, Trace: id, Err: err} }

// noMesh returns the error of an impossible mesh, or part of one.
func noMesh(first ID, rows, cols int, reason string) *Error {
	return ofDevice(first, 0, fmt.Errorf("%w: %dx%d devices: %s", ErrMesh, rows, cols, reason))
}

// conflict describes two programs with one id by their first difference.
func conflict(registered, given *program.Program) *Error {
	a, b := registered.String(), given.String()
	if a == b && !registered.Equal(given) {
		of, other := difference(registered, given)
		a = fmt.Sprintf("program %d %s", registered.ID(), of)
		b = fmt.Sprintf("program %d %s", given.ID(), other)
	}
	return ofProgram(given.ID(), fmt.Errorf("%.135s: %w by %.135s", b, ErrConflict, a))
}

// otherSpec names the first field that differs: the short texts of two Specs may be
// equal.
func otherSpec(p *program.Program, id ID, spec *l1.Spec) *Error {
	field, built, has := specDifference(p.Spec(), *spec)
	return of(p.ID(), id, fmt.Errorf("%w: %s %s instead of %s", ErrSpec, field, built, has))
}

// offGrid names a core of a program that lies outside the grid of a device.
func offGrid(p *program.Program, c share, core l1.Core) *Error {
	return of(p.ID(), c.id(), fmt.Errorf("core %v %w of %dx%d", core, ErrGrid, c.spec.Cols, c.spec.Rows))
}

// difference describes the first difference of two programs that are not Equal.
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
				if a, b := firstDifference(groupTexts(of.p, i), groupTexts(of.q, i)); a != b {
					return of.verb + a, of.verb + b
				}
			}
		}
	}
	return "on " + p.Cores().Brief(), "on " + q.Cores().Brief()
}

// groupTexts lists the content of the i-th group of a footprint, and ends with
// "nothing more".
func groupTexts(f program.Footprint, i int) (out []string) {
	if i < f.NumGroups() {
		g := f.Group(i)
		on := g.Cores().Brief()
		out = append(out, on)
		for r := range g.Ranges() {
			out = append(out, r.String()+" on "+on)
		}
		out = append(out, fmt.Sprintf("%d bytes in CBs on %s", g.Logical(), on))
	}
	return append(out, "nothing more")
}

// firstDifference returns the first texts that differ. Both lists end with the same
// text.
func firstDifference(a, b []string) (ofA, ofB string) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i], b[i]
		}
	}
	return "", ""
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

// value prints a number, or an arbitrary text, short and quoted.
func value(v any) string {
	if text, ok := v.(string); ok {
		return fmt.Sprintf("%.60s", strconv.QuoteToASCII(text))
	}
	return fmt.Sprint(v)
}

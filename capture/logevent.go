package capture

import (
	"errors"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// ErrVersion: an event log is of a later version than LogVersion.
var ErrVersion = errors.New("unknown version of the event log")

// A LogKind is the kind of an event as a log spells it.
type LogKind string

// The kinds of events. What each does to a fleet stands at the method of device.Fleet
// with that name.
const (
	LogDevice     LogKind = "device"
	LogMesh       LogKind = "mesh"
	LogRemove     LogKind = "remove"
	LogProgram    LogKind = "program" // defines a program; it is placed when it is registered
	LogRegister   LogKind = "register"
	LogReplace    LogKind = "replace"
	LogUnregister LogKind = "unregister"
	LogDispatch   LogKind = "dispatch"
	LogEnqueue    LogKind = "enqueue"
	LogEvict      LogKind = "evict"
	LogTraceBegin LogKind = "trace_begin"
	LogRecord     LogKind = "record"
	LogTraceEnd   LogKind = "trace_end"
	LogReplay     LogKind = "replay"
	LogRelease    LogKind = "release"
	LogAllocate   LogKind = "allocate"
	LogFree       LogKind = "free"
	LogResetPeaks LogKind = "reset_peaks"
	LogOpStart    LogKind = "op_start"
	LogOpEnd      LogKind = "op_end"

	LogHeader LogKind = "log"   // a header that is not the first line
	LogQuery  LogKind = "query" // a line that asks; its Query says what
	LogTorn   LogKind = "torn"  // a last line that is cut
)

// A LogEvent is one line of an event log. Which fields it has depends on its Kind;
// the others are zero. Sizes and addresses are in bytes.
type LogEvent struct {
	Pos     Pos // Node counts the lines with something on them, the header included
	Kind    LogKind
	Anomaly Anomaly

	T            string // the simulator's time, a number as it was written; "" = none
	Process, Tag string // those of the header unless the event has its own
	ID           []byte // JSON that answers repeat; nil = none

	// Devices are those that the event names; absent means all there are or, for
	// unregister and free, all that have it.
	Devices Opt[[]device.ID]
	Device  device.ID // device; mesh: the first; queries
	Spec    l1.Spec   // device, mesh

	Rows, Cols int // mesh

	Program program.ID
	With    Opt[program.ID] // replace: the new program, if it has another id
	Name    string          // program, op_start
	CBs     []program.CB    // program

	Trace uint64

	Buffer device.Buffer // allocate, free (ID); its Parts are in Parts
	Parts  []LogPart

	// Of queries.
	Query   string
	Core    l1.Core
	Address uint64
	CB      Opt[uint64]
	has     logHas
	bad     *InputError // why it cannot be answered
}

// A LogPart is a range of bytes of a buffer on some cores.
type LogPart struct {
	Cores Opt[l1.CoreSet] // absent: the whole grid
	Range l1.Range
}

// logHas says which of its fields a query has.
type logHas struct{ device, program, core, address bool }

// memoryKind returns the kind with the given spelling, from first to last.
func memoryKind(word string, first, last device.Kind) (device.Kind, bool) {
	for k := first; k <= last; k++ {
		if k.Name() == word {
			return k, true
		}
	}
	return 0, false
}

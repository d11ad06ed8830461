package capture

import (
	"maps"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// What can be odd about a capture, as far as the source alone sees it. Package replay finds anomalies of
// programs and buffers.
const (
	noteAborted            = "aborted"             // an exception ended an operation
	noteBadDeviceTensors   = "bad-device-tensors"  // device_tensors cannot be read
	noteBufferUnplaced     = "buffer-unplaced"     // a buffer of a type that is not known
	noteDanglingConnection = "dangling-connection" // a connection to a node that does not exist
	noteDuplicateKey       = "duplicate-key"       // a key comes twice with equal values
	noteEndWithoutStart    = "end-without-start"   // a function ends that did not start
	noteInferred           = "inferred"            // an operation that hit the program cache: its CBs are those of its last run
	noteMeshUnknown        = "mesh-unknown"        // a free names an id whose chips the capture does not show
	noteOperationFailed    = "operation-failed"    // the capture records an error
	noteSmallWrong         = "l1-small-wrong"      // a bank that is too large for its L1, or reaches above an L1_SMALL buffer
	noteSpecsDiffer        = "specs-differ"        // devices of the file differ in L1 size; the first is used
	noteUnattributed       = "unattributed"        // CBs, dataflow buffers or scratchpads that name no core
	noteUnfinished         = "unfinished"          // functions that did not end: the run threw or was cut
	noteUnknownType        = "unknown-node-type"   // nodes of kinds that are not known here
)

// Facts that a capture hides. With such a note a verdict is never "fits".
const (
	hiddenApart     = "buffers-apart"      // L1 buffers under ids without runs
	hiddenBetween   = "between-operations" // a database does not say which L1 buffers died between its operations
	hiddenCollision = "id-collision"       // a number may be a chip's or a mesh's in nodes of circular buffers
	hiddenCacheHit  = "cache-hit"          // an operation that hit the program cache and is not known from before
	hiddenNotShown  = "not-shown"          // an operation ran something, and placed nothing
	hiddenSpecs     = "specs-differ"       // chips of a mesh whose circular buffers start at different addresses
	hiddenOperation = "operation-lost"     // an operation that a database names and has no graph of

	hiddenUnreadable = "unreadable" // nodes or rows with a field that cannot be read
)

// wholeFile stands for the counter of a note that is about no single node.
const wholeFile = -1

// A note says how often something was seen, and where first.
type note struct {
	count, first int64 // first is a counter, or wholeFile
	detail       string
}

// notes count odd or hidden facts by code.
type notes map[string]*note

// add counts one more. The detail is kept of the first one, to shown.MaxName bytes.
func (n notes) add(code string, first int64, detail string) {
	if n[code] == nil {
		n[code] = &note{first: first, detail: shown.Clip(detail, shown.MaxName)}
	}
	n[code].count++
}

// failed notes that a node records an error.
func (n notes) failed(e *graph.Node) {
	n.add(noteOperationFailed, int64(e.Counter), strings.Trim(e.Error.Operation+": "+e.Error.Message, ": "))
}

// addAll adds counts that were kept apart.
func (n notes) addAll(more notes) {
	for code, o := range more {
		have := n[code]
		if have == nil {
			n[code] = o
			continue
		}
		have.count += o.count
		if o.first < have.first {
			have.first, have.detail = o.first, o.detail
		}
	}
}

// emit yields an event of the given kind for each code, by code.
func (n notes) emit(kind event.Kind, out *events) {
	for _, code := range slices.Sorted(maps.Keys(n)) {
		e := event.Event{Kind: kind, Pos: out.pos, Code: code, Count: n[code].count, Detail: n[code].detail}
		if first := n[code].first; first == wholeFile {
			e.Pos.Node = wholeFile
		} else {
			e.Node = uint64(first)
		}
		out.emit(&e)
	}
}

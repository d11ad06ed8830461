package answer

import "slices"

// A Code names something odd or hidden about a source, or another reason for "cannot tell". tool/docs/codes.md has a row for
// each. Readers of sources have constants of their own with the same text, since events carry it.
type Code string

// What can be odd or hidden about a source without making it unreadable. A new one is no new version of the report.
const (
	CodeNoNodes            Code = "no-nodes"            // the capture is empty
	CodeNoCBs              Code = "no-cbs"              // no node places a CB
	CodeCacheHit           Code = "cache-hit"           // an operation found its program in the cache: the file cannot show its CBs
	CodeFreeWithoutCBs     Code = "free-without-cbs"    // of logs that were converted before: not-shown, of a free that no CB follows
	CodeNotShown           Code = "not-shown"           // an operation ran a program that the capture does not show, or more programs than it shows
	CodeUnsettled          Code = "unsettled"           // programs that cannot be distinguished, and do not fit as one
	CodeUnattributed       Code = "unattributed"        // CBs, dataflow buffers or scratchpads that name no core
	CodeMixedAddresses     Code = "mixed-addresses"     // a program with recorded and missing addresses
	CodeOverlap            Code = "overlap"             // programs whose own CBs share bytes on a core
	CodeBeyondL1           Code = "beyond-l1"           // programs that end beyond L1: does not fit
	CodeBufferBeyondL1     Code = "buffer-beyond-l1"    // a buffer in L1 that ends beyond it: the L1 is not that of the device
	CodeOutsideGrid        Code = "outside-grid"        // a run names cores outside the compute grid: does not fit, and is not registered
	CodeIDCollision        Code = "id-collision"        // a number is a mesh's and a chip's, and nothing says which of them CBs name
	CodeMeshUnknown        Code = "mesh-unknown"        // a free names an id whose chips the capture does not show
	CodeBetween            Code = "between-operations"  // a database does not say which L1 buffers died between its operations
	CodeOperationLost      Code = "operation-lost"      // an operation that a database names and has no graph of
	CodeUnreadable         Code = "unreadable"          // nodes or rows with a field that cannot be read: they are hidden, and what depends on them
	CodeSmallReached       Code = "l1-small-reached"    // programs that end in L1_SMALL, with which tt-metal does not compare them
	CodeSmallWrong         Code = "l1-small-wrong"      // a bank of L1 that is too large for it, or reaches above an L1_SMALL buffer: the size of L1_SMALL is not known
	CodeSpecsDiffer        Code = "specs-differ"        // devices of the file differ in L1 size; or chips of a mesh in base, so that its programs without addresses are hidden
	CodeFreeUnknown        Code = "free-unknown"        // a buffer is freed that was not allocated in the capture
	CodeFreeAgain          Code = "free-again"          // a buffer of the capture is freed a second time
	CodeInferred           Code = "inferred"            // an operation that found its program in the cache: its CBs are those of its last run
	CodeRangeLockstep      Code = "range-lockstep"      // programs that fit or not, by whether a buffer in range lockstep counts on other cores
	CodeBuffersOverlap     Code = "buffers-overlap"     // L1 buffers that share bytes of a core: a free was missed, or the allocator is wrong
	CodePersistentL1       Code = "persistent-l1"       // program runs above persistent pages: synthesised addresses are too low there
	CodePerCoreHidden      Code = "per-core-hidden"     // buffers that were allocated per core, whose addresses on some cores are not known
	CodeAmbiguous          Code = "ambiguous"           // a run from the cache that may be of several programs
	CodeBufferUnplaced     Code = "buffer-unplaced"     // a buffer in L1 whose place on the cores is not known
	CodeBufferUnsized      Code = "buffer-unsized"      // a buffer in L1 with an address and without a size per core
	CodeUpstreamWrapped    Code = "upstream-wrapped"    // ttnn's own figures ran below zero
	CodeEndWithoutStart    Code = "end-without-start"   // a function ends that did not start
	CodeUnfinished         Code = "unfinished"          // functions that did not end: the run threw or was cut
	CodeAborted            Code = "aborted"             // an exception ended an operation
	CodeOperationFailed    Code = "operation-failed"    // the capture records an error
	CodeUnknownType        Code = "unknown-node-type"   // nodes of kinds that are not known here
	CodeDuplicateKey       Code = "duplicate-key"       // a key comes twice with equal values
	CodeBadDeviceTensors   Code = "bad-device-tensors"  // device_tensors cannot be read
	CodeEventRefused       Code = "event-refused"       // events of a log that cannot be, or run what may not fit: they changed nothing
	CodeRefused            Code = "refused"             // program runs of a log that its writer refused: they changed nothing
	CodeTornLine           Code = "torn-line"           // the last line of a log is cut
	CodeEveryCore          Code = "every-core"          // records that name no cores: CBs count as if each were on every core
	CodeClientLost         Code = "client-lost"         // a client of a server was closed: what it says from then on is not known
	CodeOddRecord          Code = "odd-record"          // records of a server that contradict others, like a free of something that never came
	CodeNotRecorded        Code = "not-recorded"        // events before this log are in none: the server could not write them
	CodeTensorsOnly        Code = "tensors-only"        // the dump of an allocator, which knows no programs
	CodeDanglingConnection Code = "dangling-connection" // a connection to a node that does not exist
)

// Reasons for "cannot tell", besides the codes of anomalies.
const (
	CodeEarlierUsed   Code = "earlier-used"   // L1 buffers from before the capture, whose places are not known
	CodeEarlierFreed  Code = "earlier-freed"  // frees of such buffers
	CodeBuffersApart  Code = "buffers-apart"  // L1 buffers of an id under which nothing runs
	CodeL1Unknown     Code = "l1-unknown"     // the size of L1 is not known
	CodeChipAssumed   Code = "chip-assumed"   // it fits on the chip that is assumed, not on another one that it may be
	CodeBudgetUnknown Code = "budget-unknown" // the budget is a share of an L1 whose size is not known, or not the same on all devices
	CodeBanksUnknown  Code = "banks-unknown"  // of room: the cores over which a tensor lies are not known, or not the same on all devices
	CodeNothingRan    Code = "nothing-ran"    // no program is known to have run
	CodeMayClash      Code = "may-clash"      // CBs of a recording end above an L1 buffer
	CodeMeshBuffers   Code = "mesh-buffers"   // L1 buffers of a recording are known under the id of a mesh alone
)

// words explain a code: its meaning for the figures, and the cure.
type words struct {
	code Code
	// open: each anomaly with the code leaves open whether everything fits. Else only a hidden one does.
	open bool
	// one and many describe it, after the count.
	one, many string
	// means has the consequence; "" where another part of the report has it.
	means string
}

const open, shut = true, false

// anomalyWords has all codes, the most important one first: texts of a report come in this order.
func anomalyWords() []words { return slices.Concat(graveWords(), serverWords(), mildWords()) }

// graveWords have the codes that bear on what ran and what lived.
func graveWords() []words {
	return []words{
		{CodeBeyondL1, open, "program ends beyond L1", "programs end beyond L1",
			"does not fit; if this is another chip, say so with --arch"},
		{CodeBufferBeyondL1, open, "buffer ends beyond L1", "buffers end beyond L1",
			"the L1 of the device must be larger: say so with --arch or --set l1=BYTES"},
		{CodeTensorsOnly, shut, "dump of an allocator lists tensors alone", "dumps of an allocator list tensors alone",
			"CBs and programs are not in it, nor what came and went between two moments"},
		{CodeOutsideGrid, shut, "run names cores outside the compute grid", "runs name cores outside the compute grid",
			"tt-metal refuses it: it is judged, and neither registered nor left in L1"},
		{CodeOperationFailed, open, "operation failed", "operations failed",
			"what it placed before it failed is counted"},
		{CodeAborted, shut, "operation was aborted", "operations were aborted",
			"what they placed is judged and registered, and did not run"},
		{CodeEventRefused, open, "event of the log was refused", "events of the log were refused",
			"what is refused changes nothing, and is not counted"},
		{CodeRefused, shut, "program run was refused when it was enqueued", "program runs were refused when they were enqueued",
			"the log says so: they changed nothing, and are not judged again"},
		{CodeTornLine, open, "cut last line", "cut last lines",
			"the log was cut: what came later is missing"},
		{CodeUnfinished, open, "function did not end", "functions did not end",
			"the run threw, or the capture was cut: what came later is missing"},
		{CodeBetween, shut, "device of which the database does not list the buffers that lived when each operation ended",
			"devices of which the database does not list the buffers that lived when each operation ended",
			"frees between operations do not show: L1 buffers may be gone that are counted; read the JSON of the run"},
		{CodeOperationLost, shut, "operation of which the database has no graph", "operations of which the database has no graph",
			"what they placed is not shown, as of one that failed; read the JSON of the run"},
		{CodeUnreadable, shut, "node or row with a field that cannot be read", "nodes or rows with fields that cannot be read",
			"hidden, and with it the program of a CB, and everything alive on the device of a free: the other figures stand"},
		{CodeRangeLockstep, shut, "program fits or not by a buffer in range lockstep", "programs fit or not by a buffer in range lockstep",
			"whether tt-metal compares it with programs on other cores is not known: allocate it in lockstep or per core"},
		{CodePerCoreHidden, shut, "buffer was allocated per core, and hides addresses", "buffers were allocated per core, and hide addresses",
			"captures record the address on the first core alone: programs on the others may clash with it; an event log can name each address"},
		{CodeBuffersOverlap, shut, "L1 buffer shares bytes of a core with another one", "L1 buffers share bytes of a core with another one",
			"no allocator does that: it is wrong, or a free is missing in the file"},
		{CodePersistentL1, shut, "program run depends on pages at the bottom of L1", "program runs depend on pages at the bottom of L1",
			"a buffer is recorded below CBs: they do not start at the base; capture all programs with addresses, without NO_DISPATCH"},
		{CodeIDCollision, shut, "number is that of a mesh and of a chip", "numbers are those of a mesh and of a chip",
			"nothing says which of them its CBs name: they are read as the chip's, and may lie on the chips of the mesh"},
		{CodeSpecsDiffer, shut, "device or mesh differs in base or L1 size", "devices or meshes differ in base or L1 size",
			"the first device's L1 is used for all; a program of a mesh whose chips differ in base is hidden if it has no addresses"},
		{CodeMeshUnknown, shut, "free names a mesh whose chips the capture does not show", "frees name meshes whose chips the capture does not show",
			"programs ran together: there are more of them, alive figures may be too high, and CBs that seem to share bytes may not"},
		{CodeCacheHit, open, "operation hit the program cache", "operations hit the program cache",
			"what they place does not show again; alive figures miss it, and so do registered ones if the first run was not captured"},
		{CodeFreeWithoutCBs, open, "operation freed CBs and placed none", "operations freed CBs and placed none",
			"probably a program-cache hit, whose CBs no capture shows; L1 is as full as at its first run: capture that one, or clear the program cache"},
		{CodeNotShown, shut, "operation ran something that is not shown", "operations ran something that is not shown",
			"real runs show no dataflow buffers, nor what was in the program cache before: capture it with NO_DISPATCH, and clear the program cache afterwards"},
		{CodeUnsettled, shut, "program run does not fit that may be several programs", "program runs do not fit that may be several programs",
			"frees announce more programs than can be told apart; one after the other they may fit"},
		{CodeInferred, shut, "operation ran from the program cache", "operations ran from the program cache",
			"taken to run what ran last time, in figures of the whole L1 and in checks; alive figures miss it"},
		{CodeAmbiguous, shut, "ambiguous cache hit", "ambiguous cache hits", "all are judged; figures follow the last"},
		{CodeBufferUnplaced, open, "buffer in L1 whose place is not known", "buffers in L1 whose places are not known",
			"counted in bytes, but on no core; --l1-small places L1_SMALL buffers without address"},
		{CodeBufferUnsized, shut, "buffer in L1 without a size per core", "buffers in L1 without a size per core",
			"tt-metal's test compares with the address alone, and no core counts a byte"},
	}
}

// serverWords have the codes of allocation servers.
func serverWords() []words {
	return []words{
		{CodeClientLost, shut, "client of the server was closed", "clients of the server were closed",
			"what it had and said later is not known: its devices are incomplete"},
		{CodeNotRecorded, shut, "event before this log was not recorded", "events before this log were not recorded",
			"the disk was full, or failed: programs that did not fit then are not recorded"},
		{CodeOddRecord, shut, "record contradicts what was recorded before", "records contradict what was recorded before",
			"something came or went that no record shows: start the server before the processes"},
		{CodeEveryCore, shut, "log of records that name no cores", "logs of records that name no cores",
			"each CB counts as if it were on every core: figures of CBs are a bound"},
	}
}

// mildWords have the codes that bear on names and single figures, or on nothing.
func mildWords() []words {
	return []words{
		{CodeUnattributed, open, "buffer of a program names no core", "buffers of programs name no core",
			"the true figures are higher"},
		{CodeSmallReached, shut, "program run ends in L1_SMALL", "program runs end in L1_SMALL",
			"tt-metal compares it with all of L1: it runs, over what L1_SMALL buffers may hold there"},
		{CodeSmallWrong, shut, "device has a bank of L1 that contradicts its L1 or an L1_SMALL buffer",
			"devices have a bank of L1 that contradicts their L1 or an L1_SMALL buffer",
			"the size of L1_SMALL does not follow from it; --l1-small states it"},
		{CodeMixedAddresses, shut, "program has only some addresses", "programs have only some addresses",
			"the missing ones were placed around the recorded ones"},
		{CodeOverlap, shut, "program has CBs that share bytes", "programs have CBs that share bytes",
			"shared bytes count once; if it is not meant, one CB overwrites another"},
		{CodeBadDeviceTensors, open, "device_tensors cannot be read", "device_tensors cannot be read",
			"if that hides the chips of a mesh, alive figures may be too high"},
		{CodeUnknownType, shut, "node of an unknown kind", "nodes of unknown kinds",
			"skipped; memory that is placed there is not counted"},
		{CodeEndWithoutStart, shut, "function ended that did not start", "functions ended that did not start",
			"names of operations may be wrong, bytes are not"},
		{CodeFreeUnknown, shut, "free of a buffer from before the capture", "frees of buffers from before the capture",
			"no effect on CBs"},
		{CodeFreeAgain, shut, "free of a buffer that was freed already", "frees of buffers that were freed already",
			"no effect"},
		{CodeDuplicateKey, shut, "key comes twice", "keys come twice", "the values are equal: no effect"},
		{CodeDanglingConnection, shut, "connection to a missing node", "connections to missing nodes",
			"the capture may be cut; no figure depends on it"},
		// These are said elsewhere: the first two in the first line, the last in the last.
		{CodeNoNodes, open, "capture without nodes", "captures without nodes", ""},
		{CodeNoCBs, open, "capture without CBs", "captures without CBs", ""},
		{CodeUpstreamWrapped, shut, "sum of ttnn wrapped", "sums of ttnn wrapped", ""},
	}
}

// Codes returns all codes, by name.
func Codes() []Code {
	out := []Code{ // the reasons besides
		CodeEarlierUsed, CodeEarlierFreed, CodeBuffersApart, CodeL1Unknown, CodeChipAssumed, CodeBudgetUnknown, CodeBanksUnknown, CodeNothingRan, CodeMayClash, CodeMeshBuffers,
	}
	for _, w := range anomalyWords() {
		out = append(out, w.code)
	}
	slices.Sort(out)
	return out
}

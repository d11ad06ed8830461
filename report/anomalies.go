package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/replay"
)

// words say what an anomaly means for the figures and what to do about it.
type words struct {
	code replay.Code
	// one and many describe it, after the count.
	one, many string
	// means says what follows; "" for what another part of the report says.
	means string
}

// anomalyWords has all codes, the most important one first.
func anomalyWords() []words { return slices.Concat(graveWords(), serverWords(), mildWords()) }

// graveWords have the codes that bear on what ran and what lived.
func graveWords() []words {
	return []words{
		{replay.CodeBeyondL1, "program ends beyond L1", "programs end beyond L1",
			"does not fit; if this is another chip, say so with --arch"},
		{replay.CodeBufferBeyondL1, "buffer ends beyond L1", "buffers end beyond L1",
			"the L1 of the device must be larger: say so with --arch or --set l1=BYTES"},
		{replay.CodeOutsideGrid, "run names cores outside the compute grid", "runs name cores outside the compute grid",
			"tt-metal refuses it: it is judged, and neither registered nor left in L1"},
		{replay.CodeOperationFailed, "operation failed", "operations failed",
			"what it placed before it failed is counted"},
		{replay.CodeAborted, "operation was aborted", "operations were aborted",
			"what they placed is judged and registered, and did not run"},
		{replay.CodeEventRefused, "event of the log was refused", "events of the log were refused",
			"what is refused changes nothing, and is not counted"},
		{replay.CodeTornLine, "cut last line", "cut last lines",
			"the log was cut: what came later is missing"},
		{replay.CodeUnfinished, "function did not end", "functions did not end",
			"the run threw, or the capture was cut: what came later is missing"},
		{replay.CodeLayoutLate, "base that came too late", "bases that came too late",
			"the input says its base and L1 size after CBs were placed with assumed ones: read a file instead of standard input, or use --arch and --base"},
		{replay.CodeMeshLate, "mesh that came too late", "meshes that came too late",
			"the chips of a mesh became known after a free of it: alive figures may be too high; read a file instead of standard input"},
		{replay.CodeAbortedLate, "operation turned out late to be aborted", "operations turned out late to be aborted",
			"what they placed was taken to have run, or to be in the program cache; read a file instead of standard input"},
		{replay.CodeWorkloadLate, "workload of several programs was told apart too late", "workloads of several programs were told apart too late",
			"programs of it were judged as perhaps several, and may not fit; read a file instead of standard input"},
		{replay.CodeResidentsLate, "section lists what lived in L1 at each operation", "sections list what lived in L1 at each operation",
			"its buffers were not looked at, since they may have been there before; read a file instead of standard input"},
		{replay.CodeBetween, "device of which the database does not list the buffers that lived when each operation ended",
			"devices of which the database does not list the buffers that lived when each operation ended",
			"frees between operations do not show: L1 buffers may be gone that are counted; read the JSON of the run"},
		{replay.CodeWindowGap, "window does not list the L1 buffers that lived in it", "windows do not list the L1 buffers that lived in them",
			"L1 buffers that came or went between windows are not known, and only those count that a window shows; record windows with detailed buffers"},
		{replay.CodeOperationLost, "operation of which the database has no graph", "operations of which the database has no graph",
			"what they placed is not shown, as of one that failed; read the JSON of the run"},
		{replay.CodeUnreadable, "node or row with a field that cannot be read", "nodes or rows with fields that cannot be read",
			"hidden, and with it the program of a CB, and everything alive on the device of a free: the other figures stand"},
		{replay.CodeModeLate, "device showed late that it is in HYBRID mode", "devices showed late that they are in HYBRID mode",
			"programs before that were judged as if it were not; read a file instead of standard input"},
		{replay.CodeRangeLockstep, "program fits or not by a buffer in range lockstep", "programs fit or not by a buffer in range lockstep",
			"whether tt-metal compares it with programs on other cores is not known: allocate it in lockstep or per core"},
		{replay.CodePerCoreHidden, "buffer was allocated per core, and hides addresses", "buffers were allocated per core, and hide addresses",
			"captures record the address on the first core alone: programs on the others may clash with it; an event log can name each address"},
		{replay.CodePersistentL1, "program run depends on pages at the bottom of L1", "program runs depend on pages at the bottom of L1",
			"a buffer is recorded below CBs: they do not start at the base; capture all programs with addresses, without NO_DISPATCH"},
		{replay.CodeMeshUnknown, "free names a mesh whose chips the capture does not show", "frees name meshes whose chips the capture does not show",
			"programs ran together: there are more of them, alive figures may be too high, and CBs that seem to share bytes may not"},
		{replay.CodeCacheHit, "operation hit the program cache", "operations hit the program cache",
			"what they place does not show again; alive figures miss it, and so do registered ones if the first run was not captured"},
		{replay.CodeFreeWithoutCBs, "operation freed CBs and placed none", "operations freed CBs and placed none",
			"probably a program-cache hit, whose CBs no capture shows; L1 is as full as at its first run: capture that one, or clear the program cache"},
		{replay.CodeNotShown, "operation ran something that is not shown", "operations ran something that is not shown",
			"real runs show no dataflow buffers, nor what was in the program cache before: capture it with NO_DISPATCH, and clear the program cache afterwards"},
		{replay.CodeUnsettled, "program run does not fit that may be several programs", "program runs do not fit that may be several programs",
			"frees announce more programs than can be told apart; one after the other they may fit"},
		{replay.CodeInferred, "operation ran from the program cache", "operations ran from the program cache",
			"taken to run what ran last time, in figures of the whole L1 and in checks; alive figures miss it"},
		{replay.CodeAmbiguous, "ambiguous cache hit", "ambiguous cache hits", "all are judged; figures follow the last"},
		{replay.CodeBufferUnplaced, "buffer in L1 whose place is not known", "buffers in L1 whose places are not known",
			"counted in bytes, but on no core; --l1-small places L1_SMALL buffers without address"},
		{replay.CodeBufferUnsized, "buffer in L1 without a size per core", "buffers in L1 without a size per core",
			"tt-metal's test compares with the address alone, and no core counts a byte"},
	}
}

// serverWords have the codes of what allocation servers record and print.
func serverWords() []words {
	return []words{
		{replay.CodeClientLost, "client of the server was closed", "clients of the server were closed",
			"what it had and said later is not known: its devices are incomplete"},
		{replay.CodeNotRecorded, "event before this log was not recorded", "events before this log were not recorded",
			"the disk was full, or failed: nobody knows what did not fit then"},
		{replay.CodeEveryCore, "log of records that name no cores", "logs of records that name no cores",
			"each CB counts as if it were on every core: figures of CBs are a bound"},
		{replay.CodeNoAddresses, "log without addresses of CBs", "logs without addresses of CBs",
			"each CB counts as if it lay alone on its core, so that a core has at most the sum"},
		{replay.CodeLinesMissing, "line tells of something that the lines do not show", "lines tell of something that the lines do not show",
			"the true figures are others: totals, references or frees do not agree with what came before, or the server took no notice of a record"},
	}
}

// mildWords have the codes that bear on names and single figures, or on nothing.
func mildWords() []words {
	return []words{
		{replay.CodeUnattributed, "buffer of a program names no core", "buffers of programs name no core",
			"the true figures are higher"},
		{replay.CodeIDCollision, "id is that of a chip and of a mesh", "ids are those of a chip and of a mesh",
			"frees may have ended too much: alive figures may be too low"},
		{replay.CodeSmallReached, "program run ends in L1_SMALL", "program runs end in L1_SMALL",
			"tt-metal compares it with all of L1: it runs, over what L1_SMALL buffers may hold there"},
		{replay.CodeSmallWrong, "device has a bank of L1 that contradicts its L1 or an L1_SMALL buffer",
			"devices have a bank of L1 that contradicts their L1 or an L1_SMALL buffer",
			"the size of L1_SMALL does not follow from it; --l1-small states it"},
		{replay.CodeSmallLate, "size of L1_SMALL that came too late", "sizes of L1_SMALL that came too late",
			"the input says it after it was used: read a file instead of standard input, or use --l1-small"},
		{replay.CodeSpecsDiffer, "device differs in base or L1 size", "devices differ in base or L1 size",
			"the first device's are used for all"},
		{replay.CodeMixedAddresses, "program has only some addresses", "programs have only some addresses",
			"the missing ones were placed around the recorded ones"},
		{replay.CodeOverlap, "program has CBs that share bytes", "programs have CBs that share bytes",
			"shared bytes count once; if it is not meant, one CB overwrites another"},
		{replay.CodeBadDeviceTensors, "device_tensors cannot be read", "device_tensors cannot be read",
			"if that hides the chips of a mesh, alive figures may be too high"},
		{replay.CodeUnknownType, "node of an unknown kind", "nodes of unknown kinds",
			"skipped; memory that is placed there is not counted"},
		{replay.CodeEndWithoutStart, "function ended that did not start", "functions ended that did not start",
			"names of operations may be wrong, bytes are not"},
		{replay.CodeFreeUnknown, "free of a buffer from before the capture", "frees of buffers from before the capture",
			"no effect on CBs"},
		{replay.CodeFreeAgain, "free of a buffer that was freed already", "frees of buffers that were freed already",
			"no effect"},
		{replay.CodeRounded, "size has six digits", "sizes have six digits", "the roundest number that is printed so was taken"},
		{replay.CodeOtherLines, "line is none of an allocation server", "lines are none of an allocation server", "skipped"},
		{replay.CodeDuplicateKey, "key comes twice", "keys come twice", "the values are equal: no effect"},
		{replay.CodeDanglingConnection, "connection to a missing node", "connections to missing nodes",
			"the capture may be cut; no figure depends on it"},
		// These are said elsewhere: the first two in the first line, the last in the last.
		{replay.CodeNoNodes, "capture without nodes", "captures without nodes", ""},
		{replay.CodeNoCBs, "capture without CBs", "captures without CBs", ""},
		{replay.CodeUpstreamWrapped, "sum of ttnn wrapped", "sums of ttnn wrapped", ""},
	}
}

// anomalies returns a line per kind of anomaly, the most important first.
func anomalies(r *replay.Result) []note {
	var out []note
	all := anomalyWords()
	rank := func(a replay.AnomalyCount) int {
		i := slices.IndexFunc(all, func(w words) bool { return w.code == a.Code })
		if i < 0 { // never, but better shown than lost
			return math.MaxInt
		}
		return i
	}
	sorted := slices.Clone(r.Anomalies)
	slices.SortStableFunc(sorted, func(a, b replay.AnomalyCount) int { return rank(a) - rank(b) })
	for _, a := range sorted {
		code := shown.Start(string(a.Code), 60)
		w := words{one: code, many: code, means: "see the documentation"}
		if i := rank(a); i < len(all) {
			w = all[i]
		}
		if w.means != "" {
			out = append(out, note{"note", anomalyText(r, a, w)})
		}
	}
	return out
}

func anomalyText(r *replay.Result, a replay.AnomalyCount, w words) string {
	what, where := w.many, ""
	if a.Count == 1 {
		what = w.one
	}
	switch {
	case r.Log && a.Detail != "": // which names the line
	case a.First >= 0 && a.Count > 1:
		where = "first at " + place{uint64(a.First), a.T}.inside(r)
	case a.First >= 0:
		where = place{uint64(a.First), a.T}.inside(r)
	}
	if r.Log && a.Detail != "" && a.T != "" {
		where = "t " + a.T.String()
	}
	if a.Detail != "" {
		if where != "" {
			where += ", "
		}
		where += shown.Start(detailText(a), detailLen(a))
	}
	if where != "" {
		where = " (" + where + ")"
	}
	inInput := func(text string) string { return strings.ReplaceAll(text, "the capture", "the "+source(r)) }
	return fmt.Sprintf("%s %s%s: %s", grouped(a.Count), inInput(what), where, inInput(w.means))
}

// detailText is the detail of an anomaly for people: of an exception, what comes before its
// backtrace, on one line.
func detailText(a replay.AnomalyCount) string {
	if a.Code != replay.CodeAborted {
		return a.Detail
	}
	text, _, _ := strings.Cut(a.Detail, "\nbacktrace:")
	return strings.Join(strings.Fields(text), " ")
}

// detailLen is how much of a detail is shown, in bytes. An exception says what happened.
func detailLen(a replay.AnomalyCount) int {
	if a.Code == replay.CodeAborted {
		return 400
	}
	return 80
}

// aborted says which operations were aborted, and why the first one was.
func aborted(r *replay.Result) []note {
	var out []note
	for _, a := range r.Anomalies {
		for _, w := range anomalyWords() {
			if a.Code == replay.CodeAborted && w.code == a.Code {
				out = append(out, note{"aborted", anomalyText(r, a, w)})
			}
		}
	}
	return out
}

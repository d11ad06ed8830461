package compare

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
)

// schema names the form of JSON that Decode reads.
const schema = "cbl1.report/2"

// ErrNotReport is wrapped by errors about input that is no saved report.
var ErrNotReport = errors.New("is no saved report (" + schema + ")")

// A DecodeError says what is wrong with a saved report.
type DecodeError struct {
	File   string
	Line   int    // of the file, from 1
	Field  string // in which it is wrong; "" = the line as a whole
	Reason string
	Err    error // may be nil
}

func (e *DecodeError) Error() string {
	where := fmt.Sprintf("%s: line %d", e.File, e.Line)
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Reason
}

func (e *DecodeError) Unwrap() error { return e.Err }

// IsReport reports whether a text begins like a saved report. A few hundred bytes are enough.
func IsReport(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	for i, want := range []any{json.Delim('{'), "schema", schema} {
		if token, err := d.Token(); err != nil || token != want {
			return i == 2 && err == nil && strings.HasPrefix(fmt.Sprint(token), "cbl1.report/")
		}
	}
	return true
}

// Decode reads saved reports: one line of JSON for each capture, as "cbl1 report --format
// json" writes them. The name file is only shown. Errors are *DecodeError, or those of r.
// Memory grows with the largest line and with what the reports say.
func Decode(r io.Reader, file string) ([]*Run, error) {
	var out []*Run
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			run, wrong := decodeLine(line)
			if wrong != nil {
				wrong.File, wrong.Line = file, n
				return nil, wrong
			}
			out = append(out, run)
		}
		if err != nil {
			break
		}
	}
	if len(out) == 0 {
		return nil, &DecodeError{File: file, Line: 1, Reason: "is empty", Err: ErrNotReport}
	}
	return out, nil
}

// A document is what is read of a saved report.
type document struct {
	Schema string  `json:"schema"`
	Only   any     `json:"only"`
	File   string  `json:"file"`
	Rank   *uint64 `json:"rank"`
	Nodes  uint64  `json:"nodes"`
	Basis  Chip    `json:"basis"`
	Checks struct {
		Runs     int64          `json:"runs"`
		Failed   int64          `json:"runs_failed"`
		Untold   *[]replay.Code `json:"untold"`
		Tightest *struct {
			Run struct {
				Op string `json:"op"`
			} `json:"program"`
			Counter uint64             `json:"counter"`
			Device  *uint64            `json:"device"`
			Room    replay.HeadroomRow `json:"headroom"`
		} `json:"tightest"`
	} `json:"checks"`
	Live struct {
		List []savedBuffer `json:"list"`
		More int64         `json:"more"`
	} `json:"live_at_end"`
	L1      []savedL1              `json:"l1"`
	Devices map[string]savedDevice `json:"devices"`
}

type savedBuffer struct {
	Op      string  `json:"op"`
	Device  *uint64 `json:"device"`
	Kind    string  `json:"kind"`
	Size    uint64  `json:"size_bytes"`
	Address *uint64 `json:"address"`
	Layout  string  `json:"layout"`
}

type savedL1 struct {
	Device *uint64           `json:"device"`
	Kind   replay.DeviceKind `json:"kind"`
	Chips  []uint64          `json:"chips"`
	Grid
	Tracked  uint64     `json:"tracked_peak_bytes"`
	L1       uint64     `json:"l1_peak_bytes"`
	L1End    uint64     `json:"l1_final_bytes"`
	Small    uint64     `json:"l1_small_peak_bytes"`
	SmallEnd uint64     `json:"l1_small_final_bytes"`
	Peak     *savedPeak `json:"core_peak"`
}

type savedPeak struct {
	Peak
	Residents []struct {
		Kind    string  `json:"kind"`
		Start   uint64  `json:"start"`
		End     uint64  `json:"end"`
		CB      *uint32 `json:"cb"`
		Program *struct {
			Op string `json:"op"`
		} `json:"program"`
		Buffer *savedBuffer `json:"buffer"`
	} `json:"residents"`
}

type savedDevice struct {
	Kind       replay.DeviceKind `json:"kind"`
	Chips      []uint64          `json:"chips"`
	Programs   uint64            `json:"programs"`
	Core       uint64            `json:"registered_core_peak_bytes"`
	AliveCore  uint64            `json:"core_peak_bytes"`
	Sum        uint64            `json:"registered_union_bytes"`
	AliveSum   uint64            `json:"resident_peak_bytes"`
	Logical    uint64            `json:"registered_logical_bytes"`
	End        uint64            `json:"highest_end"`
	Dataflow   uint64            `json:"dataflow_registered_core_peak_bytes"`
	Scratchpad uint64            `json:"scratchpad_registered_core_peak_bytes"`
	Detail     []savedProgram    `json:"programs_detail"`
	Groups     []savedGroup      `json:"core_groups"`
}

type savedProgram struct {
	ProgramRow
	Op      string `json:"op"`
	Overlap bool   `json:"cbs_overlap"`
}

type savedGroup struct {
	Cores      string      `json:"cores"`
	Registered uint64      `json:"registered_bytes"`
	AlivePeak  uint64      `json:"core_peak_bytes"`
	Programs   uint32      `json:"programs"`
	Regions    [][2]uint64 `json:"registered_regions"`
}

// maxCount is more than any count of runs; sums of it over files do not wrap.
const maxCount = 1 << 40

func decodeLine(line []byte) (*Run, *DecodeError) {
	var doc document
	if err := json.Unmarshal(line, &doc); err != nil {
		e := &DecodeError{Reason: "is no JSON that a report has: " + err.Error(), Err: err}
		if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			e.Field, e.Reason = typ.Field, "a "+typ.Value+" does not belong there"
		}
		return nil, e
	}
	switch {
	case doc.Schema != schema:
		return nil, &DecodeError{Field: "schema", Reason: ErrNotReport.Error(), Err: ErrNotReport}
	case doc.Only != nil:
		return nil, &DecodeError{Field: "only", Reason: "is narrowed (--device, --core or --op): the rest cannot be compared"}
	case doc.Checks.Untold == nil:
		return nil, &DecodeError{Field: "checks.untold", Reason: "is missing: the report was written by an older cbl1; write it anew"}
	case doc.Nodes > math.MaxInt64:
		return nil, &DecodeError{Field: "nodes", Reason: "has a number above 2^63-1"}
	case doc.Checks.Runs < 0 || doc.Checks.Runs > maxCount || doc.Checks.Failed < 0 || doc.Checks.Failed > doc.Checks.Runs:
		return nil, &DecodeError{Field: "checks.runs", Reason: fmt.Sprintf("%d runs of which %d failed cannot be", doc.Checks.Runs, doc.Checks.Failed)}
	}
	return doc.run()
}

// run makes a Run of a document.
func (doc *document) run() (*Run, *DecodeError) {
	out := &Run{
		file: doc.File, rank: doc.Rank, nodes: int64(doc.Nodes), saved: true,
		chip: doc.Basis.complete(),
		runs: doc.Checks.Runs, failed: doc.Checks.Failed, leftAll: doc.Live.More == 0,
	}
	for _, code := range *doc.Checks.Untold {
		out.doubt(code)
	}
	if t := doc.Checks.Tightest; t != nil {
		if max(t.Counter, t.Room.End, t.Room.Free, t.Room.Gap) > math.MaxInt64 {
			return nil, &DecodeError{Field: "checks.tightest", Reason: "has a number above 2^63-1"}
		}
		out.tightest = &Tightest{Device: t.Device, Op: t.Run.Op, Counter: t.Counter, End: t.Room.End, Free: t.Room.Free, Gap: t.Room.Gap}
	}
	for _, key := range slices.Sorted(maps.Keys(doc.Devices)) {
		if err := out.setDevice(key, doc.Devices[key]); err != nil {
			return nil, err
		}
	}
	for i, d := range doc.L1 {
		if err := out.setL1(d); err != nil {
			err.Field = strings.TrimSuffix(fmt.Sprintf("l1[%d].%s", i, err.Field), ".")
			return nil, err
		}
	}
	for i, x := range doc.Live.List {
		if !inL1(x.Kind) {
			continue
		}
		one := resident{kind: x.Kind, op: x.Op, cb: none, inside: named(x.Device), size: x.Size, known: x.Address != nil}
		if x.Address != nil {
			one.r = l1.Range{Start: *x.Address, End: *x.Address}
		}
		if x.Size > l1.MaxAddr || one.r.End > l1.MaxAddr {
			return nil, &DecodeError{Field: fmt.Sprintf("live_at_end.list[%d]", i), Reason: "has a number above 2^63-1"}
		}
		out.left = append(out.left, one)
	}
	return out, nil
}

// inL1 reports whether what has a kind of this name lies in L1.
func inL1(name string) bool {
	for k := fit.KindCB; k.InL1(); k++ {
		if k.Name() == name {
			return true
		}
	}
	return false
}

// setDevice takes in the circular buffers of a device.
func (r *Run) setDevice(key string, d savedDevice) *DecodeError {
	wrong := func(field, reason string) *DecodeError {
		return &DecodeError{Field: fmt.Sprintf("devices.%.40q%s", key, field), Reason: reason}
	}
	var id *uint64
	if key != "none" {
		n, err := strconv.ParseUint(key, 10, 64)
		if err != nil {
			return wrong("", "is no id of a device")
		}
		id = &n
	}
	row := r.device(id)
	row.kind, row.chips = d.Kind, d.Chips
	f := &row.figures
	f[figurePrograms], f[figureCore], f[figureAliveCore], f[figureSum], f[figureAliveSum] = d.Programs, d.Core, d.AliveCore, d.Sum, d.AliveSum
	f[figureLogical], f[figureEnd], f[figureDataflow], f[figureScratchpad] = d.Logical, d.End, d.Dataflow, d.Scratchpad
	if slices.Max(f[:]) > math.MaxInt64 {
		return wrong("", "has a number above 2^63-1")
	}
	row.listed, row.programs = len(d.Detail) > 0 || d.Programs == 0, &replay.Programs{}
	for i, p := range d.Detail {
		if max(p.Counter, p.Logical, p.Bytes, p.Core, p.HighestEnd) > math.MaxInt64 {
			return wrong(fmt.Sprintf(".programs_detail[%d]", i), "has a number above 2^63-1")
		}
		if min(p.LocalCBs, p.GlobalCBs, p.Cores) < 0 {
			return wrong(fmt.Sprintf(".programs_detail[%d]", i), "has a number below 0")
		}
		row.programs.Add(replay.ProgramDetail{
			First: p.Counter, Op: replay.Name(p.Op), LocalCBs: p.LocalCBs, GlobalCBs: p.GlobalCBs, Cores: p.Cores,
			Logical: p.Logical, Bytes: p.Bytes, Core: p.Core, HighestEnd: p.HighestEnd, Overlapping: p.Overlap,
		})
	}
	var taken l1.CoreSet
	for i, g := range d.Groups {
		group, reason := g.group()
		if reason == "" && taken.Overlaps(group.Cores) {
			reason = "has a core of another group"
		}
		if reason != "" {
			return wrong(fmt.Sprintf(".core_groups[%d]", i), reason)
		}
		taken = taken.Union(group.Cores)
		row.groups = append(row.groups, group)
	}
	return nil
}

// group makes a group of cores, or says what is wrong with it.
func (g savedGroup) group() (replay.CoreGroup, string) {
	out := replay.CoreGroup{Registered: g.Registered, AlivePeak: g.AlivePeak, Programs: int(g.Programs)}
	set, err := l1.ParseCoreRangeSet(g.Cores)
	if err != nil {
		return out, err.Error()
	}
	if max(g.Registered, g.AlivePeak) > math.MaxInt64 {
		return out, "has a number above 2^63-1"
	}
	out.Cores = set.Cores()
	for _, r := range g.Regions {
		region := l1.Range{Start: r[0], End: r[1]}
		if err := region.Check(); err != nil {
			return out, err.Error()
		}
		out.Regions = append(out.Regions, region)
	}
	return out, ""
}

// setL1 takes in what lived in the whole L1 of a device.
func (r *Run) setL1(d savedL1) *DecodeError {
	row := r.device(d.Device)
	row.kind, row.chips = d.Kind, d.Chips
	if row.programs.Len() == 0 && row.figures[figurePrograms] == 0 {
		row.listed = true
	}
	if row.grid = d.Grid; min(d.Cols, d.Rows, d.Cores) < 0 {
		return &DecodeError{Field: "cols", Reason: "has a number below 0"}
	}
	f := &row.figures
	f[figureTracked], f[figureL1], f[figureL1End], f[figureSmall], f[figureSmallEnd] = d.Tracked, d.L1, d.L1End, d.Small, d.SmallEnd
	if p := d.Peak; p != nil {
		f[figurePeak] = p.Bytes
		row.peak = &peakRow{Peak: p.Peak}
		row.peak.Rank, row.peak.Device = nil, nil // of a file that is not ours; Diff says its own
		for i, x := range p.Residents {
			one := resident{kind: x.Kind, cb: none, r: l1.Range{Start: x.Start, End: x.End}, known: true}
			if err := one.r.Check(); err != nil {
				return &DecodeError{Field: fmt.Sprintf("core_peak.residents[%d]", i), Reason: err.Error(), Err: err}
			}
			one.size = one.r.Len()
			switch {
			case x.Program != nil && x.CB != nil:
				one.op, one.cb = x.Program.Op, int(*x.CB)
			case x.Buffer != nil:
				one.op, one.inside = x.Buffer.Op, x.Buffer.Layout
			}
			row.peak.residents = append(row.peak.residents, one)
		}
	}
	if slices.Max(f[:]) > math.MaxInt64 {
		return &DecodeError{Reason: "has a number above 2^63-1"}
	}
	return nil
}

package diff

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
	"unicode"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// ErrNotReport is wrapped by the [DecodeError] of input that is no saved report.
var ErrNotReport = errors.New("is no saved report (" + answer.ReportSchema + ")")

// A DecodeError describes a fault in a saved report.
type DecodeError struct {
	File   string
	Line   int    // of the file, from 1
	Field  string // path of the wrong field; "" if the whole line is wrong
	Reason string
	Err    error // the cause; may be nil
}

func (e *DecodeError) Error() string {
	where := fmt.Sprintf("%s: line %d", e.File, e.Line)
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Reason
}

func (e *DecodeError) Unwrap() error { return e.Err }

// IsReport reports whether a text begins like a saved report, of any version. A few hundred bytes are enough. Cost:
// O(len(head)).
func IsReport(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	for i, want := range []any{json.Delim('{'), "schema", answer.ReportSchema} {
		if token, err := d.Token(); err != nil || token != want {
			return i == 2 && err == nil && strings.HasPrefix(fmt.Sprint(token), "cbl1.report/")
		}
	}
	return true
}

// Decode reads saved reports: one line of JSON for each capture, as "cbl1 report --format json" writes them. The
// name of the file appears only in errors, which are *DecodeError, or errors of r. Cost: O(bytes). Memory grows with
// the largest line and with the contents of the reports.
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

// maxCount is more than any count of runs; sums of it over files do not wrap.
const maxCount = 1 << 40

func decodeLine(line []byte) (*Run, *DecodeError) {
	var doc answer.ReportDocument
	if err := json.Unmarshal(line, &doc); err != nil {
		e := &DecodeError{Reason: "is no JSON that a report has: " + err.Error(), Err: err}
		if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			e.Field, e.Reason = fieldOf(typ), "a "+typ.Value+" does not belong there"
		}
		return nil, e
	}
	k := &doc.Checks
	switch {
	case doc.Schema != answer.ReportSchema:
		return nil, &DecodeError{Field: "schema", Reason: ErrNotReport.Error(), Err: ErrNotReport}
	case doc.Only != nil:
		return nil, &DecodeError{Field: "only", Reason: "is narrowed (--device, --core or --op): the rest cannot be compared"}
	case k.Untold == nil:
		return nil, &DecodeError{Field: "checks.untold", Reason: "is missing: the report was written by an older cbl1; write it anew"}
	case doc.Nodes < 0:
		return nil, &DecodeError{Field: "nodes", Reason: belowMin}
	case k.Runs < 0 || k.Runs > maxCount || k.Failed < 0 || k.Failed > k.Runs:
		return nil, &DecodeError{Field: "checks.runs", Reason: fmt.Sprintf("%d runs of which %d failed cannot be", k.Runs, k.Failed)}
	}
	if t := k.Tightest; t != nil && tooLarge(t.Enqueue, t.Row.End, t.Row.Free, t.Row.Gap) {
		return nil, &DecodeError{Field: "checks.tightest", Reason: aboveMax}
	}
	for i, b := range doc.Live.List {
		if tooLarge(b.Size, b.Address.V) {
			return nil, &DecodeError{Field: fmt.Sprintf("live_at_end.list[%d]", i), Reason: aboveMax}
		}
	}
	out := newRun(&doc.ReportHead)
	out.saved = true
	for _, key := range slices.Sorted(maps.Keys(doc.Devices)) {
		d := doc.Devices[key]
		field, reason := checkDevice(key, &d)
		if reason == "" && tooLarge(out.setDevice(&d).figures[:]...) {
			reason = aboveMax
		}
		if reason != "" {
			return nil, &DecodeError{Field: fmt.Sprintf("devices.%.40q%s", key, field), Reason: reason}
		}
	}
	for i := range doc.L1 {
		d := &doc.L1[i]
		field, reason := checkL1(d)
		if reason == "" && tooLarge(out.setL1(d, nil).figures[:]...) {
			reason = aboveMax
		}
		if reason != "" {
			return nil, &DecodeError{Field: fmt.Sprintf("l1[%d]%s", i, field), Reason: reason}
		}
	}
	return out, nil
}

// fieldOf names the field of an error. Its path has the names of embedded structs, which no file has.
func fieldOf(err *json.UnmarshalTypeError) string {
	return strings.Join(slices.DeleteFunc(strings.Split(err.Field, "."), func(name string) bool {
		return name != "" && unicode.IsUpper(rune(name[0]))
	}), ".")
}

// Reasons of a DecodeError.
const (
	aboveMax = "has a number above 2^63-1"
	belowMin = "has a number below 0"
)

// tooLarge reports whether a number is above 2^63-1.
func tooLarge(numbers ...uint64) bool { return slices.Max(numbers) > math.MaxInt64 }

// checkDevice gives a device the id of its key. It returns a reason, and in which field, if a number cannot be.
func checkDevice(key string, d *answer.Device) (field, reason string) {
	if key != "none" {
		id, err := strconv.ParseUint(key, 10, 64)
		if err != nil {
			return "", "is no id of a device"
		}
		d.ID.V, d.ID.OK = id, true
	}
	for i, p := range d.ProgramsDetail.All() {
		field := fmt.Sprintf(".programs_detail[%d]", i)
		if tooLarge(p.First, p.Logical, p.Bytes, p.Core, p.HighestEnd) {
			return field, aboveMax
		}
		if min(p.LocalCBs, p.GlobalCBs, p.Cores) < 0 {
			return field, belowMin
		}
	}
	var taken l1.CoreSet
	for i, g := range d.CoreGroups {
		field := fmt.Sprintf(".core_groups[%d]", i)
		switch {
		case tooLarge(g.Registered, g.AlivePeak):
			return field, aboveMax
		case g.Programs < 0:
			return field, belowMin
		case taken.Overlaps(g.Cores):
			return field, "has a core of another group"
		}
		taken = taken.Union(g.Cores)
	}
	if d.Programs < 0 {
		return "", belowMin
	}
	return "", ""
}

// checkL1 is checkDevice of the whole L1.
func checkL1(d *answer.DeviceL1) (field, reason string) {
	if min(d.Cols, d.Rows, d.NumCores) < 0 {
		return ".cols", belowMin
	}
	if d.Peak != nil {
		if d.Peak.More < 0 {
			return ".core_peak.residents_more", belowMin
		}
		for i, x := range d.Peak.Residents {
			field := fmt.Sprintf(".core_peak.residents[%d]", i)
			if err := x.Range().Check(); err != nil {
				return field, err.Error()
			}
			if x.CB.V > math.MaxInt32 {
				return field, "has a cb above 2^31-1"
			}
		}
	}
	return "", ""
}

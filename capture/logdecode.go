package capture

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A logDecoder turns the bytes of one line after the other into events. Simulators
// repeat the same few core range sets, which it therefore keeps.
type logDecoder struct {
	file         string
	process, tag string
	cores        coreSets

	// The line at hand. The first error stays; what is read after it is nothing.
	raw     []byte
	pos     Pos
	anomaly Anomaly
	err     *InputError
}

func newLogDecoder(file string) *logDecoder {
	return &logDecoder{file: file, cores: coreSets{}}
}

// A logObject is an object of a line: its members, and where it stands.
type logObject struct {
	d       *logDecoder
	list    string // "cbs" for an element of that list, "spec", or ""
	index   int    // in the list, or -1
	members []logMember
}

type logMember struct {
	name  []byte
	value span
}

// header reads the first line.
func (d *logDecoder) header(raw []byte, pos Pos) error {
	o := d.start(raw, pos)
	if kind := o.text("event"); d.err == nil && LogKind(kind) != LogHeader {
		d.fail("event", span{0, len(raw)}, "is not the header of an event log, which is a line like "+headerLine, ErrNotCapture)
	}
	version := o.number("version", maxWhole)
	if d.err == nil {
		switch {
		case !version.OK:
			d.fail("version", span{}, "missing", nil)
		case version.V > LogVersion:
			d.fail("version", o.at("version"), fmt.Sprintf("is later than %d, the version that is known here", LogVersion), ErrVersion)
		case version.V == 0:
			d.fail("version", o.at("version"), "is no version", nil)
		}
	}
	d.process, d.tag = o.text("process"), o.text("tag")
	if d.err != nil {
		return d.err
	}
	return nil
}

// event reads another line. What is wrong with the fields of a query is kept with it,
// so that it can be the answer.
func (d *logDecoder) event(raw []byte, pos Pos) (*LogEvent, error) {
	o := d.start(raw, pos)
	e := &LogEvent{Pos: pos, Process: d.process, Tag: d.tag}
	if d.err != nil {
		return nil, d.err
	}
	asks := o.get("query") != nil
	if !asks && o.get("event") == nil {
		d.fail("event", span{}, "missing", nil)
	}
	if id := o.get("id"); id != nil {
		e.ID = bytes.Clone(id)
	}
	if t := o.get("t"); t != nil {
		if c := t[0]; c != '-' && (c < '0' || c > '9') || len(t) > maxDigits {
			d.fail("t", o.at("t"), "is not a number of at most 64 characters", nil)
		}
		e.T = clip(t)
	}
	e.Process, e.Tag = o.textOr("process", d.process), o.textOr("tag", d.tag)
	if asks {
		e.Kind, e.Query = LogQuery, o.text("query")
		if d.err == nil {
			o.question(e)
		}
		e.Anomaly, e.bad = d.anomaly, d.err
		return e, nil
	}
	if e.Kind = LogKind(o.text("event")); d.err == nil {
		o.fields(e)
	}
	if e.Anomaly = d.anomaly; d.err != nil {
		return nil, d.err
	}
	return e, nil
}

// fields reads the fields that an event of its kind has.
func (o *logObject) fields(e *LogEvent) {
	switch e.Kind {
	case LogDevice:
		e.Device = device.ID(o.id("device"))
		e.Spec = o.spec()
	case LogMesh:
		e.Device = device.ID(o.id("first"))
		e.Rows, e.Cols = o.need("rows", math.MaxInt32), o.need("cols", math.MaxInt32)
		e.Spec = o.spec()
	case LogRemove, LogResetPeaks:
		e.Devices = o.devices()
	case LogProgram:
		e.Program = program.ID(o.id("program"))
		e.Name = o.text("name")
		e.CBs = o.cbs()
	case LogReplace:
		e.Program = program.ID(o.id("program"))
		if o.get("with") != nil {
			e.With = some(program.ID(o.id("with")))
		}
	case LogRegister, LogUnregister, LogDispatch, LogEnqueue, LogEvict:
		e.Program = program.ID(o.id("program"))
		e.Devices = o.devices()
	case LogTraceBegin:
		e.Trace = o.id("trace")
		e.Devices = o.devices()
	case LogRecord:
		e.Trace = o.id("trace")
		e.Program = program.ID(o.id("program"))
	case LogTraceEnd, LogReplay, LogRelease:
		e.Trace = o.id("trace")
	case LogAllocate:
		o.buffer(e)
	case LogFree:
		e.Buffer.ID = device.BufferID(o.id("buffer"))
		e.Devices = o.devices()
	case LogOpStart:
		e.Name = o.text("name")
	}
}

// question reads the fields of a query. Which of them it needs is known to whoever
// answers.
func (o *logObject) question(e *LogEvent) {
	if e.has.device = o.get("device") != nil; e.has.device {
		e.Device = device.ID(o.id("device"))
	}
	if e.has.program = o.get("program") != nil; e.has.program {
		e.Program = program.ID(o.id("program"))
	}
	if e.has.core = o.get("core") != nil; e.has.core {
		core, err := l1.ParseCore(o.text("core"))
		if err != nil {
			o.parse("core", err)
		}
		e.Core = core
	}
	if e.has.address = o.get("address") != nil; e.has.address {
		e.Address = o.number("address", maxWhole).V
	}
	e.CB = o.number("cb", math.MaxInt32)
	e.Devices = o.devices()
}

func (o *logObject) spec() (s l1.Spec) {
	d := o.d
	if o.get("spec") == nil {
		d.fail("spec", span{}, "missing", nil)
		return s
	}
	at := o.at("spec")
	if d.err != nil || d.raw[at.start] != '{' {
		d.fail("spec", at, "is not an object", nil)
		return s
	}
	in := d.object(at, "spec", -1)
	if arch := in.text("arch"); arch != "" {
		known, err := l1.ParseArch(arch)
		if err != nil {
			in.parse("arch", err)
		}
		s = l1.ArchSpec(known)
	}
	if name := in.text("board"); name != "" {
		found := false
		for _, board := range l1.Boards() {
			if board.Name == name {
				arch := s.Arch
				if s, found = board, true; arch != "" {
					s.Arch = arch
				}
			}
		}
		if !found {
			d.fail(in.path("board"), in.at("board"), "is not a board that is known here; give its numbers", nil)
		}
	}
	s.Name = in.textOr("name", s.Name)
	for _, f := range []struct {
		name string
		into *int
	}{{"cols", &s.Cols}, {"rows", &s.Rows}, {"cb_indices", &s.CBIndices}} {
		*f.into = int(in.number(f.name, math.MaxInt32).Or(uint64(*f.into)))
	}
	for _, f := range []struct {
		name string
		into *uint64
	}{{"l1_size", &s.L1Size}, {"cb_base", &s.CBBase}, {"cb_align", &s.CBAlign}, {"l1_align", &s.L1Align}, {"l1_small", &s.L1Small}} {
		*f.into = in.number(f.name, maxWhole).Or(*f.into)
	}
	return s
}

// cbs reads the buffers of a program: those that are stated, then those with their
// ranges given.
func (o *logObject) cbs() (out []program.CB) {
	for in := range o.objects("cbs") {
		cb := program.CB{
			Cores: in.coreRangeSet(),
			Size:  in.needWhole("size"),
			Alias: int(in.number("alias", math.MaxInt).V),
		}
		if kind := in.text("kind"); kind != "" {
			k, ok := memoryKind(kind, device.KindCB, device.KindScratchpad)
			if !ok {
				in.d.fail(in.path("kind"), in.at("kind"), "is none of cb, dataflow, scratchpad", nil)
			}
			cb.Kind = program.Kind(k)
		}
		if address := in.number("address", maxWhole); address.OK {
			cb.Address, cb.Fixed = address.V, true
		}
		cb.Global = in.flag("global")
		for index := range in.objects("indices") {
			cb.Indices = append(cb.Indices, program.Index{
				Number:   index.need("index", math.MaxInt),
				PageSize: index.number("page_size", maxWhole).V,
			})
		}
		if o.d.err != nil {
			return nil
		}
		out = append(out, cb)
	}
	for in := range o.objects("ranges") {
		r := l1.Range{Start: in.needWhole("start"), End: in.needWhole("end")}
		cb := program.CB{Cores: in.coreRangeSet(), Size: r.End - r.Start, Address: r.Start, Fixed: true} // as Builder.Range
		if o.d.err != nil {
			return nil
		}
		out = append(out, cb)
	}
	return out
}

func (o *logObject) buffer(e *LogEvent) {
	b := &e.Buffer
	b.ID = device.BufferID(o.id("buffer"))
	b.Name = o.text("name")
	b.Size = o.number("size", maxWhole).V
	b.Backing = o.flag("backing")
	e.Devices = o.devices()
	kind := o.text("kind")
	var ok bool
	if b.Kind, ok = memoryKind(kind, device.KindL1, device.KindSystem); !ok {
		o.d.fail("kind", o.at("kind"), "is none of l1, l1_small, global_cb, service, kernel, reserved, dram, trace, system", nil)
	}
	for in := range o.objects("parts") {
		address := in.needWhole("address")
		part := LogPart{Range: l1.Range{Start: address, End: address + in.needWhole("size")}}
		if in.get("cores") != nil {
			part.Cores = some(in.coreRangeSet().Cores())
		}
		if o.d.err != nil {
			return
		}
		e.Parts = append(e.Parts, part)
	}
}

func (o *logObject) devices() (ids Opt[[]device.ID]) {
	raw := o.get("devices")
	if raw == nil {
		return ids
	}
	at := o.at("devices")
	c := cursor{b: o.d.raw[:at.end], i: at.start}
	if !c.enter('[') {
		o.d.fail("devices", at, "is not an array", nil)
		return ids
	}
	ids.OK = true
	for c.next() {
		at := c.value()
		id, wrong := wholeID(o.d.raw[at.start:at.end])
		if wrong != "" {
			o.d.fail("devices", at, wrong, nil)
			return ids
		}
		ids.V = append(ids.V, device.ID(id))
	}
	return ids
}

// coreRangeSet reads cores: a set, a rectangle or one core, in either spelling.
func (o *logObject) coreRangeSet() (set l1.CoreRangeSet) {
	d := o.d
	raw := o.get("cores")
	if raw == nil {
		d.fail(o.path("cores"), span{}, "missing", nil)
	}
	if d.err != nil {
		return set
	}
	if set, ok := d.cores[string(raw)]; ok {
		return set
	}
	text := o.text("cores")
	if d.err != nil {
		return set
	}
	var err error
	switch trimmed := strings.TrimLeft(text, " \t\r\n"); {
	case strings.HasPrefix(trimmed, "{"):
		set, err = l1.ParseCoreRangeSet(text)
	case strings.HasPrefix(trimmed, "["):
		var r l1.CoreRange
		if r, err = l1.ParseCoreRange(text); err == nil {
			set, err = l1.NewCoreRangeSet(r)
		}
	default:
		var c l1.Core
		if c, err = l1.ParseCore(text); err == nil {
			set, err = l1.NewCoreRangeSet(l1.CoreRange{Start: c, End: c})
		}
	}
	if err != nil {
		o.parse("cores", err)
		return set
	}
	d.cores.keep(raw, set)
	return set
}

// start begins a line, which is valid JSON.
func (d *logDecoder) start(raw []byte, pos Pos) *logObject {
	d.raw, d.pos, d.anomaly, d.err = raw, pos, 0, nil
	c := cursor{b: raw}
	if c.space() != '{' {
		d.fail("", span{0, len(raw)}, "is not an event, which is an object", ErrNotCapture)
		return &logObject{d: d, index: -1}
	}
	return d.object(c.value(), "", -1)
}

// object notes where the members of an object are.
func (d *logDecoder) object(at span, list string, index int) *logObject {
	o := &logObject{d: d, list: list, index: index}
	c := cursor{b: d.raw[:at.end], i: at.start}
	c.enter('{')
	for c.next() {
		key := c.key()
		name := d.raw[key.start+1 : key.end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(unquote(d.raw[key.start:key.end]))
		}
		o.members = append(o.members, logMember{name, c.value()})
	}
	return o
}

// objects yields the elements of a list of objects, none if there is no such list.
func (o *logObject) objects(name string) func(yield func(*logObject) bool) {
	return func(yield func(*logObject) bool) {
		if o.get(name) == nil {
			return
		}
		at := o.at(name)
		c := cursor{b: o.d.raw[:at.end], i: at.start}
		if !c.enter('[') {
			o.d.fail(o.path(name), at, "is not an array", nil)
			return
		}
		for i := 0; o.d.err == nil && c.next(); i++ {
			at := c.value()
			if o.d.raw[at.start] != '{' {
				o.d.fail(fmt.Sprintf("%s[%d]", o.path(name), i), at, "is not an object", nil)
				return
			}
			if !yield(o.d.object(at, o.path(name), i)) {
				return
			}
		}
	}
}

// at returns where the value of a key is, the zero span if there is none. A key that
// comes twice must have equal values.
func (o *logObject) at(name string) (at span) {
	for _, m := range o.members {
		switch {
		case string(m.name) != name:
		case at == span{}:
			at = m.value
		case same(o.d.raw[at.start:at.end], o.d.raw[m.value.start:m.value.end]):
			o.d.anomaly |= AnomalyDuplicateKey
		default:
			o.d.fail(o.path(name), m.value, "is the second value of this key, and not equal to the first", nil)
			return span{}
		}
	}
	return at
}

// get returns the value of a key, or nil if it is absent or null.
func (o *logObject) get(name string) []byte {
	at := o.at(name)
	raw := o.d.raw[at.start:at.end]
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	return raw
}

func (o *logObject) number(name string, most uint64) (v Opt[uint64]) {
	raw := o.get(name)
	if raw == nil {
		return v
	}
	n, wrong := whole(raw)
	if wrong == "" && n > most {
		wrong = fmt.Sprintf("is above %d", most)
	}
	if wrong != "" {
		o.d.fail(o.path(name), o.at(name), wrong, nil)
		return v
	}
	return some(n)
}

// needWhole reads a number that must be there.
func (o *logObject) needWhole(name string) uint64 {
	v := o.number(name, maxWhole)
	if !v.OK {
		o.d.fail(o.path(name), span{}, "missing", nil)
	}
	return v.V
}

func (o *logObject) need(name string, most uint64) int {
	v := o.number(name, most)
	if !v.OK {
		o.d.fail(o.path(name), span{}, "missing", nil)
	}
	return int(v.V)
}

// id reads an id, which must be there. Any number up to 2^64-1 is one.
func (o *logObject) id(name string) uint64 {
	raw := o.get(name)
	if raw == nil {
		o.d.fail(o.path(name), span{}, "missing", nil)
		return 0
	}
	id, wrong := wholeID(raw)
	if wrong != "" {
		o.d.fail(o.path(name), o.at(name), wrong, nil)
	}
	return id
}

// wholeID is whole for ids, which may be above 2^63-1.
func wholeID(raw []byte) (id uint64, wrong string) {
	if len(raw) <= 20 {
		if id, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
			return id, ""
		}
	}
	return whole(raw)
}

func (o *logObject) flag(name string) bool {
	raw := o.get(name)
	if raw == nil {
		return false
	}
	v, ok := flag(raw)
	if !ok {
		o.d.fail(o.path(name), o.at(name), "is not a flag: 0, 1, true or false", nil)
	}
	return v
}

func (o *logObject) text(name string) string { return o.textOr(name, "") }

func (o *logObject) textOr(name, absent string) string {
	raw := o.get(name)
	switch {
	case raw == nil:
		return absent
	case raw[0] != '"':
		o.d.fail(o.path(name), o.at(name), "is not a string", nil)
		return ""
	}
	return unquote(raw)
}

// parse notes an error of package l1 about a text, which the error repeats.
func (o *logObject) parse(name string, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[*l1.ParseError](err); ok {
		reason = fmt.Sprintf("is not a %s: position %d: %s", e.What, e.Pos, e.Reason)
	}
	o.d.fail(o.path(name), o.at(name), reason, err)
}

// path returns the name of a field with where it stands: "cbs[2].size".
func (o *logObject) path(name string) string {
	switch {
	case o.list == "":
		return name
	case o.index < 0:
		return o.list + "." + name
	}
	return fmt.Sprintf("%s[%d].%s", o.list, o.index, name)
}

// fail notes the first error of a line. at is the value at fault, or nothing if it is
// missing.
func (d *logDecoder) fail(name string, at span, reason string, cause error) {
	if d.err != nil {
		return
	}
	d.err = &InputError{
		File:   d.file,
		Offset: d.pos.Offset + int64(at.start),
		Line:   d.pos.Line,
		Node:   -1,
		Field:  name,
		Value:  clip(d.raw[at.start:at.end]),
		Reason: reason,
		Err:    cause,
	}
}

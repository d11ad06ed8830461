package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/tensor"
)

// maxNode is the largest node, or section of a report, that is read, in bytes.
const maxNode = 16 << 20

// maxList is the longest list of the tensors of a function that is read, in bytes.
const maxList = 64 << 10

// A Decoder turns the bytes of one node after the other into Nodes. Captures repeat
// the same few names and core range sets, which it therefore keeps.
type Decoder struct {
	file  string
	texts map[string]string
	cores coreSets
	hash  hash.Hash64
	again shapes
	names bool // what tensors and functions say of each other is read too

	byType map[Type]decode

	// The node at hand.
	at      Node
	json    jsonobject.Reader
	inner   jsonobject.Reader // of texts inside it
	raw     []byte
	pos     event.Pos
	top     jsonobject.Object // the node itself
	anomaly event.Anomaly
	err     *event.InputError // about the node as a whole; what else is wrong has json
}

func newDecoder(file string) *Decoder {
	d := &Decoder{file: file, texts: make(map[string]string), cores: make(coreSets), hash: fnv.New64a(), again: newShapes()}
	d.byType = decodes()
	return d
}

// next decodes the next element of a graph, and passes it. The node is valid until the next one is decoded.
func (d *Decoder) next(s *jsonobject.Scanner, pos event.Pos) (*Node, error) {
	if known := d.again.ahead(s, pos.Node); known != nil {
		return d.repeated(known, pos), nil
	}
	raw, err := s.Capture(maxNode)
	if err != nil {
		return nil, ScanError(d.file, pos.Node, err)
	}
	return d.read(raw, pos)
}

// read decodes a text, unless its shape is known.
func (d *Decoder) read(raw []byte, pos event.Pos) (*Node, error) {
	known, hash := d.again.find(raw, pos.Node)
	if known != nil {
		return d.repeated(known, pos), nil
	}
	if !d.again.learns {
		d.again.follows(nil)
		return &d.at, d.node(&d.at, raw, pos)
	}
	made := &shape{}
	err := d.node(&made.node, raw, pos)
	if err == nil && d.again.learns {
		for at := range d.json.Unread() {
			d.again.hole(raw, at, math.MaxUint64, nil)
		}
		d.again.keep(made, hash, raw)
	}
	return &made.node, err
}

// repeated returns the node of a shape, in another place.
func (d *Decoder) repeated(known *shape, pos event.Pos) *Node {
	d.again.follows(known)
	known.node.Pos = pos
	return &known.node
}

// node decodes the bytes of one element of a graph, which are valid JSON. It keeps
// none of them. A node without its counter is refused; any other field that cannot be read makes it
// Unreadable.
func (d *Decoder) node(n *Node, raw []byte, pos event.Pos) error {
	d.raw, d.pos, d.anomaly, d.err = raw, pos, 0, nil
	if raw[0] != '{' {
		return d.inputError("", 0, raw, "is not a node, which is an object", nil)
	}
	d.top = d.json.Read(raw)
	*n = Node{Pos: pos}
	n.Counter = d.counter(n)
	if d.ok() {
		n.Type = d.kind()
	} else if d.err == nil {
		return d.fieldError()
	}
	n.Tensor.HidesMode, n.Tensor.HidesPlace = n.Type == "", n.Type == ""
	if d.ok() {
		d.rest(n)
	}
	if d.err != nil {
		return d.err
	}
	if d.json.Err() != nil {
		n.Unreadable = d.fieldError()
	}
	if d.json.Twice() {
		d.anomaly |= event.AnomalyDuplicateKey
	}
	n.Anomaly = d.anomaly
	return nil
}

// rest decodes the fields that only some types of nodes have. Of types that are not known it looks for
// nothing but keys that come twice.
func (d *Decoder) rest(n *Node) {
	decode, known := d.byType[n.Type]
	if !known {
		_, _ = d.top.Has("params"), d.top.Has("connections")
		return
	}
	if decode == nil {
		return
	}
	params, _ := d.top.Object("params")
	if !d.ok() {
		n.Tensor.HidesMode, n.Tensor.HidesPlace = true, true
		if n.Type == TypeBufferAllocate {
			d.connections(n) // its tensor is known by them
		}
		return
	}
	decode(d, n, params)
}

// fieldError returns the error of the first field of the node that cannot be read.
func (d *Decoder) fieldError() *event.InputError {
	e := d.json.Err()
	return d.inputError(strings.TrimPrefix(e.Path, "params."), e.Offset, e.Value, e.Reason, e.Err)
}

func (d *Decoder) ok() bool { return d.err == nil && d.json.Err() == nil }

// inputError returns an error about a value at an offset of the node.
func (d *Decoder) inputError(field string, offset int64, value []byte, reason string, cause error) *event.InputError {
	return &event.InputError{
		File: d.file, Offset: d.pos.Offset + offset, Line: d.pos.Line + lines(d.raw[:offset]), Node: d.pos.Node,
		Field: field, Value: shown.Value(value), Reason: reason, Err: cause,
	}
}

// refuse notes that the node as a whole is something else than it should be.
func (d *Decoder) refuse(field, reason string) {
	if d.ok() {
		d.err = d.inputError(field, 0, nil, reason, event.ErrNotCapture)
	}
}

// counter returns the counter, which must be the node's index.
func (d *Decoder) counter(n *Node) uint64 {
	if !d.top.Has("counter") {
		switch {
		case d.top.Has("captured_graph"): // only in rows of a database
			d.refuse("captured_graph", "is inside an array of database rows: give one of these texts at a time")
		case d.pos.Node == 0:
			d.refuse("counter", "missing, so this array is something else (a python_io sidecar?)")
		default:
			d.top.Missing("counter")
		}
		return 0
	}
	counter, ok := d.top.Number("counter", jsonobject.MaxWhole)
	d.again.learns = d.again.learns && d.again.hole(d.raw, d.top.Place("counter"), jsonobject.MaxWhole, &n.Counter)
	if ok && counter != uint64(d.pos.Node) {
		d.top.Fail("counter", fmt.Sprintf("is out of order: %d belongs here", d.pos.Node), nil)
	}
	return counter
}

// kind returns the node's type. In 2024-08 it stood under name, tensors as
// tensor[0], tensor[1] and so on.
func (d *Decoder) kind() Type {
	if d.top.Has("node_type") {
		return Type(d.word(d.top, "node_type"))
	}
	if !d.top.Has("name") {
		d.top.Missing("node_type")
		return ""
	}
	if d.top.Has("in_edges") { // only in levelized graphs
		d.refuse("in_edges", "belongs to a levelized graph, which says nothing about memory: give the capture it was made from")
		return ""
	}
	name := d.word(d.top, "name")
	if index, ok := strings.CutPrefix(name, "tensor["); ok && strings.TrimLeft(index, "0123456789") == "]" {
		return TypeTensor
	}
	return Type(name)
}

// A decode reads what matters of a node out of its params.
type decode func(d *Decoder, n *Node, params jsonobject.Object)

// decodes returns how each known type of node is decoded, nil where nothing of it matters.
func decodes() map[Type]decode {
	return map[Type]decode{
		TypeCaptureStart:                nil,
		TypeCaptureEnd:                  nil,
		TypeFunctionStart:               (*Decoder).functionStart,
		TypeFunctionEnd:                 (*Decoder).functionEnd,
		TypeTensor:                      (*Decoder).tensor,
		TypeBuffer:                      (*Decoder).buffer,
		TypeBufferAllocate:              (*Decoder).bufferEvent,
		TypeBufferDeallocate:            (*Decoder).bufferEvent,
		TypeCircularBufferAllocate:      placing("globally_allocated"),
		TypeDataflowBufferAllocate:      placing("borrows_memory"),
		TypeScratchpadAllocate:          placing(""),
		TypeCircularBufferDeallocateAll: freeAll,
		TypeSubDeviceManager:            nil,
		TypeProgramExecution:            (*Decoder).execution,
		TypeError:                       (*Decoder).failure,
	}
}

func freeAll(d *Decoder, n *Node, p jsonobject.Object) {
	d.number(&n.DeviceID, p, "device_id", jsonobject.MaxInt)
}

func (d *Decoder) functionStart(n *Node, p jsonobject.Object) {
	n.Function.Name = d.word(p, "name")
	n.Function.CacheHit = flagOf(p, "program_cache_hit")
	if raw := d.top.Get("arguments"); !saysNothing(raw) {
		d.hash.Reset()
		d.hash.Write(raw) // never fails
		n.Function.Arguments = d.hash.Sum64()
	}
	if d.names {
		n.Function.Inputs = countersIn(d.top.Get("input_tensors"))
	}
}

func (d *Decoder) functionEnd(n *Node, p jsonobject.Object) {
	n.Function.Name = d.word(p, "name")
	if n.Function.Aborted = flagOf(p, "aborted").V; n.Function.Aborted {
		n.Function.AbortReason = d.word(p, "abort_reason")
	}
	if d.names {
		n.Function.Returns = countersIn(d.top.Get("connections"))
	}
}

// countersIn returns the counters in a list. A list of anything else has none: nothing depends on it.
func countersIn(raw []byte) (list []uint64) {
	if len(raw) > maxList || json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil
	}
	return list
}

func (d *Decoder) execution(n *Node, p jsonobject.Object) {
	d.number(&n.DeviceID, p, "device_id", jsonobject.MaxInt)
	d.number(&n.PhysicalDeviceID, p, "physical_device_id", jsonobject.MaxInt)
}

func (d *Decoder) failure(n *Node, p jsonobject.Object) {
	n.Error.Message = d.word(p, "error_message")
	n.Error.Operation = d.word(p, "error_operation")
}

// tensor decodes a tensor.
func (d *Decoder) tensor(n *Node, p jsonobject.Object) {
	d.connections(n)
	fails := d.json.Fails()
	d.number(&n.Address, p, addressIn(p), jsonobject.MaxWhole)
	n.Tensor.HidesPlace = d.json.Fails() > fails
	d.number(&n.Buffer.BufferType, p, "buffer_type", jsonobject.MaxWhole)
	d.number(&n.DeviceID, p, "device_id", jsonobject.MaxInt)
	n.Tensor.DeviceTensors = d.deviceTensors(p)
	fails = d.json.Fails()
	if raw := p.Get("memory_config"); raw != nil && raw[0] != '"' && raw[0] != '{' {
		p.Fail("memory_config", "is neither a string nor an object", nil)
	}
	n.Tensor.HidesMode = d.json.Fails() > fails
	n.Tensor.ShardGrid = d.cores.shardGrid(p.Get("memory_config"))
	if d.names {
		n.Tensor.Names = tensor.New(textIn(p, "shape"), textIn(p, "dtype"), textIn(p, "layout"))
	}
	switch config := p.Get("memory_config"); {
	case bytes.Contains(config, []byte("per_core_allocation=1")):
		n.Tensor.Mode = fit.PerCore
	case bytes.Contains(config, []byte("range_lockstep_allocation=1")):
		n.Tensor.Mode = fit.RangeLockstep
	}
}

// textIn returns a text, "" if there is something else: nothing depends on it.
func textIn(p jsonobject.Object, name string) string {
	raw := p.Get(name)
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return jsonobject.Unquote(raw)
}

// bufferEvent decodes an allocation or free of a buffer.
func (d *Decoder) bufferEvent(n *Node, p jsonobject.Object) {
	d.connections(n)
	d.number(&n.Address, p, addressIn(p), jsonobject.MaxWhole)
	d.number(&n.Size, p, "size", jsonobject.MaxWhole)
	d.number(&n.Buffer.MaxSizePerBank, p, "max_size_per_bank", jsonobject.MaxWhole)
	d.number(&n.Buffer.PageSize, p, "page_size", jsonobject.MaxWhole)
	d.number(&n.Buffer.NumCores, p, "num_cores", jsonobject.MaxWhole)
	d.number(&n.Buffer.BufferType, p, "buffer_type", jsonobject.MaxWhole)
	n.Buffer.TypeName = d.word(p, "type")
	n.Buffer.Layout = d.word(p, "layout")
	d.number(&n.DeviceID, p, "device_id", jsonobject.MaxInt)
}

// buffer decodes a buffer node, which is an identity and no event.
func (d *Decoder) buffer(n *Node, p jsonobject.Object) {
	d.connections(n)
	d.number(&n.Size, p, "size", jsonobject.MaxWhole)
	d.number(&n.Buffer.BufferType, p, "buffer_type", jsonobject.MaxWhole)
	d.number(&n.DeviceID, p, "device_id", jsonobject.MaxInt)
	n.Buffer.TypeName = d.word(p, "type")
}

// placing returns how things placed in L1 are decoded. The flag says that they are backed
// by something else; what all have, and must have, comes first.
func placing(flag string) decode {
	return func(d *Decoder, n *Node, p jsonobject.Object) {
		d.number(&n.Address, p, addressIn(p), jsonobject.MaxL1)
		d.number(&n.Size, p, "size", jsonobject.MaxL1)
		if !n.Address.OK {
			p.Missing("address")
		}
		if !n.Size.OK {
			p.Missing("size")
		}
		n.Placed.Cores = d.coreRangeSet(p)
		n.Placed.CoreArray = bytes.HasPrefix(p.Get("core_range_set"), []byte("["))
		d.number(&n.DeviceID, p, "device_id", jsonobject.MaxInt)
		if flag != "" {
			n.Placed.Global = flagOf(p, flag).V
		}
	}
}

// number decodes a number. Nodes of one shape may differ in it.
func (d *Decoder) number(to *event.Opt[uint64], o jsonobject.Object, name string, most uint64) {
	if *to = numberOf(o, name, most); to.OK && d.again.learns {
		d.again.hole(d.raw, o.Place(name), most, &to.V)
	}
}

// connections decodes the counters that a node points to.
func (d *Decoder) connections(n *Node) {
	n.Connections, _ = d.top.Numbers("connections")
	if !d.again.learns || len(n.Connections) == 0 {
		return
	}
	for i, at := range d.top.Places("connections") {
		d.again.learns = d.again.hole(d.raw, at, jsonobject.MaxWhole, &n.Connections[i]) && d.again.learns
	}
}

// addressIn returns the name of the address, which the 2024-08 dialect also calls addr.
func addressIn(p jsonobject.Object) string {
	if !p.Has("address") {
		return "addr"
	}
	return "address"
}

func numberOf(o jsonobject.Object, name string, most uint64) event.Opt[uint64] {
	v, ok := o.Number(name, most)
	return event.Opt[uint64]{V: v, OK: ok}
}

func flagOf(o jsonobject.Object, name string) event.Opt[bool] {
	v, ok := o.Flag(name)
	return event.Opt[bool]{V: v, OK: ok}
}

func (d *Decoder) coreRangeSet(p jsonobject.Object) (set l1.CoreRangeSet) {
	raw := p.Get("core_range_set")
	if raw == nil {
		p.Missing("core_range_set")
	}
	if !d.ok() {
		return set
	}
	if set, ok := d.cores[string(raw)]; ok {
		return set
	}
	if raw[0] == '[' {
		set = rectangles(p, "core_range_set")
	} else {
		set = d.coreText(p)
	}
	if d.ok() {
		d.cores.keep(raw, set)
	}
	return set
}

// coreText reads a core range set from a string, in tt-metal's spelling or as JSON.
func (d *Decoder) coreText(p jsonobject.Object) (set l1.CoreRangeSet) {
	text := d.word(p, "core_range_set")
	if !d.ok() {
		return set
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") && json.Valid([]byte(text)) {
		set = rectangles(memberIn(&d.inner, "list", []byte(text)), "list")
		if err := d.inner.Err(); err != nil {
			p.Fail("core_range_set", "is not a core range set: "+strings.TrimPrefix(err.Error(), "list"), err)
		}
		return set
	}
	set, err := l1.ParseCoreRangeSet(text)
	if err != nil {
		reason := err.Error()
		if syntax, ok := errors.AsType[*l1.ParseError](err); ok { // which repeats the text
			reason = fmt.Sprintf("is not a core range set: position %d: %s", syntax.Pos, syntax.Reason)
		}
		p.Fail("core_range_set", reason, err)
	}
	return set
}

// rectangles reads [{"start":{"x":0,"y":0},"end":{"x":7,"y":7}}, ...] and ignores other fields.
func rectangles(p jsonobject.Object, name string) (set l1.CoreRangeSet) {
	var ranges []l1.CoreRange
	for o := range p.Objects(name) {
		ranges = append(ranges, l1.CoreRange{Start: corner(o, "start"), End: corner(o, "end")})
	}
	set, err := l1.NewCoreRangeSet(ranges...)
	if err != nil {
		p.Fail(name, err.Error(), err)
	}
	return set
}

func corner(o jsonobject.Object, name string) l1.Core {
	in, ok := o.Object(name)
	if !ok {
		o.Missing(name)
		return l1.Core{}
	}
	return l1.Core{X: uint8(in.Need("x", math.MaxUint8)), Y: uint8(in.Need("y", math.MaxUint8))}
}

// deviceTensors reads an array that stands as JSON text in a string. It is the one
// field that may be malformed: without it only the mesh is unknown.
func (d *Decoder) deviceTensors(p jsonobject.Object) []DeviceTensor {
	raw := p.Get("device_tensors")
	if raw == nil {
		return nil
	}
	if raw[0] == '"' {
		raw = []byte(jsonobject.Unquote(raw))
		if !json.Valid(raw) {
			d.anomaly |= event.AnomalyDeviceTensors
			return nil
		}
	}
	var list []DeviceTensor
	in := memberIn(&d.inner, "list", raw)
	for o := range in.Objects("list") {
		t := DeviceTensor{Address: numberOf(o, "address", jsonobject.MaxWhole), MeshDeviceID: numberOf(o, "mesh_device_id", jsonobject.MaxInt)}
		t.DeviceID = o.Need("device_id", jsonobject.MaxInt)
		list = append(list, t)
	}
	if !in.Has("list") || d.inner.Err() != nil {
		d.anomaly |= event.AnomalyDeviceTensors
		return nil
	}
	return list
}

// word returns a text, the same memory for equal short ones.
func (d *Decoder) word(o jsonobject.Object, name string) string {
	raw := o.Get(name)
	if len(raw) > 0 && len(raw) <= maxTextSize {
		if text, ok := d.texts[string(raw)]; ok {
			return text
		}
	}
	text, ok := o.Text(name)
	if ok && len(raw) <= maxTextSize {
		if len(d.texts) == maxTexts {
			clear(d.texts)
		}
		d.texts[string(raw)] = text
	}
	return text
}

// saysNothing reports whether JSON is absent, null or an empty list.
func saysNothing(raw []byte) bool {
	if n := len(raw); n >= 2 && raw[0] == '[' && raw[n-1] == ']' {
		raw = bytes.TrimSpace(raw[1 : n-1])
	}
	return len(raw) == 0
}

package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

// MaxNode is the largest node, or section of a report, that is read, in bytes.
const MaxNode = 16 << 20

// A field is a key that matters, in a node or in its params.
type field uint8

const (
	fieldArguments field = iota
	fieldConnections
	fieldCounter
	fieldName
	fieldNodeType
	fieldParams
	fieldStackingLevel
	fieldInEdges
	fieldCapturedGraph
	fieldAddr
	fieldAddress
	fieldBorrowsMemory
	fieldBufferType
	fieldCacheHit
	fieldCoreRangeSet
	fieldDeviceID
	fieldDeviceTensors
	fieldErrorMessage
	fieldErrorOperation
	fieldErrorType
	fieldGloballyAllocated
	fieldLayout
	fieldMaxSizePerBank
	fieldMemoryConfig
	fieldNumCores
	fieldPageSize
	fieldPhysicalDeviceID
	fieldRuntimeID
	fieldSize
	fieldTensorID
	fieldType
	numFields
)

func fieldNames() [numFields]string {
	return [numFields]string{
		fieldArguments:         "arguments",
		fieldConnections:       "connections",
		fieldCounter:           "counter",
		fieldName:              "name",
		fieldNodeType:          "node_type",
		fieldParams:            "params",
		fieldStackingLevel:     "stacking_level",
		fieldInEdges:           "in_edges",       // only in levelized graphs
		fieldCapturedGraph:     "captured_graph", // only in rows of a database
		fieldAddr:              "addr",
		fieldAddress:           "address",
		fieldBorrowsMemory:     "borrows_memory",
		fieldBufferType:        "buffer_type",
		fieldCacheHit:          "program_cache_hit",
		fieldCoreRangeSet:      "core_range_set",
		fieldDeviceID:          "device_id",
		fieldDeviceTensors:     "device_tensors",
		fieldErrorMessage:      "error_message",
		fieldErrorOperation:    "error_operation",
		fieldErrorType:         "error_type",
		fieldGloballyAllocated: "globally_allocated",
		fieldLayout:            "layout",
		fieldMaxSizePerBank:    "max_size_per_bank",
		fieldMemoryConfig:      "memory_config",
		fieldNumCores:          "num_cores",
		fieldPageSize:          "page_size",
		fieldPhysicalDeviceID:  "physical_device_id",
		fieldRuntimeID:         "runtime_id",
		fieldSize:              "size",
		fieldTensorID:          "tensor_id",
		fieldType:              "type",
	}
}

// An object has the place of the value of each field that it contains.
type object [numFields]span

// A decoder turns the bytes of one node after the other into Nodes. Captures repeat
// the same few names and core range sets, which it therefore keeps.
type decoder struct {
	file   string
	names  [numFields]string
	fields map[string]field
	texts  map[string]string
	cores  coreSets
	hash   hash.Hash64

	// The node at hand. The first error stays; what is read after it is nothing.
	raw     []byte
	pos     Pos
	top     object // the node itself
	params  object
	anomaly Anomaly
	err     *InputError
}

// The numbers of texts and sets that are kept. When there are more, which no real
// capture has shown, the decoder forgets all and starts again.
const (
	maxTexts    = 4096
	maxTextSize = 128 // bytes
	maxCores    = 1024
)

func newDecoder(file string) *decoder {
	d := &decoder{
		file:   file,
		names:  fieldNames(),
		fields: make(map[string]field, numFields),
		texts:  make(map[string]string),
		cores:  make(coreSets),
		hash:   fnv.New64a(),
	}
	for f, name := range d.names {
		d.fields[name] = field(f)
	}
	return d
}

// node decodes the bytes of one element of a graph, which are valid JSON. It keeps
// none of them.
func (d *decoder) node(raw []byte, pos Pos) (*Node, error) {
	d.raw, d.pos, d.anomaly, d.err = raw, pos, 0, nil
	d.top, d.params = object{}, object{}
	if raw[0] != '{' {
		d.fail("", span{0, len(raw)}, "is not a node, which is an object", nil)
		return nil, d.err
	}
	d.collect(span{0, len(raw)}, &d.top)
	n := &Node{Pos: pos, Counter: d.counter(), Type: d.kind()}
	if d.err == nil && n.Type.Known() {
		d.known(n)
	}
	if d.err != nil {
		return nil, d.err
	}
	n.Anomaly = d.anomaly
	return n, nil
}

// counter returns the counter, which must be the node's index.
func (d *decoder) counter() uint64 {
	if d.get(&d.top, fieldCounter) == nil {
		switch {
		case d.get(&d.top, fieldCapturedGraph) != nil:
			d.fail(d.names[fieldCapturedGraph], span{}, "is inside an array of database rows: give one of these texts at a time", ErrNotCapture)
		case d.pos.Node == 0:
			d.fail(d.names[fieldCounter], span{}, "missing, so this array is something else (a python_io sidecar?)", ErrNotCapture)
		default:
			d.fail(d.names[fieldCounter], span{}, "missing", nil)
		}
		return 0
	}
	counter := d.number(&d.top, fieldCounter, maxWhole).V
	if d.err == nil && counter != uint64(d.pos.Node) {
		d.fail(d.names[fieldCounter], d.top[fieldCounter], fmt.Sprintf("is out of order: %d belongs here", d.pos.Node), nil)
	}
	return counter
}

// kind returns the node's type. In 2024-08 it stood under name, tensors as
// tensor[0], tensor[1] and so on.
func (d *decoder) kind() Type {
	if d.get(&d.top, fieldNodeType) != nil {
		return Type(d.text(&d.top, fieldNodeType))
	}
	if d.get(&d.top, fieldName) == nil {
		d.fail(d.names[fieldNodeType], span{}, "missing", nil)
		return ""
	}
	if d.get(&d.top, fieldInEdges) != nil {
		d.fail(d.names[fieldInEdges], span{}, "belongs to a levelized graph, which says nothing about memory: give the capture it was made from",
			ErrNotCapture)
		return ""
	}
	name := d.text(&d.top, fieldName)
	if index, ok := strings.CutPrefix(name, "tensor["); ok && strings.TrimLeft(index, "0123456789") == "]" {
		return TypeTensor
	}
	return Type(name)
}

// known decodes what matters of a node whose type is known.
func (d *decoder) known(n *Node) {
	n.StackingLevel = d.number(&d.top, fieldStackingLevel, maxWhole)
	if d.get(&d.top, fieldParams) != nil {
		if d.raw[d.top[fieldParams].start] != '{' {
			d.fail(d.names[fieldParams], d.top[fieldParams], "is not an object", nil)
			return
		}
		d.collect(d.top[fieldParams], &d.params)
	}
	p := &d.params
	switch n.Type {
	case TypeFunctionStart:
		n.Name = d.text(p, fieldName)
		n.CacheHit = d.flag(p, fieldCacheHit)
		if raw := d.get(&d.top, fieldArguments); raw != nil {
			d.hash.Reset()
			d.hash.Write(raw) // never fails
			n.Arguments = d.hash.Sum64()
		}
	case TypeFunctionEnd:
		n.Name = d.text(p, fieldName)
	case TypeTensor:
		n.Connections = d.connections()
		n.TensorID = d.number(p, fieldTensorID, maxWhole)
		n.Address = d.address(maxWhole)
		n.Size = d.number(p, fieldSize, maxWhole)
		n.BufferType = d.number(p, fieldBufferType, maxWhole)
		n.Layout = d.text(p, fieldLayout)
		n.DeviceID = d.number(p, fieldDeviceID, maxDeviceID)
		n.DeviceTensors = d.deviceTensors()
		n.ShardGrid = d.shardGrid()
	case TypeBuffer:
		n.Connections = d.connections()
		d.lenient(n)
	case TypeBufferAllocate, TypeBufferDeallocate:
		n.Connections = d.connections()
		n.Address = d.address(maxWhole)
		n.Size = d.number(p, fieldSize, maxWhole)
		n.MaxSizePerBank = d.number(p, fieldMaxSizePerBank, maxWhole)
		n.PageSize = d.number(p, fieldPageSize, maxWhole)
		n.NumCores = d.number(p, fieldNumCores, maxWhole)
		n.BufferType = d.number(p, fieldBufferType, maxWhole)
		n.TypeName = d.text(p, fieldType)
		n.Layout = d.text(p, fieldLayout)
		n.DeviceID = d.number(p, fieldDeviceID, maxDeviceID)
	case TypeCircularBufferAllocate:
		d.placed(n)
		n.Global = d.flag(p, fieldGloballyAllocated).V
	case TypeDataflowBufferAllocate:
		d.placed(n)
		n.Global = d.flag(p, fieldBorrowsMemory).V
	case TypeScratchpadAllocate:
		d.placed(n)
	case TypeCircularBufferDeallocateAll, TypeSubDeviceManager:
		n.DeviceID = d.number(p, fieldDeviceID, maxDeviceID)
	case TypeProgramExecution:
		n.DeviceID = d.number(p, fieldDeviceID, maxDeviceID)
		n.PhysicalDeviceID = d.number(p, fieldPhysicalDeviceID, maxDeviceID)
		n.RuntimeID = d.number(p, fieldRuntimeID, maxWhole)
	case TypeError:
		n.ErrorType = d.text(p, fieldErrorType)
		n.ErrorMessage = d.text(p, fieldErrorMessage)
		n.ErrorOperation = d.text(p, fieldErrorOperation)
	}
}

// lenient decodes what a buffer node says of its buffer, as far as that makes sense:
// the node is an identity and no event.
func (d *decoder) lenient(n *Node) {
	for f, into := range map[field]*Opt[uint64]{fieldSize: &n.Size, fieldBufferType: &n.BufferType} {
		if raw := d.get(&d.params, f); raw != nil {
			if v, wrong := whole(raw); wrong == "" {
				*into = some(v)
			}
		}
	}
	if raw := d.get(&d.params, fieldType); raw != nil && raw[0] == '"' {
		n.TypeName = d.text(&d.params, fieldType)
	}
}

// placed decodes what all things placed in L1 have, and must have.
func (d *decoder) placed(n *Node) {
	n.Address = d.address(maxL1)
	n.Size = d.number(&d.params, fieldSize, maxL1)
	d.need(n.Address.OK, fieldAddress)
	d.need(n.Size.OK, fieldSize)
	n.Cores = d.coreRangeSet()
	n.DeviceID = d.number(&d.params, fieldDeviceID, maxDeviceID)
}

func (d *decoder) need(ok bool, f field) {
	if !ok {
		d.fail(d.names[f], span{}, "missing", nil)
	}
}

// address reads the address, which the 2024-08 dialect also calls addr.
func (d *decoder) address(most uint64) Opt[uint64] {
	if d.get(&d.params, fieldAddress) == nil {
		return d.number(&d.params, fieldAddr, most)
	}
	return d.number(&d.params, fieldAddress, most)
}

func (d *decoder) coreRangeSet() (set l1.CoreRangeSet) {
	raw := d.get(&d.params, fieldCoreRangeSet)
	d.need(raw != nil, fieldCoreRangeSet)
	if d.err != nil {
		return set
	}
	if set, ok := d.cores[string(raw)]; ok {
		return set
	}
	text := d.text(&d.params, fieldCoreRangeSet)
	if d.err != nil {
		return set
	}
	set, err := l1.ParseCoreRangeSet(text)
	if err != nil {
		reason := err.Error()
		if syntax, ok := errors.AsType[*l1.ParseError](err); ok { // which repeats the text
			reason = fmt.Sprintf("is not a core range set: position %d: %s", syntax.Pos, syntax.Reason)
		}
		d.fail(d.names[fieldCoreRangeSet], d.params[fieldCoreRangeSet], reason, err)
		return set
	}
	d.cores.keep(raw, set)
	return set
}

// coreSets remembers what core range sets were parsed to, by their text.
type coreSets map[string]l1.CoreRangeSet

func (s coreSets) keep(raw []byte, set l1.CoreRangeSet) {
	if len(raw) > 8*maxTextSize {
		return
	}
	if len(s) == maxCores {
		clear(s)
	}
	s[string(raw)] = set
}

// connections reads the counters that a node points to.
func (d *decoder) connections() []uint64 {
	raw := d.get(&d.top, fieldConnections)
	if raw == nil {
		return nil
	}
	at := d.top[fieldConnections]
	c := cursor{b: d.raw[:at.end], i: at.start}
	if !c.enter('[') {
		d.fail(d.names[fieldConnections], at, "is not an array", nil)
		return nil
	}
	// Most lists have their final size at once; commas in hostile text cost nothing.
	list := make([]uint64, 0, min(bytes.Count(raw, []byte(","))+1, 1024))
	for c.next() {
		at := c.value()
		v, wrong := whole(d.raw[at.start:at.end])
		if wrong != "" {
			d.fail(d.names[fieldConnections], at, wrong, nil)
			return nil
		}
		list = append(list, v)
	}
	return list
}

// deviceTensors reads an array that stands as JSON text in a string. It is the one
// field that may be malformed: without it only the mesh is unknown.
func (d *decoder) deviceTensors() []DeviceTensor {
	raw := d.get(&d.params, fieldDeviceTensors)
	if raw == nil {
		return nil
	}
	if raw[0] == '"' {
		raw = []byte(unquote(raw))
		if !json.Valid(raw) {
			d.anomaly |= AnomalyDeviceTensors
			return nil
		}
	}
	list, ok := parseDeviceTensors(raw)
	if !ok {
		d.anomaly |= AnomalyDeviceTensors
		return nil
	}
	return list
}

func parseDeviceTensors(raw []byte) (list []DeviceTensor, ok bool) {
	c := cursor{b: raw}
	if !c.enter('[') {
		return nil, false
	}
	for c.next() {
		if !c.enter('{') {
			return nil, false
		}
		var t DeviceTensor
		var id Opt[uint64]
		for c.next() {
			key := c.key()
			value := c.value()
			var into *Opt[uint64]
			most := uint64(maxDeviceID)
			switch string(raw[key.start:key.end]) {
			case `"address"`:
				into, most = &t.Address, maxWhole
			case `"device_id"`:
				into = &id
			case `"mesh_device_id"`:
				into = &t.MeshDeviceID
			default:
				continue
			}
			if string(raw[value.start:value.end]) == "null" {
				continue
			}
			v, wrong := whole(raw[value.start:value.end])
			if wrong != "" || v > most || into.OK && into.V != v {
				return nil, false
			}
			*into = some(v)
		}
		if !id.OK {
			return nil, false
		}
		t.DeviceID = id.V
		list = append(list, t)
	}
	return list, true
}

// collect notes where the values of the object at are. A key that comes twice must
// have equal values; keys that do not matter may do as they like.
func (d *decoder) collect(at span, into *object) {
	c := cursor{b: d.raw[:at.end], i: at.start}
	c.enter('{')
	for c.next() {
		key := c.key()
		value := c.value()
		f, ok := d.fields[string(d.raw[key.start+1:key.end-1])]
		if !ok && bytes.IndexByte(d.raw[key.start:key.end], '\\') >= 0 {
			f, ok = d.fields[unquote(d.raw[key.start:key.end])]
		}
		if !ok {
			continue
		}
		if old := into[f]; old != (span{}) {
			if !same(d.raw[old.start:old.end], d.raw[value.start:value.end]) {
				d.fail(d.names[f], value, "is the second value of this key, and not equal to the first", nil)
				return
			}
			d.anomaly |= AnomalyDuplicateKey
			continue
		}
		into[f] = value
	}
}

// get returns the value of f, or nil if it is absent or null.
func (d *decoder) get(o *object, f field) []byte {
	at := o[f]
	raw := d.raw[at.start:at.end]
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	return raw
}

func (d *decoder) number(o *object, f field, most uint64) (v Opt[uint64]) {
	raw := d.get(o, f)
	if raw == nil {
		return v
	}
	n, wrong := whole(raw)
	if wrong == "" && n > most {
		wrong = "is above 2^31-1"
		if most == maxL1 {
			wrong = "is above 2^32-1, the largest L1 address"
		}
	}
	if wrong != "" {
		d.fail(d.names[f], o[f], wrong, nil)
		return v
	}
	return some(n)
}

func (d *decoder) flag(o *object, f field) (v Opt[bool]) {
	raw := d.get(o, f)
	if raw == nil {
		return v
	}
	b, ok := flag(raw)
	if !ok {
		d.fail(d.names[f], o[f], "is not a flag: 0, 1, true or false", nil)
		return v
	}
	return some(b)
}

func (d *decoder) text(o *object, f field) string {
	raw := d.get(o, f)
	switch {
	case raw == nil:
		return ""
	case raw[0] != '"':
		d.fail(d.names[f], o[f], "is not a string", nil)
		return ""
	case len(raw) > maxTextSize:
		return unquote(raw)
	}
	if text, ok := d.texts[string(raw)]; ok {
		return text
	}
	if len(d.texts) == maxTexts {
		clear(d.texts)
	}
	text := unquote(raw)
	d.texts[string(raw)] = text
	return text
}

// fail notes the first error of a node. at is the value at fault, or nothing if it
// is the node as a whole.
func (d *decoder) fail(name string, at span, reason string, cause error) {
	if d.err != nil {
		return
	}
	d.err = &InputError{
		File:   d.file,
		Offset: d.pos.Offset + int64(at.start),
		Line:   d.pos.Line + lines(d.raw[:at.start]),
		Node:   d.pos.Node,
		Field:  name,
		Value:  clip(d.raw[at.start:at.end]),
		Reason: reason,
		Err:    cause,
	}
}

// lines returns the number of line ends in b: LF, CRLF or CR.
func lines(b []byte) int64 {
	return int64(bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) - bytes.Count(b, []byte("\r\n")))
}

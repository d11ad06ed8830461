package graph

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/l1"
)

// ListsKey is the key of the lists of buffers in a report.
const ListsKey = "per_operation_buffers"

// BufferSize is how much of the (decompressed) input is held at a time, in bytes.
const BufferSize = 256 << 10

// ErrStop says that the caller wants no more nodes.
var ErrStop = errors.New("stopped by the caller")

// A Document is JSON text with a graph in it: its other sections, and the functions that receive its nodes.
type Document struct {
	File   string
	Info   Report                         // complete when all was read
	Object bool                           // it is a report around a graph
	Before Shift                          // of a slice
	Count  int64                          // nodes yielded of the array at hand
	Yield  func(*Node) bool               // takes a node
	Listed func(ListedBuffer)             // gets the rows of per_operation_buffers; nil = they are skipped
	Ended  func(start, next uint64) error // takes the end of a slice: its first node, and that of the next one
	Names  bool                           // nodes say what tensors are, and who takes them
}

// Decoder returns a decoder of nodes with the names that the document asks for.
func (d *Document) Decoder(file string) *Decoder {
	of := newDecoder(file)
	of.names = d.Names
	return of
}

// Shift counts the nodes, bytes and lines before a slice of a database. The counters of each slice begin
// at 0; all slices together are counted as one capture.
type Shift struct {
	Nodes        uint64
	Bytes, Lines int64
	Buffers      map[uint64]bool // counters in this slice of its buffer nodes
	Errors       int64           // error nodes of all slices
	NamedDevice  bool            // a node named a device
}

// A Report has the sections of a report besides its graph. Of a bare array it is zero.
type Report struct {
	Version   event.Opt[uint64] // of the report's format
	Rank      event.Opt[uint64] // of the host process that wrote it
	WorldSize event.Opt[uint64] // number of such processes
	Devices   []Device
	Anomaly   event.Anomaly
	// Lost is how many operations a database names and has no graph of, LostName the first.
	Lost     int64
	LostName string
	// Unread are the sections and rows with a field that cannot be read, Listed such rows in lists of
	// buffers.
	Unread, Listed UnreadRows
}

// Lose records that an operation is not shown.
func (i *Report) Lose(name string) {
	if i.Lost++; i.Lost == 1 {
		i.LostName = name
	}
}

// UnreadRows counts rows or sections that cannot be read, and says why the first one cannot.
type UnreadRows struct {
	Count int64
	Why   string
}

// Add counts a row or section.
func (u *UnreadRows) Add(e *event.InputError) {
	if u.Count++; u.Count == 1 {
		u.Why = ReasonOf(e)
	}
}

// ReasonOf returns the text of an error without its place in the input.
func ReasonOf(e *event.InputError) string {
	why := *e
	why.File, why.Line, why.Node = "", 0, -1
	return why.Error()
}

// A Device describes a device or mesh that a report knows. Sizes and addresses
// are in bytes.
type Device struct {
	ID           uint64 // of a chip or of a mesh
	GridX, GridY event.Opt[uint64]
	WorkerL1Size event.Opt[uint64] // size of L1 on one core
	CBBase       event.Opt[uint64] // lowest address of circular buffers
	BankSize     event.Opt[uint64] // of L1: what its buffers may take of one core

	Unreadable bool // a field of it cannot be read: it says nothing
}

// SmallBytes returns the size of L1_SMALL by a row that has all three numbers.
func (d Device) SmallBytes() (uint64, bool) {
	return l1.SmallBytes(d.WorkerL1Size.V, d.CBBase.V, d.BankSize.V)
}

// IsNegative reports whether base and bank of a row are larger than its L1.
func (d Device) IsNegative() bool {
	_, ok := d.SmallBytes()
	return !ok && d.WorkerL1Size.V > 0 && d.CBBase.V > 0 && d.BankSize.V > 0
}

// MaxNames is how many keys an error lists.
const MaxNames = 8

// Read reads the whole text: an array of nodes, or a report around one.
func (d *Document) Read(in io.Reader) error {
	s := jsonobject.New(in, BufferSize)
	const other = "; cbl1 explain reads tt-metal's messages in a text"
	k, err := s.Kind()
	if err != nil {
		if e, ok := errors.AsType[*jsonobject.Error](err); ok && e.Err == nil {
			e.Reason += other
		}
		return err
	}
	switch k {
	case jsonobject.KindArray:
		err = d.Array(s, d.Decoder(d.File))
	case jsonobject.KindObject:
		err = d.report(s)
	default:
		err = d.ErrorAt(s, "", k.String()+" is not a capture, which is an array or a report object"+other, event.ErrNotCapture)
	}
	if err != nil {
		return err
	}
	return s.End()
}

// report reads the object around a graph. The keys may come in any order.
func (d *Document) report(s *jsonobject.Scanner) error {
	d.Object = true
	var graph string // the key that had it
	var keys []string
	sections := make(map[string]bool)
	err := s.Each(func() error {
		offset, line := s.Offset(), s.Line()
		raw, whole, err := s.Key()
		if err != nil {
			return err
		}
		key := string(raw)
		if len(keys) <= MaxNames {
			keys = append(keys, shown.Name(key, 20))
		}
		if !whole {
			key = "" // too long to be one of ours
		}
		switch key {
		case "graph", "raw_graph", "captured_graph":
			if graph != "" {
				return &event.InputError{File: d.File, Offset: offset, Line: line, Node: -1, Field: key,
					Reason: "is a second graph beside " + strconv.Quote(graph)}
			}
			graph = key
			return d.graphValue(s, key)
		case "version", "devices", "metadata":
			again := sections[key]
			sections[key] = true
			return d.section(s, key, again)
		case ListsKey:
			return d.operationBuffers(s)
		}
		return s.Skip()
	})
	switch {
	case err != nil:
		return err
	case graph == "" && len(keys) > 0 && keys[0] == "schema":
		return d.ErrorAt(s, "", "a document of cbl1, not a capture: cbl1 diff and cbl1 page --against read saved reports", event.ErrNotCapture)
	case graph == "":
		return d.ErrorAt(s, "", "object without graph, raw_graph or captured_graph: it has "+cmp.Or(FirstNames(keys), "no keys"), event.ErrNotCapture)
	}
	return nil
}

// FirstNames lists the first few names.
func FirstNames(names []string) string {
	if len(names) > MaxNames {
		names = append(slices.Clip(names[:MaxNames]), "...")
	}
	return strings.Join(names, ", ")
}

// graphValue reads the value of a graph key: an array, or a string whose text is
// one (a cell of a database).
func (d *Document) graphValue(s *jsonobject.Scanner, key string) error {
	k, err := s.Kind()
	switch {
	case err != nil:
		return err
	case k == jsonobject.KindArray:
		return d.Array(s, d.Decoder(d.File))
	case k == jsonobject.KindString:
		return d.graphText(s, key)
	}
	return d.ErrorAt(s, key, "is "+k.String()+", not an array of nodes", nil)
}

// graphText reads a graph whose JSON text stands in a string. Positions count
// from the start of the decoded text.
func (d *Document) graphText(s *jsonobject.Scanner, key string) error {
	text, err := s.Text()
	if err != nil {
		return err
	}
	file := d.File + "#" + key
	inner := jsonobject.New(text, BufferSize)
	k, err := inner.Kind()
	switch {
	case err != nil:
	case k != jsonobject.KindArray:
		err = &event.InputError{File: file, Offset: inner.Offset(), Line: inner.Line(), Node: -1,
			Reason: k.String() + " is not an array of nodes"}
	default:
		if err = d.Array(inner, d.Decoder(file)); err == nil {
			err = inner.End()
		}
	}
	err = ScanError(file, -1, err)
	// The string itself may be broken, not the text in it.
	if outer, ok := errors.AsType[*jsonobject.Error](errors.Unwrap(err)); ok {
		return outer
	}
	return err
}

// section reads a part of the report that describes the capture.
func (d *Document) section(s *jsonobject.Scanner, key string, again bool) error {
	raw, err := s.Capture(maxNode)
	if err != nil {
		return err
	}
	old := d.Info
	var in jsonobject.Reader
	o := memberIn(&in, key, raw)
	switch key {
	case "version":
		// Another tool may put something else here; a version decides nothing.
		v, wrong := jsonobject.Whole(raw)
		d.Info.Version = event.Opt[uint64]{V: v, OK: wrong == ""}
	case "metadata":
		of, _ := o.Object(key)
		d.Info.Rank, d.Info.WorldSize = numberOf(of, "rank", jsonobject.MaxWhole), numberOf(of, "world_size", jsonobject.MaxWhole)
	case "devices":
		d.Info.Devices = devicesIn(o)
	}
	if e := in.Err(); e != nil {
		d.Info.Unread.Add(&event.InputError{Field: e.Path, Value: shown.Value(e.Value), Reason: e.Reason})
		if key == "devices" {
			d.Info.Devices = devicesApart(raw)
		}
	}
	if again {
		equal := old.Version == d.Info.Version && old.Rank == d.Info.Rank && old.WorldSize == d.Info.WorldSize &&
			slices.Equal(old.Devices, d.Info.Devices)
		if !equal {
			d.Info.Unread.Add(&event.InputError{Field: key, Reason: "comes a second time, and is not equal to the first"})
			d.Info.Rank = event.Opt[uint64]{}
			if key == "devices" {
				d.Info.Devices = []Device{{Unreadable: true}}
			}
		}
		d.Info.Anomaly |= event.AnomalyDuplicateKey
	}
	return nil
}

// devicesApart reads devices each alone, since one of them cannot be read.
func devicesApart(raw []byte) (list []Device) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return []Device{{Unreadable: true}}
	}
	for _, one := range all {
		var in jsonobject.Reader
		alone := devicesIn(memberIn(&in, "devices", slices.Concat([]byte("["), one, []byte("]"))))
		if in.Err() != nil {
			alone = []Device{{Unreadable: true}}
		}
		list = append(list, alone...)
	}
	return list
}

// memberIn reads a text as the only member of an object.
func memberIn(in *jsonobject.Reader, name string, raw []byte) jsonobject.Object {
	return in.Read(slices.Concat([]byte(`{"`+name+`":`), raw, []byte("}")))
}

// devicesIn reads [{"device_id": 0, "worker_l1_size": 1572864, ...}, ...].
func devicesIn(o jsonobject.Object) (list []Device) {
	for in := range o.Objects("devices") {
		info := ReadDevice(func(name string, most uint64) event.Opt[uint64] { return numberOf(in, name, most) })
		info.ID = in.Need("device_id", jsonobject.MaxInt)
		list = append(list, info)
	}
	return list
}

// NumberIn reads a number by the name of its field or column, which is at most most.
type NumberIn func(name string, most uint64) event.Opt[uint64]

// ReadDevice reads a device, without its id, from numbers by field or column.
func ReadDevice(number NumberIn) Device {
	return Device{
		GridX:        number("num_x_compute_cores", jsonobject.MaxWhole),
		GridY:        number("num_y_compute_cores", jsonobject.MaxWhole),
		WorkerL1Size: number("worker_l1_size", jsonobject.MaxL1),
		CBBase:       number("address_at_first_l1_cb_buffer", jsonobject.MaxL1),
		BankSize:     number("l1_bank_size", jsonobject.MaxL1),
	}
}

// operationBuffers reads {"4": [{"device_id": 0, "address": 1024, ...}, ...], ...}, which
// may be larger than all the rest of a report: one row at a time.
func (d *Document) operationBuffers(s *jsonobject.Scanner) error {
	k, err := s.Kind()
	switch {
	case err != nil:
		return err
	case d.Listed == nil || k == jsonobject.KindNull:
		return s.Skip()
	case k != jsonobject.KindObject:
		d.Info.Listed.Add(&event.InputError{Field: ListsKey, Reason: "is " + k.String() + ", not an object"})
		return s.Skip()
	}
	return s.Each(func() error {
		raw, _, err := s.Key()
		if err != nil {
			return err
		}
		at, wrong := strconv.ParseUint(string(raw), 10, 63)
		k, err := s.Kind()
		switch {
		case err != nil:
			return err
		case wrong != nil || k != jsonobject.KindArray:
			d.Info.Listed.Add(&event.InputError{Field: ListsKey, Reason: "is no list of the buffers of an operation"})
			return s.Skip()
		}
		return d.operationRows(s, at)
	})
}

// operationRows reads the list of one operation.
func (d *Document) operationRows(s *jsonobject.Scanner, at uint64) error {
	d.Listed(ListedBuffer{Begins: true, At: at})
	var in jsonobject.Reader
	return s.Each(func() error {
		raw, err := s.Capture(maxNode)
		if err != nil {
			return err
		}
		o := in.Read(raw)
		row := ReadListed(at, func(name string, most uint64) event.Opt[uint64] {
			if name == "address" {
				name = addressIn(o)
			}
			return numberOf(o, name, most)
		})
		if e := in.Err(); e != nil {
			d.Info.Listed.Add(&event.InputError{Field: ListsKey + "." + e.Path, Value: shown.Value(e.Value), Reason: e.Reason})
			return nil
		}
		d.Listed(row)
		return nil
	})
}

// Array reads an array of nodes with a decoder that may have read others.
func (d *Document) Array(s *jsonobject.Scanner, of *Decoder) error {
	d.Count = 0
	return ScanError(of.file, -1, s.Each(func() error {
		if _, err := s.Kind(); err != nil {
			return ScanError(of.file, d.Count, err)
		}
		n, err := of.next(s, event.Pos{Offset: s.Offset(), Line: s.Line(), Node: d.Count})
		if err != nil {
			return err
		}
		if d.shift(n); !d.Yield(n) {
			return ErrStop
		}
		d.Count++
		return nil
	}))
}

// ErrorAt returns an error at the place where s stands.
func (d *Document) ErrorAt(s *jsonobject.Scanner, field, reason string, cause error) error {
	return &event.InputError{File: d.File, Offset: s.Offset(), Line: s.Line(), Node: -1, Field: field, Reason: reason, Err: cause}
}

// ScanError turns an error of the scanner into ours. It returns all others as they are: they have
// their place already.
func ScanError(file string, node int64, err error) error {
	e, ok := errors.AsType[*jsonobject.Error](err)
	if !ok {
		return err
	}
	_, placed := errors.AsType[*event.InputError](err)
	if _, read := errors.AsType[*event.InputError](e.Err); placed && !read { // a reader may fail with one of its own
		return err
	}
	out := &event.InputError{File: file, Offset: e.Offset, Line: e.Line, Node: node, Reason: e.Reason, Err: e.Err}
	switch {
	case errors.Is(e, jsonobject.ErrLimit):
		out.Err = event.ErrTooLarge
	case errors.Is(e, jsonobject.ErrDepth):
		out.Err = event.ErrTooDeep
	}
	return out
}

// shift moves a node of a slice to its place among the nodes of all slices. A connection to a node of
// another slice stands as the number that it had before the graph was cut: of a buffer, one that does not
// lead back to a buffer node of the same slice is no connection.
func (d *Document) shift(n *Node) {
	b := &d.Before
	if b.Buffers != nil {
		b.take(n)
	}
	if b.Nodes == 0 && b.Bytes == 0 {
		return
	}
	for _, list := range [][]uint64{n.Connections, n.Function.Inputs, n.Function.Returns} {
		for i, c := range list {
			list[i] = b.Nodes + min(c, math.MaxInt64)
		}
	}
	n.Counter += b.Nodes
	n.Pos.Node += int64(b.Nodes)
	n.Pos.Offset += b.Bytes
	n.Pos.Line += b.Lines
}

// take records a node of a slice, with its counter there, and removes its connections to other slices.
func (b *Shift) take(n *Node) {
	switch n.Type {
	case TypeBuffer:
		b.Buffers[n.Counter] = true
	case TypeBufferAllocate, TypeBufferDeallocate:
		n.Connections = slices.DeleteFunc(n.Connections, func(c uint64) bool { return !b.Buffers[c] })
	case TypeError:
		b.Errors++
	}
	b.NamedDevice = b.NamedDevice || n.DeviceID.OK
}

// A ListedBuffer is one row of per_operation_buffers: a buffer that lived at an operation.
// Before the rows of each operation comes one with begins, which has at alone.
type ListedBuffer struct {
	Begins  bool
	At      uint64 // counter of the operation's function_start
	Typed   bool   // kind is known
	Named   device.ID
	Kind    fit.Kind
	Address event.Opt[uint64]
	PerCore event.Opt[uint64]
}

// ReadListed reads the row of an operation that begins at a node.
func ReadListed(at uint64, number NumberIn) ListedBuffer {
	n := Node{
		Buffer:   BufferNode{BufferType: number("buffer_type", jsonobject.MaxWhole)},
		DeviceID: number("device_id", jsonobject.MaxInt),
	}
	row := ListedBuffer{
		At: at, Named: DeviceOf(n.DeviceID), Address: number("address", jsonobject.MaxWhole),
		PerCore: number("max_size_per_bank", jsonobject.MaxWhole),
	}
	row.Kind, row.Typed = BufferKind(&n)
	return row
}

// Counters are a set of counters of nodes. Those near each other share a block, so that a
// long capture takes a few bits for each of its buffers.
type Counters map[uint64]*[8]uint64 // by counter/512

// Add adds the counter of a node.
func (c Counters) Add(n uint64) {
	block := c[n>>9]
	if block == nil {
		block = new([8]uint64)
		c[n>>9] = block
	}
	block[n>>6&7] |= 1 << (n & 63)
}

// Remove takes out all of o.
func (c Counters) Remove(o Counters) {
	for at, block := range o {
		if mine := c[at]; mine != nil {
			for i := range mine {
				mine[i] &^= block[i]
			}
		}
	}
}

// Has reports whether the set has the counter of a node.
func (c Counters) Has(n uint64) bool {
	block := c[n>>9]
	return block != nil && block[n>>6&7]>>(n&63)&1 != 0
}

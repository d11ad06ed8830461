package capture

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
)

const listsKey = "per_operation_buffers" // of a report

// A document is JSON text with a graph in it: its other sections, and the functions that receive its nodes.
type document struct {
	file   string
	info   reportInfo                     // complete when all was read
	object bool                           // it is a report around a graph
	before shifted                        // of a slice
	count  int64                          // nodes yielded of the array at hand
	yield  func(*node) bool               // takes a node
	listed func(listedBuffer)             // gets the rows of per_operation_buffers; nil = they are skipped
	ended  func(start, next uint64) error // takes the end of a slice: its first node, and that of the next one
	names  bool                           // nodes say what tensors are, and who takes them
}

func (d *document) decoder(file string) *decoder {
	of := newDecoder(file)
	of.names = d.names
	return of
}

// shifted counts the nodes, bytes and lines before a slice of a database. The counters of each slice begin
// at 0; all slices together are counted as one capture.
type shifted struct {
	nodes        uint64
	bytes, lines int64
	buffers      map[uint64]bool // counters in this slice of its buffer nodes
	errors       int64           // error nodes of all slices
	ids          bool            // a node named a device
}

// A reportInfo has the sections of a report besides its graph. Of a bare array it is zero.
type reportInfo struct {
	Version   event.Opt[uint64] // of the report's format
	Rank      event.Opt[uint64] // of the host process that wrote it
	WorldSize event.Opt[uint64] // number of such processes
	Devices   []deviceInfo
	Anomaly   event.Anomaly
	// Lost is how many operations a database names and has no graph of, LostName the first.
	Lost     int64
	LostName string
	// Unread are the sections and rows with a field that cannot be read, Listed such rows in lists of
	// buffers.
	Unread, Listed unreadRows
}

// unreadRows counts rows or sections that cannot be read, and says why the first one cannot.
type unreadRows struct {
	count int64
	why   string
}

func (u *unreadRows) add(e *event.InputError) {
	if u.count++; u.count == 1 {
		u.why = reasonOf(e)
	}
}

// reasonOf returns the text of an error without its place in the input.
func reasonOf(e *event.InputError) string {
	why := *e
	why.File, why.Line, why.Node = "", 0, -1
	return why.Error()
}

// A deviceInfo describes a device or mesh that a report knows. Sizes and addresses
// are in bytes.
type deviceInfo struct {
	ID           uint64 // of a chip or of a mesh
	GridX, GridY event.Opt[uint64]
	WorkerL1Size event.Opt[uint64] // size of L1 on one core
	CBBase       event.Opt[uint64] // lowest address of circular buffers
	BankSize     event.Opt[uint64] // of L1: what its buffers may take of one core

	Unreadable bool // a field of it cannot be read: it says nothing
}

// shownKeys is how many keys an error lists.
const shownKeys = 8

// report reads the object around a graph. The keys may come in any order.
func (d *document) report(s *jsonobject.Scanner) error {
	d.object = true
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
		if len(keys) <= shownKeys {
			keys = append(keys, shown.Name(key, 20))
		}
		if !whole {
			key = "" // too long to be one of ours
		}
		switch key {
		case "graph", "raw_graph", "captured_graph":
			if graph != "" {
				return &event.InputError{File: d.file, Offset: offset, Line: line, Node: -1, Field: key,
					Reason: "is a second graph beside " + strconv.Quote(graph)}
			}
			graph = key
			return d.graphValue(s, key)
		case "version", "devices", "metadata":
			again := sections[key]
			sections[key] = true
			return d.section(s, key, again)
		case listsKey:
			return d.operationBuffers(s)
		}
		return s.Skip()
	})
	switch {
	case err != nil:
		return err
	case graph == "" && len(keys) > 0 && keys[0] == "schema":
		return d.errorAt(s, "", "a document of cbl1, not a capture: cbl1 diff and cbl1 page --against read saved reports", event.ErrNotCapture)
	case graph == "":
		return d.errorAt(s, "", "object without graph, raw_graph or captured_graph: it has "+cmp.Or(listNames(keys), "no keys"), event.ErrNotCapture)
	}
	return nil
}

// graphValue reads the value of a graph key: an array, or a string whose text is
// one (a cell of a database).
func (d *document) graphValue(s *jsonobject.Scanner, key string) error {
	k, err := s.Kind()
	switch {
	case err != nil:
		return err
	case k == jsonobject.KindArray:
		return d.array(s, d.decoder(d.file))
	case k == jsonobject.KindString:
		return d.graphText(s, key)
	}
	return d.errorAt(s, key, "is "+k.String()+", not an array of nodes", nil)
}

// graphText reads a graph whose JSON text stands in a string. Positions count
// from the start of the decoded text.
func (d *document) graphText(s *jsonobject.Scanner, key string) error {
	text, err := s.Text()
	if err != nil {
		return err
	}
	file := d.file + "#" + key
	inner := jsonobject.New(text, bufferSize)
	k, err := inner.Kind()
	switch {
	case err != nil:
	case k != jsonobject.KindArray:
		err = &event.InputError{File: file, Offset: inner.Offset(), Line: inner.Line(), Node: -1,
			Reason: k.String() + " is not an array of nodes"}
	default:
		if err = d.array(inner, d.decoder(file)); err == nil {
			err = inner.End()
		}
	}
	err = scanError(file, -1, err)
	// The string itself may be broken, not the text in it.
	if outer, ok := errors.AsType[*jsonobject.Error](errors.Unwrap(err)); ok {
		return outer
	}
	return err
}

// section reads a part of the report that describes the capture.
func (d *document) section(s *jsonobject.Scanner, key string, again bool) error {
	raw, err := s.Capture(maxNode)
	if err != nil {
		return err
	}
	old := d.info
	var in jsonobject.Reader
	o := memberIn(&in, key, raw)
	switch key {
	case "version":
		// Another tool may put something else here; a version decides nothing.
		v, wrong := jsonobject.Whole(raw)
		d.info.Version = event.Opt[uint64]{V: v, OK: wrong == ""}
	case "metadata":
		of, _ := o.Object(key)
		d.info.Rank, d.info.WorldSize = numberOf(of, "rank", jsonobject.MaxWhole), numberOf(of, "world_size", jsonobject.MaxWhole)
	case "devices":
		d.info.Devices = devicesIn(o)
	}
	if e := in.Err(); e != nil {
		d.info.Unread.add(&event.InputError{Field: e.Path, Value: shown.Value(e.Value), Reason: e.Reason})
		if key == "devices" {
			d.info.Devices = devicesApart(raw)
		}
	}
	if again {
		equal := old.Version == d.info.Version && old.Rank == d.info.Rank && old.WorldSize == d.info.WorldSize &&
			slices.Equal(old.Devices, d.info.Devices)
		if !equal {
			d.info.Unread.add(&event.InputError{Field: key, Reason: "comes a second time, and is not equal to the first"})
			d.info.Rank = event.Opt[uint64]{}
			if key == "devices" {
				d.info.Devices = []deviceInfo{{Unreadable: true}}
			}
		}
		d.info.Anomaly |= event.AnomalyDuplicateKey
	}
	return nil
}

// devicesApart reads devices each alone, since one of them cannot be read.
func devicesApart(raw []byte) (list []deviceInfo) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return []deviceInfo{{Unreadable: true}}
	}
	for _, one := range all {
		var in jsonobject.Reader
		alone := devicesIn(memberIn(&in, "devices", slices.Concat([]byte("["), one, []byte("]"))))
		if in.Err() != nil {
			alone = []deviceInfo{{Unreadable: true}}
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
func devicesIn(o jsonobject.Object) (list []deviceInfo) {
	for in := range o.Objects("devices") {
		info := deviceIn(func(name string, most uint64) event.Opt[uint64] { return numberOf(in, name, most) })
		info.ID = in.Need("device_id", jsonobject.MaxInt)
		list = append(list, info)
	}
	return list
}

// numberIn reads a number by the name of its field or column, which is at most most.
type numberIn func(name string, most uint64) event.Opt[uint64]

// deviceIn reads a device, without its id, from numbers by field or column.
func deviceIn(number numberIn) deviceInfo {
	return deviceInfo{
		GridX:        number("num_x_compute_cores", jsonobject.MaxWhole),
		GridY:        number("num_y_compute_cores", jsonobject.MaxWhole),
		WorkerL1Size: number("worker_l1_size", jsonobject.MaxL1),
		CBBase:       number("address_at_first_l1_cb_buffer", jsonobject.MaxL1),
		BankSize:     number("l1_bank_size", jsonobject.MaxL1),
	}
}

// operationBuffers reads {"4": [{"device_id": 0, "address": 1024, ...}, ...], ...}, which
// may be larger than all the rest of a report: one row at a time.
func (d *document) operationBuffers(s *jsonobject.Scanner) error {
	k, err := s.Kind()
	switch {
	case err != nil:
		return err
	case d.listed == nil || k == jsonobject.KindNull:
		return s.Skip()
	case k != jsonobject.KindObject:
		d.info.Listed.add(&event.InputError{Field: listsKey, Reason: "is " + k.String() + ", not an object"})
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
			d.info.Listed.add(&event.InputError{Field: listsKey, Reason: "is no list of the buffers of an operation"})
			return s.Skip()
		}
		return d.operationRows(s, at)
	})
}

// operationRows reads the list of one operation.
func (d *document) operationRows(s *jsonobject.Scanner, at uint64) error {
	d.listed(listedBuffer{begins: true, at: at})
	var in jsonobject.Reader
	return s.Each(func() error {
		raw, err := s.Capture(maxNode)
		if err != nil {
			return err
		}
		o := in.Read(raw)
		row := listedIn(at, func(name string, most uint64) event.Opt[uint64] {
			if name == "address" {
				name = addressIn(o)
			}
			return numberOf(o, name, most)
		})
		if e := in.Err(); e != nil {
			d.info.Listed.add(&event.InputError{Field: listsKey + "." + e.Path, Value: shown.Value(e.Value), Reason: e.Reason})
			return nil
		}
		d.listed(row)
		return nil
	})
}

// array reads an array of nodes with a decoder that may have read others.
func (d *document) array(s *jsonobject.Scanner, of *decoder) error {
	d.count = 0
	return scanError(of.file, -1, s.Each(func() error {
		if _, err := s.Kind(); err != nil {
			return scanError(of.file, d.count, err)
		}
		n, err := of.next(s, event.Pos{Offset: s.Offset(), Line: s.Line(), Node: d.count})
		if err != nil {
			return err
		}
		if d.shift(n); !d.yield(n) {
			return errStop
		}
		d.count++
		return nil
	}))
}

// errorAt returns an error at the place where s stands.
func (d *document) errorAt(s *jsonobject.Scanner, field, reason string, cause error) error {
	return &event.InputError{File: d.file, Offset: s.Offset(), Line: s.Line(), Node: -1, Field: field, Reason: reason, Err: cause}
}

// scanError turns an error of the scanner into ours. It returns all others as they are: they have
// their place already.
func scanError(file string, node int64, err error) error {
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
func (d *document) shift(n *node) {
	b := &d.before
	if b.buffers != nil {
		b.take(n)
	}
	if b.nodes == 0 && b.bytes == 0 {
		return
	}
	for _, list := range [][]uint64{n.Connections, n.Function.Inputs, n.Function.Returns} {
		for i, c := range list {
			list[i] = b.nodes + min(c, math.MaxInt64)
		}
	}
	n.Counter += b.nodes
	n.Pos.Node += int64(b.nodes)
	n.Pos.Offset += b.bytes
	n.Pos.Line += b.lines
}

// take records a node of a slice, with its counter there, and removes its connections to other slices.
func (b *shifted) take(n *node) {
	switch n.Type {
	case typeBuffer:
		b.buffers[n.Counter] = true
	case typeBufferAllocate, typeBufferDeallocate:
		n.Connections = slices.DeleteFunc(n.Connections, func(c uint64) bool { return !b.buffers[c] })
	case typeError:
		b.errors++
	}
	b.ids = b.ids || n.DeviceID.OK
}

package capture

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/internal/shown"
)

// A reportInfo is what a report says besides its graph. Of a bare array it is zero.
type reportInfo struct {
	Version   event.Opt[uint64] // of the report's format
	Rank      event.Opt[uint64] // of the host process that wrote it
	WorldSize event.Opt[uint64] // number of such processes
	Devices   []deviceInfo
	// Early reports whether Devices was known before the first node.
	Early   bool
	Anomaly event.Anomaly
	// Lost is how many operations a database names and has no graph of, LostName the first.
	Lost     int64
	LostName string
	// Unread are the sections and rows with a field that cannot be read, Listed those of
	// lists of buffers.
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

// addAll adds those of one window.
func (u *unreadRows) addAll(o unreadRows) {
	if u.count == 0 {
		u.why = o.why
	}
	u.count += o.count
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
	Arch         string // "" if absent
	GridX, GridY event.Opt[uint64]
	WorkerL1Size event.Opt[uint64] // size of L1 on one core
	CBBase       event.Opt[uint64] // lowest address of circular buffers
	BankSize     event.Opt[uint64] // of L1: what its buffers may take of one core

	Unreadable bool // a field of it cannot be read: it says nothing
}

// shownKeys is how many keys an error lists.
const shownKeys = 8

// report reads the object around a graph. The keys may come in any order.
func (r *Reader) report(s *jsonobject.Scanner) error {
	r.object = true
	if err := s.Enter(); err != nil {
		return r.scanError(err)
	}
	var graph string // the key that had it
	var keys []string
	sections := make(map[string]bool)
	for {
		more, err := s.More()
		if err != nil {
			return r.scanError(err)
		}
		if !more {
			break
		}
		offset, line := s.Offset(), s.Line()
		raw, whole, err := s.Key()
		if err != nil {
			return r.scanError(err)
		}
		key := string(raw)
		if len(keys) <= shownKeys {
			keys = append(keys, key)
		}
		if !whole {
			key = "" // too long to be one of ours
		}
		switch key {
		case "graph", "raw_graph", "captured_graph":
			if graph != "" {
				return &event.InputError{File: r.file, Offset: offset, Line: line, Node: -1, Field: key,
					Reason: "is a second graph beside " + strconv.Quote(graph)}
			}
			graph = key
			r.info.Early = sections["devices"]
			err = r.graphValue(s, key)
		case "version", "devices", "metadata":
			if err = r.section(s, key, sections[key]); err == nil {
				sections[key] = true
			}
		case "per_operation_buffers":
			err = r.operationBuffers(s)
		default:
			err = r.scanError(s.Skip())
		}
		if err != nil {
			return err
		}
	}
	if graph == "" {
		return r.errorAt(s, "", "object without graph, raw_graph or captured_graph: "+listKeys(keys), event.ErrNotCapture)
	}
	return nil
}

func listKeys(keys []string) string {
	if len(keys) == 0 {
		return "it has no keys"
	}
	var b strings.Builder
	b.WriteString("it has ")
	for i, key := range keys {
		if i == shownKeys {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shown.Name(key, 20))
	}
	return b.String()
}

// graphValue reads the value of a graph key: an array, or a string whose text is
// one (a cell of a database).
func (r *Reader) graphValue(s *jsonobject.Scanner, key string) error {
	k, err := s.Kind()
	if err != nil {
		return r.scanError(err)
	}
	switch k {
	case jsonobject.KindArray:
		return r.graph(s, r.file)
	case jsonobject.KindString:
		return r.graphText(s, key)
	}
	return r.errorAt(s, key, "is "+k.String()+", not an array of nodes", nil)
}

// graphText reads a graph whose JSON text stands in a string. Positions count
// from the start of the decoded text.
func (r *Reader) graphText(s *jsonobject.Scanner, key string) error {
	text, err := s.Text()
	if err != nil {
		return r.scanError(err)
	}
	file := r.file + "#" + key
	inner := jsonobject.New(text, bufferSize)
	k, err := inner.Kind()
	switch {
	case err != nil:
		err = scanError(file, -1, err)
	case k != jsonobject.KindArray:
		err = &event.InputError{File: file, Offset: inner.Offset(), Line: inner.Line(), Node: -1,
			Reason: k.String() + " is not an array of nodes"}
	default:
		if err = r.graph(inner, file); err == nil {
			err = scanError(file, -1, inner.End())
		}
	}
	// The string itself may be broken, not the text in it.
	if outer, ok := errors.AsType[*jsonobject.Error](errors.Unwrap(err)); ok {
		return r.scanError(outer)
	}
	return err
}

// section reads a part of the report that describes the capture.
func (r *Reader) section(s *jsonobject.Scanner, key string, again bool) error {
	if _, err := s.Kind(); err != nil {
		return r.scanError(err)
	}
	raw, err := s.Capture(maxNode)
	if err != nil {
		return r.scanError(err)
	}
	old := r.info
	in := section{name: key}
	o := in.read(raw)
	switch key {
	case "version":
		// Another tool may put something else here; a version decides nothing.
		v, wrong := jsonobject.Whole(raw)
		r.info.Version = event.Opt[uint64]{V: v, OK: wrong == ""}
	case "metadata":
		in, _ := o.Object(key)
		r.info.Rank, r.info.WorldSize = numberOf(in, "rank", jsonobject.MaxWhole), numberOf(in, "world_size", jsonobject.MaxWhole)
	case "devices":
		r.info.Devices = devicesIn(o)
	}
	if e := in.json.Err(); e != nil {
		r.info.Unread.add(&event.InputError{Field: e.Path, Value: shown.Value(e.Value), Reason: e.Reason})
		if key == "devices" {
			r.info.Devices = devicesApart(raw)
		}
	}
	if again {
		equal := old.Version == r.info.Version && old.Rank == r.info.Rank && old.WorldSize == r.info.WorldSize &&
			slices.Equal(old.Devices, r.info.Devices)
		if !equal {
			r.info.Unread.add(&event.InputError{Field: key, Reason: "comes a second time, and is not equal to the first"})
			r.info.Rank = event.Opt[uint64]{}
			if key == "devices" {
				r.info.Devices = []deviceInfo{{Unreadable: true}}
			}
		}
		r.info.Anomaly |= event.AnomalyDuplicateKey
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
		in := section{name: "devices"}
		alone := devicesIn(in.read(slices.Concat([]byte("["), one, []byte("]"))))
		if in.json.Err() != nil {
			alone = []deviceInfo{{Unreadable: true}}
		}
		list = append(list, alone...)
	}
	return list
}

// A section is a part of a report, read as the member that it is.
type section struct {
	json jsonobject.Reader
	name string
}

func (s *section) read(raw []byte) jsonobject.Object {
	return s.json.Read(slices.Concat([]byte(`{"`+s.name+`":`), raw, []byte("}")))
}

// devicesIn reads [{"device_id": 0, "worker_l1_size": 1572864, ...}, ...].
func devicesIn(o jsonobject.Object) (list []deviceInfo) {
	for in := range o.Objects("devices") {
		info := deviceInfo{
			Arch:         arch(in),
			GridX:        numberOf(in, "num_x_compute_cores", jsonobject.MaxWhole),
			GridY:        numberOf(in, "num_y_compute_cores", jsonobject.MaxWhole),
			WorkerL1Size: numberOf(in, "worker_l1_size", jsonobject.MaxL1),
			CBBase:       numberOf(in, "address_at_first_l1_cb_buffer", jsonobject.MaxL1),
			BankSize:     numberOf(in, "l1_bank_size", jsonobject.MaxL1),
		}
		info.ID = in.Need("device_id", jsonobject.MaxInt)
		list = append(list, info)
	}
	return list
}

// arch reads the name of an architecture; what is not a name is kept as it stands.
func arch(in jsonobject.Object) string {
	raw := in.Get("arch")
	switch {
	case raw == nil:
		return ""
	case raw[0] == '"':
		return jsonobject.Unquote(raw)
	}
	return shown.Value(raw)
}

package capture

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/capture/internal/jsonscan"
)

// Info is what a report says besides its graph. Of a bare array it is zero.
type Info struct {
	Version   Opt[uint64] // of the report's format
	Rank      Opt[uint64] // of the host process that wrote it
	WorldSize Opt[uint64] // number of such processes
	Devices   []DeviceInfo
	// Early reports whether Devices was known before the first node.
	Early   bool
	Anomaly Anomaly
}

// A DeviceInfo describes a device or mesh that a report knows. Sizes and addresses
// are in bytes.
type DeviceInfo struct {
	ID           uint64 // of a chip or of a mesh
	Arch         string // "" if absent
	GridX, GridY Opt[uint64]
	WorkerL1Size Opt[uint64] // size of L1 on one core
	CBBase       Opt[uint64] // lowest address of circular buffers
}

// shownKeys is how many keys an error lists.
const shownKeys = 8

// report reads the object around a graph. The keys may come in any order.
func (r *Reader) report(s *jsonscan.Scanner) error {
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
				return &InputError{File: r.file, Offset: offset, Line: line, Node: -1, Field: key,
					Reason: "is a second graph beside " + strconv.Quote(graph)}
			}
			graph = key
			r.info.Early = sections["devices"]
			err = r.graphValue(s, key)
		case "version", "devices", "metadata":
			if err = r.section(s, key, sections[key]); err == nil {
				sections[key] = true
			}
		default:
			err = r.scanError(s.Skip())
		}
		if err != nil {
			return err
		}
	}
	if graph == "" {
		return r.errorAt(s, "", "object without graph, raw_graph or captured_graph: "+listKeys(keys), ErrNotCapture)
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
		b.WriteString(head(visible(key), 20))
	}
	return b.String()
}

// graphValue reads the value of a graph key: an array, or a string whose text is
// one (a cell of a database).
func (r *Reader) graphValue(s *jsonscan.Scanner, key string) error {
	k, err := s.Kind()
	if err != nil {
		return r.scanError(err)
	}
	switch k {
	case jsonscan.Array:
		return r.graph(s, r.file)
	case jsonscan.String:
		return r.graphText(s, key)
	}
	return r.errorAt(s, key, "is "+k.String()+", not an array of nodes", nil)
}

// graphText reads a graph whose JSON text stands in a string. Positions count
// from the start of the decoded text.
func (r *Reader) graphText(s *jsonscan.Scanner, key string) error {
	text, err := s.Text()
	if err != nil {
		return r.scanError(err)
	}
	file := r.file + "#" + key
	inner := jsonscan.New(text, bufferSize)
	k, err := inner.Kind()
	switch {
	case err != nil:
		err = scanError(file, -1, err)
	case k != jsonscan.Array:
		err = &InputError{File: file, Offset: inner.Offset(), Line: inner.Line(), Node: -1,
			Reason: k.String() + " is not an array of nodes"}
	default:
		if err = r.graph(inner, file); err == nil {
			err = scanError(file, -1, inner.End())
		}
	}
	// The string itself may be broken, not the text in it.
	if outer, ok := errors.AsType[*jsonscan.Error](errors.Unwrap(err)); ok {
		return r.scanError(outer)
	}
	return err
}

// section reads a part of the report that describes the capture.
func (r *Reader) section(s *jsonscan.Scanner, key string, again bool) error {
	if _, err := s.Kind(); err != nil {
		return r.scanError(err)
	}
	pos := Pos{Offset: s.Offset(), Line: s.Line(), Node: -1}
	raw, err := s.Capture(MaxNode)
	if err != nil {
		return r.scanError(err)
	}
	d := &section{decoder: decoder{file: r.file, raw: raw, pos: pos}, name: key}
	old := r.info
	switch key {
	case "version":
		// Another tool may put something else here; a version decides nothing.
		if v, wrong := whole(raw); wrong == "" {
			r.info.Version = some(v)
		} else {
			r.info.Version = Opt[uint64]{}
		}
	case "metadata":
		r.info.Rank, r.info.WorldSize = d.metadata()
	case "devices":
		r.info.Devices = d.devices()
	}
	if d.err != nil {
		return d.err
	}
	if again {
		equal := old.Version == r.info.Version && old.Rank == r.info.Rank && old.WorldSize == r.info.WorldSize &&
			slices.Equal(old.Devices, r.info.Devices)
		if !equal {
			return &InputError{File: r.file, Offset: pos.Offset, Line: pos.Line, Node: -1, Field: key,
				Reason: "comes a second time, and is not equal to the first"}
		}
		r.info.Anomaly |= AnomalyDuplicateKey
	}
	return nil
}

// A section decodes a captured part of a report.
type section struct {
	decoder
	name string
}

// metadata reads {"rank": 0, "world_size": 1, ...}.
func (d *section) metadata() (rank, world Opt[uint64]) {
	if string(d.raw) == "null" {
		return rank, world
	}
	c := cursor{b: d.raw}
	if !c.enter('{') {
		d.fail(d.name, span{0, len(d.raw)}, "is not an object", nil)
		return rank, world
	}
	for c.next() {
		key, value := c.member()
		switch key {
		case "rank":
			d.set(&rank, "metadata.rank", value, maxWhole)
		case "world_size":
			d.set(&world, "metadata.world_size", value, maxWhole)
		}
	}
	return rank, world
}

// devices reads [{"device_id": 0, "worker_l1_size": 1572864, ...}, ...].
func (d *section) devices() (list []DeviceInfo) {
	if string(d.raw) == "null" {
		return nil
	}
	c := cursor{b: d.raw}
	if !c.enter('[') {
		d.fail(d.name, span{0, len(d.raw)}, "is not an array", nil)
		return nil
	}
	for c.next() {
		c.space()
		at := c.i
		if !c.enter('{') {
			d.fail(d.name, c.value(), "is not a device, which is an object", nil)
			return nil
		}
		var info DeviceInfo
		var id Opt[uint64]
		for c.next() {
			key, value := c.member()
			switch key {
			case "device_id":
				d.set(&id, "devices.device_id", value, maxDeviceID)
			case "arch":
				info.Arch = d.arch(value)
			case "num_x_compute_cores":
				d.set(&info.GridX, "devices.num_x_compute_cores", value, maxWhole)
			case "num_y_compute_cores":
				d.set(&info.GridY, "devices.num_y_compute_cores", value, maxWhole)
			case "worker_l1_size":
				d.set(&info.WorkerL1Size, "devices.worker_l1_size", value, maxL1)
			case "address_at_first_l1_cb_buffer":
				d.set(&info.CBBase, "devices.address_at_first_l1_cb_buffer", value, maxL1)
			}
		}
		if !id.OK {
			d.fail("devices.device_id", span{at, at}, "missing", nil)
		}
		if d.err != nil {
			return nil
		}
		info.ID = id.V
		list = append(list, info)
	}
	return list
}

// arch reads the name of an architecture; what is not a name is kept as it stands.
func (d *section) arch(at span) string {
	raw := d.raw[at.start:at.end]
	switch raw[0] {
	case '"':
		return unquote(raw)
	case 'n':
		return ""
	}
	return clip(raw)
}

// set reads a number that the section states at most once, or repeats.
func (d *section) set(into *Opt[uint64], name string, at span, most uint64) {
	raw := d.raw[at.start:at.end]
	if raw[0] == 'n' {
		return
	}
	v, wrong := whole(raw)
	if wrong == "" && v > most {
		wrong = "is above " + strconv.FormatUint(most, 10)
	}
	if wrong == "" && into.OK && into.V != v {
		wrong = "is the second value of this key, and not equal to the first"
	}
	if wrong != "" {
		d.fail(name, at, wrong, nil)
		return
	}
	*into = some(v)
}

// member returns the decoded key and the value of the next member.
func (c *cursor) member() (key string, value span) {
	k := c.key()
	return unquote(c.b[k.start:k.end]), c.value()
}

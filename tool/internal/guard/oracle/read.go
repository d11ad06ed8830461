package oracle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// node is one capture node as far as the oracle needs it.
type node struct {
	counter int64
	kind    string
	params  map[string]json.RawMessage // a map, because struct fields would match keys of another case too

	connections []int64
	arguments   string // JSON text

	bad      bool // its kind, connections or params have a wrong form
	noParams bool // its params do
	hidden   bool // a field cannot be read

	on     string // the name of its device
	asks   string // of a free: the mesh that it runs something on, if an earlier call had one more run
	copied bool   // it is there before, for another device
	silent bool   // of a free of a number that is both, outside of functions: the chip shows nothing before
}

// header holds the fields of a report object outside its nodes.
type header struct {
	l1Size uint64 // 0 if the file does not say
	cbBase uint64 // 0 if the file does not say
	grids  []grid
	lists  []list
	banks  []bank
}

// gridOf returns the grid of a device by the file: its own, or the first of all. nil: the file has
// none.
func (h *header) gridOf(name string) *grid {
	if len(h.grids) == 0 {
		return nil
	}
	found := &h.grids[0]
	for i := range h.grids {
		if h.grids[i].device == name {
			found = &h.grids[i]
		}
	}
	return found
}

// grid is a device's compute grid as a report states it.
type grid struct {
	device     string
	cols, rows uint64
}

// none names the devices of nodes without device_id.
const none = "none"

// readFile accepts the three shapes of a capture: a bare array, a report with "graph", an object with "raw_graph".
func readFile(data []byte) ([]node, header, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var h header
	var raw []json.RawMessage
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		var file map[string]json.RawMessage
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, h, err
		}
		key := "graph"
		if _, ok := file[key]; !ok {
			key = "raw_graph"
		}
		if _, ok := file[key]; !ok {
			return nil, h, errors.New("oracle: neither graph nor raw_graph")
		}
		if err := json.Unmarshal(file[key], &raw); err != nil {
			return nil, h, err
		}
		if err := h.readDevices(file["devices"]); err != nil {
			return nil, h, err
		}
		if err := h.readLists(file["per_operation_buffers"]); err != nil {
			return nil, h, err
		}
	} else if err := json.Unmarshal(data, &raw); err != nil {
		return nil, h, err
	}

	nodes := make([]node, len(raw))
	for i, r := range raw {
		n, err := readNode(r, i)
		if err != nil {
			return nil, h, fmt.Errorf("oracle: node %d: %w", i, err)
		}
		nodes[i] = n
	}
	return nodes, h, nil
}

// readDevices takes base and L1 size from the first device that has them.
func (h *header) readDevices(raw json.RawMessage) error {
	var devices []map[string]json.RawMessage
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &devices); err != nil {
		return err
	}
	for _, d := range devices {
		var g grid
		for key, to := range map[string]*uint64{"num_x_compute_cores": &g.cols, "num_y_compute_cores": &g.rows} {
			if present(d[key]) {
				*to, _ = number(d[key])
			}
		}
		if g.cols > 0 && g.rows > 0 && present(d["device_id"]) {
			id, err := number(d["device_id"])
			if err != nil {
				return err
			}
			g.device = strconv.FormatUint(id, 10)
			h.grids = append(h.grids, g)
		}
		if err := h.readBank(d); err != nil {
			return err
		}
		b := h.banks[len(h.banks)-1]
		h.l1Size, h.cbBase = cmp.Or(h.l1Size, b.size), cmp.Or(h.cbBase, b.base)
	}
	return nil
}

func readNode(raw json.RawMessage, index int) (node, error) {
	n := node{counter: int64(index)}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return n, err
	}
	if present(fields["counter"]) {
		c, err := number(fields["counter"])
		if err != nil {
			return n, err
		}
		n.counter = int64(c)
	}
	kind := fields["node_type"]
	if !present(kind) {
		kind = fields["name"] // August 2024
	}
	if json.Unmarshal(kind, &n.kind) != nil || !present(kind) {
		n.kind, n.bad, n.hidden = "", true, true
		return n, nil
	}
	n.kind, _, _ = strings.Cut(n.kind, "[") // "tensor[2]", August 2024
	n.arguments = string(fields["arguments"])
	if n.kind == "tensor" || n.kind == "buffer" || isBuffer(n.kind) {
		n.bad = !n.connects(fields["connections"])
	}
	if present(fields["params"]) && json.Unmarshal(fields["params"], &n.params) != nil {
		n.bad, n.noParams, n.params = true, true, nil
	}
	n.hidden = n.unreadable()
	return n, nil
}

// connects reads the connections, and says whether they can be read.
func (n *node) connects(raw json.RawMessage) bool {
	var list []json.RawMessage
	if !present(raw) {
		return true
	}
	if json.Unmarshal(raw, &list) != nil {
		return false
	}
	for _, one := range list {
		v, err := number(one)
		if err != nil || v > math.MaxInt64 {
			n.connections = nil
			return false
		}
		n.connections = append(n.connections, int64(v))
	}
	return true
}

func present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// number reads 4096, "4096" and 4096.0. Older writers put every number in quotes.
func number(raw json.RawMessage) (uint64, error) {
	text := string(raw)
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		return strconv.ParseUint(quoted, 10, 64)
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil {
		return v, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f >= 1<<53 {
		return 0, fmt.Errorf("not a whole number: %.40s", text)
	}
	return uint64(f), nil
}

// small is a number that must fit in 32 bits: a CB's size or its address in L1.
func (n node) small(key string) (uint64, error) {
	if !present(n.params[key]) {
		return 0, fmt.Errorf("%s is missing", key)
	}
	v, err := number(n.params[key])
	if err == nil && v > math.MaxUint32 {
		err = fmt.Errorf("%d does not fit in 32 bits", v)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return v, nil
}

// id returns a device id field; ok is false if the node has none.
func (n node) id(key string) (id int64, ok bool, err error) {
	if !present(n.params[key]) {
		return 0, false, nil
	}
	v, err := number(n.params[key])
	if err == nil && v > math.MaxInt32 {
		err = fmt.Errorf("%d is no device id", v)
	}
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", key, err)
	}
	return int64(v), true, nil
}

// flag reads "0", "1", 0, 1, true, "false"...; a flag that is not there is not set.
func (n node) flag(key string) (bool, error) {
	switch text := strings.Trim(string(n.params[key]), `"`); text {
	case "", "null", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	default:
		return false, fmt.Errorf("%s: %q is no flag", key, text)
	}
}

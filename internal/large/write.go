package large

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
)

// base is where circular buffers begin, size how much L1 a core has, in bytes.
const (
	base = 103_712
	size = 1_499_136
)

// mesh is the id of the mesh; chips have those from 0 on.
const mesh = 4096

// A writer writes one capture.
type writer struct {
	Plan
	w       *bufio.Writer
	line    []byte // not written yet
	err     error
	written int64
	nodes   int64
	ops     int64
	live    [Live]allocation
}

// An allocation is a buffer in L1. The zero allocation is none.
type allocation struct {
	node    int64 // of its identity
	address int
	size    int // of one core
}

// drain writes the line formed so far.
func (w *writer) drain() {
	if w.err == nil {
		_, w.err = w.w.Write(w.line)
	}
	w.written += int64(len(w.line))
	w.line = w.line[:0]
}

func (w *writer) text(s string)                  { w.line = append(w.line, s...) }
func (w *writer) put(format string, args ...any) { w.line = fmt.Appendf(w.line, format, args...) }

// capture writes all of it.
func (w *writer) capture() {
	graph := int64(float64(w.Size) * w.Share)
	if w.Dialect != Report {
		w.graph(w.Size)
		w.text("\n")
		return
	}
	w.text("{\n\"version\": 1,\n\"devices\": [")
	for chip := range w.Chips {
		if chip > 0 {
			w.text(",\n")
		}
		w.put(`{"address_at_first_l1_cb_buffer":%d,"arch":"wormhole_b0","device_id":%d,"num_x_compute_cores":8,"num_y_compute_cores":8,"worker_l1_size":%d}`, base, chip, size)
	}
	w.text("],\n\"metadata\": {\"rank\":0,\"world_size\":1},\n\"graph\": ")
	w.graph(graph)
	if w.Share < 1 {
		w.text(",\n\"buffer_pages\": ")
		w.pages()
	}
	w.text("\n}\n")
}

// pages fills the file with pages of buffers.
func (w *writer) pages() {
	w.text("[\n")
	for i := 0; w.written+int64(len(w.line)) < w.Size && w.err == nil; i++ {
		if i > 0 {
			w.text(",\n")
		}
		address := base + 2048*(i%512)
		w.put(`{"address":%d,"bank_id":%d,"buffer_type":1,"core_x":%d,"core_y":%d,"device_id":%d,"page_address":%d,"page_index":%d,"page_size":2048}`,
			address, i%64, i%8, i/8%8, i%w.Chips, address, i)
		w.drain()
	}
	w.text("\n]")
}

// graph writes nodes until so many bytes are reached.
func (w *writer) graph(end int64) {
	w.text("[\n")
	w.node("capture_start", nil)
	if w.Dialect != Strings {
		w.tensor()
	}
	for w.ops = 0; w.written < end && w.err == nil; w.ops++ {
		w.operation()
		w.drain()
	}
	w.node("capture_end", nil)
	w.text("\n]")
}

// A param is a member of params: its value is a number if number is said so.
type param struct{ name, value string }

func number(name string, n int) param { return param{name, strconv.Itoa(n)} }
func text(name, value string) param   { return param{name, `"` + value + `"`} }

// tensor writes a tensor without a buffer, which lists the chips of the mesh.
func (w *writer) tensor() {
	var chips []string
	for chip := range w.Chips {
		chips = append(chips, fmt.Sprintf(`{\"device_id\":%d,\"mesh_device_id\":%d}`, chip, mesh))
	}
	w.node("tensor", nil, text("device_tensors", "["+strings.Join(chips, ",")+"]"), number("tensor_id", 1))
}

// node writes one node, and returns its counter.
func (w *writer) node(kind string, connections []int64, params ...param) int64 {
	separate, blank, in, out := ",", "", "", ""
	if w.Dialect == Indent {
		separate, blank, in, out = ",\n        ", " ", "\n        ", "\n    "
	}
	if w.nodes > 0 {
		w.text(",\n")
	}
	w.put(`{%s`, in)
	if w.Dialect != Strings {
		w.put(`"arguments":%s[]%s`, blank, separate)
	}
	w.put(`"connections":%s[`, blank)
	for i, c := range connections {
		if i > 0 {
			w.text(",")
		}
		w.put("%d", c)
	}
	w.put(`]%s"counter":%s%d%s`, separate, blank, w.nodes, separate)
	if w.Dialect != Strings {
		w.put(`"input_tensors":%s[]%s`, blank, separate)
	}
	w.put(`"node_type":%s"%s"%s"params":%s{`, blank, kind, separate, blank)
	first := true
	for _, p := range params {
		if w.Dialect == Strings && !old(p.name) {
			continue
		}
		if !first {
			w.text(separate)
		}
		first = false
		if w.Dialect == Strings && p.value[0] != '"' {
			p = text(p.name, p.value)
		}
		w.put(`"%s":%s%s`, p.name, blank, p.value)
	}
	w.text("}")
	if w.Dialect != Strings {
		w.put(`%s"stacking_level":%s%d`, separate, blank, 1)
	}
	w.put("%s}", out)
	w.nodes++
	return w.nodes - 1
}

// old reports whether the dialect of 2024 has a param.
func old(name string) bool {
	switch name {
	case "device_id", "globally_allocated", "max_size_per_bank", "page_size", "num_cores", "buffer_type", "program_cache_hit":
		return false
	}
	return true
}

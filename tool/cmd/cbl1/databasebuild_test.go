package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sqlite "github.com/ncruces/go-sqlite3"
	"github.com/stretchr/testify/require"
)

// The versions of report databases. What each has is written down from the schemas that were
// published, and nothing of it is taken from the product.
const (
	db2024 = ""
	db20   = "2.0"
	db21   = "2.1"
	db30   = "3.0"
	db31   = "3.1"
)

func databaseVersions() []string { return []string{db2024, db20, db21, db30, db31} }

// schema returns the statements that make the tables of a version.
func schema(version string) (out []string) {
	tables := map[string]string{
		"devices": "device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, num_x_compute_cores int, worker_l1_size int, l1_num_banks int, " +
			"l1_bank_size int, address_at_first_l1_bank int, address_at_first_l1_cb_buffer int, num_banks_per_storage_core int, num_compute_cores int, " +
			"num_storage_cores int, total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, total_l1_for_sharded_buffers int, cb_limit int",
		"operations":          "operation_id int UNIQUE, name text, duration float",
		"operation_arguments": "operation_id int, name text, value text",
		"tensors":             "tensor_id int UNIQUE, shape text, dtype text, layout text, memory_config text, device_id int, address int, buffer_type int",
		"input_tensors":       "operation_id int, input_index int, tensor_id int",
		"output_tensors":      "operation_id int, output_index int, tensor_id int",
		"buffers":             "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int",
		"buffer_pages": "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, page_index int, page_address int, page_size int, " +
			"buffer_type int",
		"nodes":          "operation_id int, unique_id int, node_operation_id int, name text",
		"edges":          "operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, sink_input_index int, key int",
		"stack_traces":   "operation_id int, stack_trace text",
		"captured_graph": "operation_id int, captured_graph text",
	}
	if version != db2024 {
		tables["buffers"] += ", buffer_layout int"
		tables["device_tensors"] = "tensor_id int, device_id int, address int"
		tables["report_metadata"] = "key text UNIQUE, value text"
		tables["errors"] = "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, timestamp text"
	}
	if version >= db21 {
		tables["source_files"] = "id INTEGER PRIMARY KEY, path text UNIQUE, contents text"
		tables["stack_traces"] += ", source_file_id int"
	}
	if version >= db31 {
		delete(tables, "buffer_pages")
		tables["buffer_chunks"] = "operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, chunk_address int, chunk_size int, " +
			"page_size int, num_pages int, buffer_type int"
	}
	if version >= db30 {
		tables["operations"] = "operation_id int, name text, duration float"
		for _, name := range []string{"devices", "operations", "buffers", "buffer_pages", "buffer_chunks", "nodes", "edges", "captured_graph", "errors"} {
			if tables[name] != "" {
				tables[name] += ", rank int NOT NULL DEFAULT 0"
			}
		}
		tables["operations"] += ", UNIQUE (operation_id, rank)"
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		out = append(out, "CREATE TABLE "+name+" ("+tables[name]+")")
	}
	if version != db2024 {
		out = append(out, "INSERT INTO report_metadata VALUES ('schema_version', '"+version+"')")
	}
	return out
}

// A madeRun is what a database is made of.
type madeRun struct {
	devices []map[string]any
	slices  []madeSlice
	more    []string // statements
}

// A madeSlice is one operation of it.
type madeSlice struct {
	operation int
	rank      int
	graph     []byte
	buffers   [][4]int64 // at its end: device, address, bytes a core, type
}

// inTable writes rows, of the named columns.
func inTable(conn *sqlite.Conn, table, columns string, rows ...[]any) error {
	marks := strings.TrimSuffix(strings.Repeat("?,", strings.Count(columns, ",")+1), ",")
	s, _, err := conn.Prepare("INSERT INTO " + table + " (" + columns + ") VALUES (" + marks + ")")
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // Step has said what is wrong
	for _, row := range rows {
		for i, value := range row {
			switch v := value.(type) {
			case int:
				err = s.BindInt(i+1, v)
			case int64:
				err = s.BindInt64(i+1, v)
			case string:
				err = s.BindText(i+1, v)
			case []byte:
				err = s.BindRawText(i+1, v)
			}
			if err != nil {
				return err
			}
		}
		if err := s.Exec(); err != nil {
			return err
		}
	}
	return nil
}

// makeDatabase writes a database of a version.
func makeDatabase(t require.TestingT, path, version string, run madeRun) {
	conn, err := sqlite.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	for _, sql := range append(append([]string{"PRAGMA synchronous=OFF", "BEGIN"}, schema(version)...), run.more...) {
		require.NoError(t, conn.Exec(sql), sql)
	}
	columns := []string{"device_id", "num_x_compute_cores", "num_y_compute_cores", "worker_l1_size", "address_at_first_l1_cb_buffer", "l1_bank_size"}
	for _, d := range run.devices {
		row := make([]any, len(columns))
		for i, column := range columns {
			if n, ok := d[column].(json.Number); ok {
				row[i], err = strconv.Atoi(n.String())
				require.NoError(t, err)
			}
		}
		require.NoError(t, inTable(conn, "devices", strings.Join(columns, ", "), row))
	}
	rank, ranked := "", version >= db30
	if ranked {
		rank = ", rank"
	}
	of := func(s madeSlice, row ...any) []any {
		if ranked {
			row = append(row, s.rank)
		}
		return row
	}
	for _, s := range run.slices {
		require.NoError(t, inTable(conn, "operations", "operation_id, name"+rank, of(s, s.operation, "ttnn.f")))
		require.NoError(t, inTable(conn, "captured_graph", "operation_id, captured_graph"+rank, of(s, s.operation, s.graph)))
		for _, b := range s.buffers {
			row := of(s, s.operation, b[0], b[1], b[2], b[3])
			require.NoError(t, inTable(conn, "buffers", "operation_id, device_id, address, max_size_per_bank, buffer_type"+rank, row))
		}
	}
	require.NoError(t, conn.Exec("COMMIT"))
}

// jsonNode is a node as it stands in JSON, with its numbers as they are written.
type jsonNode map[string]any

func (n jsonNode) kind() string {
	kind, _ := n["node_type"].(string)
	if kind == "" {
		kind, _ = n["name"].(string)
	}
	return kind
}

func (n jsonNode) params() map[string]any {
	p, _ := n["params"].(map[string]any)
	return p
}

// number returns a parameter, written as a number or as text, or -1.
func (n jsonNode) number(name string) int64 {
	if i, err := strconv.ParseInt(fmt.Sprint(n.params()[name]), 10, 64); err == nil {
		return i
	}
	return -1
}

func (n jsonNode) connections() (out []int) {
	list, _ := n["connections"].([]any)
	for _, c := range list {
		i, _ := strconv.Atoi(fmt.Sprint(c))
		out = append(out, i)
	}
	return out
}

// moved returns the node with another counter and connections.
func (n jsonNode) moved(counter int, to func(c int) (int, bool)) jsonNode {
	out := maps.Clone(n)
	out["counter"] = counter
	connections := []any{}
	for _, c := range n.connections() {
		if c, ok := to(c); ok {
			connections = append(connections, c)
		}
	}
	out["connections"] = connections
	return out
}

// jsonRun is a capture as it stands in JSON.
type jsonRun struct {
	nodes   []jsonNode
	devices []map[string]any
}

func readRun(t require.TestingT, data []byte) (run jsonRun) {
	read := func(data []byte, to any) {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		require.NoError(t, d.Decode(to))
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		read(data, &run.nodes)
		return run
	}
	var whole map[string]json.RawMessage
	read(data, &whole)
	for key, raw := range whole {
		switch key {
		case "graph", "raw_graph":
			read(raw, &run.nodes)
		case "devices":
			read(raw, &run.devices)
		}
	}
	return run
}

func marshal(t require.TestingT, v any) []byte {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// capture writes the run as a report.
func (r jsonRun) capture(t require.TestingT) []byte {
	out := map[string]any{"version": 1, "graph": r.nodes}
	if r.devices != nil {
		out["devices"] = r.devices
	}
	return marshal(t, out)
}

// without returns the run without some nodes.
func (r jsonRun) without(drop map[int]bool) jsonRun {
	to := map[int]int{}
	for i := range r.nodes {
		if !drop[i] {
			to[i] = len(to)
		}
	}
	out := jsonRun{devices: r.devices}
	for i, n := range r.nodes {
		if !drop[i] {
			out.nodes = append(out.nodes, n.moved(to[i], func(c int) (int, bool) { at, ok := to[c]; return at, ok }))
		}
	}
	return out
}

// cut returns the first nodes of slices: each function that no other one calls is one, and
// what stands between two is one too.
func (r jsonRun) cut() (starts []int) {
	depth, fresh := 0, true
	for i, n := range r.nodes {
		if n.kind() == "function_start" {
			fresh = fresh || depth == 0
			depth++
		}
		if fresh {
			starts, fresh = append(starts, i), false
		}
		if n.kind() == "function_end" && depth > 0 {
			depth--
			fresh = depth == 0
		}
	}
	return starts
}

// sliced cuts the run. Connections that lead out of a slice keep their number, as the importer
// leaves them.
func (r jsonRun) sliced(t require.TestingT) madeRun {
	out := madeRun{devices: r.devices}
	starts := r.cut()
	live := map[int][4]int64{} // by the node that stands for the buffer, or by that of the allocation
	for i, start := range starts {
		end := len(r.nodes)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		graph := []jsonNode{}
		for at := start; at < end; at++ {
			graph = append(graph, r.nodes[at].moved(at-start, func(c int) (int, bool) {
				if c >= start && c < end {
					return c - start, true
				}
				return c, true
			}))
			r.follow(at, live)
		}
		s := madeSlice{operation: i + 1, graph: marshal(t, graph)}
		for _, node := range slices.Sorted(maps.Keys(live)) {
			s.buffers = append(s.buffers, live[node])
		}
		out.slices = append(out.slices, s)
	}
	return out
}

// follow keeps what lives up to date with one node.
func (r jsonRun) follow(at int, live map[int][4]int64) {
	n := r.nodes[at]
	node := at
	if c := n.connections(); len(c) > 0 {
		node = c[0]
	}
	switch n.kind() {
	case "buffer_allocate":
		kind := max(n.number("buffer_type"), 0)
		if n.number("buffer_type") < 0 && n.params()["type"] == "L1" {
			kind = 1
		}
		live[node] = [4]int64{max(n.number("device_id"), 0), n.number("address"), max(n.number("max_size_per_bank"), 16), kind}
	case "buffer_deallocate":
		delete(live, node)
		maps.DeleteFunc(live, func(_ int, b [4]int64) bool {
			return len(n.connections()) == 0 && b[0] == max(n.number("device_id"), 0) && b[1] == n.number("address")
		})
	}
}

// imported cuts the run as ttnn's importer does: a function that no other one calls is an operation,
// between a capture_start and a capture_end of its own, with the tensors that it returns once more at
// its end. A free outside of functions is an operation too; what else stands there is lost.
func (r jsonRun) imported(t require.TestingT) madeRun {
	out := madeRun{devices: r.devices}
	live, depth, start := map[int][4]int64{}, 0, 0
	add := func(nodes []int, to func(c, counter int, at map[int]int) (int, bool)) {
		edge := func(kind string) jsonNode {
			return jsonNode{"arguments": []any{}, "connections": []any{}, "input_tensors": []any{}, "node_type": kind, "params": map[string]any{}, "stacking_level": 0}
		}
		at := map[int]int{0: len(nodes) + 1} // the last one of those with a counter
		for i, n := range nodes {
			at[n] = i + 1
		}
		graph := []jsonNode{edge("capture_start").moved(0, nil)}
		for i, n := range nodes {
			graph = append(graph, r.nodes[n].moved(i+1, func(c int) (int, bool) { return to(c, i+1, at) }))
		}
		graph = append(graph, edge("capture_end").moved(len(graph), nil))
		for _, n := range graph {
			n["id"] = n["counter"]
		}
		s := madeSlice{operation: len(out.slices) + 1, graph: marshal(t, graph)}
		for _, node := range slices.Sorted(maps.Keys(live)) {
			s.buffers = append(s.buffers, live[node])
		}
		out.slices = append(out.slices, s)
	}
	for i, n := range r.nodes {
		r.follow(i, live)
		switch n.kind() {
		case "function_start":
			if depth++; depth == 1 {
				start = i
			}
		case "function_end":
			if depth--; depth != 0 {
				break
			}
			var nodes []int
			for at := start; at <= i; at++ {
				nodes = append(nodes, at)
			}
			for _, c := range n.connections() {
				if c < len(r.nodes) && r.nodes[c].kind() == "tensor" {
					nodes = append(nodes, c)
				}
			}
			// The recorder of fixtures does not connect a function with what it returns.
			for c := i + 1; len(nodes) == i-start+1 && c < len(r.nodes) && r.nodes[c].kind() == "tensor"; c++ {
				nodes = append(nodes, c)
			}
			add(nodes, func(c, _ int, at map[int]int) (int, bool) {
				if to, ok := at[c]; ok {
					return to, true
				}
				return c, true
			})
		case "buffer_deallocate":
			if depth == 0 {
				add([]int{i}, func(_, counter int, _ map[int]int) (int, bool) { return counter + 1, true })
			}
		}
	}
	return out
}

package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	sqlite "github.com/ncruces/go-sqlite3"
)

// Databases lists the report databases. Their size is the size of the table of buffers.
func Databases() []Template {
	return []Template{
		{"one-list", 10_000, databaseOf(func(int) int { return 2 }, true), CostLimit{39_000_000, 48 * mib}},
		{"lists-that-differ", 10_000, databaseOf(func(int) int { return 200 }, true), CostLimit{32_000_000, 48 * mib}},
		{"run-that-grows", 4_000, databaseOf(func(rows int) int { return rows / 20 }, false), CostLimit{16_000_000, 32 * mib}},
	}
}

// databaseOf makes databases with some operations. Where these do not free their circular buffers, all of them are one
// run, which grows with each operation. No list of buffers has a buffer of another list.
func databaseOf(operationsOf func(rows int) int, free bool) func(rows int) []byte {
	nodes := []string{
		`"node_type":"capture_start","params":{}`,
		`"node_type":"function_start","params":{"name":"ttnn.f","inputs":"0"},"arguments":[]`,
		`"node_type":"circular_buffer_allocate","params":{"address":"105472","core_range_set":"{[0-0 - 7-7]}","size":"4096","globally_allocated":"0","device_id":"0"}`,
	}
	if free {
		nodes = append(nodes, `"node_type":"circular_buffer_deallocate_all","params":{}`)
	}
	nodes = append(nodes, `"node_type":"function_end","params":{"name":"ttnn.f"}`, `"node_type":"capture_end","params":{}`)
	for i := range nodes {
		nodes[i] = fmt.Sprintf(`{"counter":%d,%s,"connections":[]}`, i, nodes[i])
	}
	graph := "[" + strings.Join(nodes, ",\n") + "]"
	return func(rows int) []byte {
		operations := max(1, operationsOf(rows))
		numbers := func(n int) string {
			return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < %d)", n-1)
		}
		return database(
			"CREATE TABLE devices (device_id int, num_x_compute_cores int, num_y_compute_cores int, worker_l1_size int, "+
				"address_at_first_l1_cb_buffer int, l1_bank_size int)",
			"INSERT INTO devices VALUES (0, 8, 8, 1499136, 105472, 1393664)",
			"CREATE TABLE operations (operation_id int, name text)",
			"CREATE TABLE captured_graph (operation_id int, captured_graph text)",
			"CREATE TABLE buffers (operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int)",
			numbers(operations)+" INSERT INTO operations SELECT i, 'ttnn.f' FROM n",
			numbers(operations)+" INSERT INTO captured_graph SELECT i, '"+graph+"' FROM n",
			numbers(rows)+fmt.Sprintf(" INSERT INTO buffers SELECT i / %d, 0, 1400000 - 2 * i, 2, 1 FROM n", max(1, rows/operations)),
		)
	}
}

// database returns the bytes of a database after some statements.
func database(statements ...string) []byte {
	dir, err := os.MkdirTemp("", "attack")
	must(err)
	defer func() { must(os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "db.sqlite")
	conn, err := sqlite.Open(path)
	must(err)
	for _, sql := range statements {
		must(conn.Exec(sql))
	}
	must(conn.Close())
	out, err := os.ReadFile(path)
	must(err)
	return out
}

// must panics on an error that cannot occur: the statements and the folder are ours.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

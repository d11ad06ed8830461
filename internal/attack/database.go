package attack

import (
	"fmt"
	"os"
	"path/filepath"

	sqlite "github.com/ncruces/go-sqlite3"
)

// Databases lists the report databases. Their size is the size of the table of buffers.
func Databases() []Template {
	return []Template{
		{"one-list", 10_000, databaseOf(2), CostLimit{32_000_000, 48 * mib}},
		{"lists-that-differ", 10_000, databaseOf(200), CostLimit{32_000_000, 48 * mib}},
	}
}

// databaseOf makes databases with some operations. No list of buffers has a buffer of
// another list.
func databaseOf(operations int) func(rows int) []byte {
	graph := `[{"counter":0,"node_type":"capture_start","params":{},"connections":[]},
{"counter":1,"node_type":"function_start","params":{"name":"ttnn.f","inputs":"0"},"arguments":[],"connections":[]},
{"counter":2,"node_type":"circular_buffer_allocate","params":{"address":"105472","core_range_set":"{[0-0 - 7-7]}","size":"4096","globally_allocated":"0","device_id":"0"},"connections":[]},
{"counter":3,"node_type":"circular_buffer_deallocate_all","params":{},"connections":[]},
{"counter":4,"node_type":"function_end","params":{"name":"ttnn.f"},"connections":[]},
{"counter":5,"node_type":"capture_end","params":{},"connections":[]}]`
	return func(rows int) []byte {
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

package capture_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle/randomcapture"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// A silence is not a fact: from a capture that does not fit, nodes, fields and rows are removed one at a time (a sample
// of them, and at night all), and the answer "fits" is wrong as long as a witness of the failure is left.
//
//	of                          witnesses
//	a circular buffer           its node
//	a run of a known program    a circular buffer of its first run, beside an execution of its operation, or a free of
//	                            a mesh that nothing of the operation stands before
//	an L1 buffer                its allocation, its free, tensors, rows of lists and global circular buffers at its address
func TestWitnesses(t *testing.T) {
	var files []string
	for _, pattern := range []string{"testdata/*.json", "testdata/right/*.json"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, ".right.") || strings.Contains(f, ".expected.") })...)
	}
	failing, removed := 0, 0
	law := func(name string, data []byte, opt capture.Options, some func() bool) {
		if n, fails := requireWitnesses(t, name, data, opt, some); fails {
			failing, removed = failing+1, removed+n
		}
	}
	r := rand.New(rand.NewPCG(1, 0))
	one := func(of int) func() bool { return func() bool { return testkit.Nightly() || r.IntN(of) == 0 } }
	drawn, most := 300, 4
	if testing.Short() {
		drawn, most = 30, 20
	}
	if testkit.Nightly() {
		drawn = 1_000
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		law(file, data, capture.Options{}, one(most))
	}
	require.Greater(t, failing, 20, "captures of the repository that do not fit")
	of := failing
	for i := range drawn {
		r := rand.New(rand.NewPCG(uint64(i), 0))
		data := randomcapture.Draw(r.IntN)
		law(fmt.Sprint("random capture ", i), data, capture.Options{Base: randomcapture.Base, Align: randomcapture.Align, MaxL1: randomcapture.L1}, one(4*most))
	}
	require.Greater(t, failing-of, drawn/10, "random captures that do not fit")
	t.Logf("%d captures that do not fit, %d removals", failing, removed)
}

// requireWitnesses removes some things from a capture that does not fit, and returns how many.
func requireWitnesses(t *testing.T, name string, data []byte, opt capture.Options, some func() bool) (removed int, fails bool) {
	r, err := replay.Run(name, capture.NewReader(bytes.NewReader(data), name).Events(opt), replay.Options{})
	if err != nil || r.Judge(answer.Terms{}).Answer != answer.DoesNotFit {
		return 0, false
	}
	whole, ok := parseText(data)
	failures := failuresOf(r)
	if !ok || len(failures) == 0 {
		return 0, false
	}
	for what, removal := range whole.removals(data) {
		if !some() {
			continue
		}
		c := removal()
		removed++
		text := c.bytes()
		left, err := replay.Run(name, capture.NewReader(bytes.NewReader(text), name).Events(opt), replay.Options{})
		if err != nil || left.Judge(answer.Terms{}).Answer != answer.Fits {
			continue
		}
		for _, f := range failures {
			require.False(t, f.witnessed(whole, c), "%s: %+v without %s\n%s", name, f, what, text)
		}
	}
	return removed, true
}

// A failure is circular buffers of a run that end beyond a limit: an L1 buffer, or the end of L1.
type failure struct {
	end, limit uint64
	grows      bool // it ends beyond L1
	known      bool // the program is from the program cache
	from, to   int  // nodes of the run
}

// failuresOf returns none if a failure is of another kind.
func failuresOf(r *answer.Result) (out []failure) {
	for _, c := range r.Checks.List {
		if len(c.Verdict.Clashes) == 0 {
			return nil
		}
		for _, clash := range c.Verdict.Clashes {
			out = append(out, failure{clash.End, clash.Limit, clash.Grows, c.Run.Inferred, int(c.Run.At), int(c.Enqueue)})
		}
	}
	return out
}

// witnessed reports whether a capture, from which something is removed, still shows a failure of the whole one.
func (f failure) witnessed(whole, c text) bool {
	return f.runs(whole, c) && (f.grows || f.meets(whole, c))
}

// runs reports whether the program shows, and that it ran.
func (f failure) runs(whole, c text) bool {
	meshes, chips := c.ids()
	shown, depth, frees := false, 0, 0
	lost := c.missing < len(whole.nodes) && whole.nodes[c.missing]["node_type"] == "circular_buffer_deallocate_all"
	for _, n := range c.nodes {
		if lost && c.number(n) > c.missing {
			lost, frees = false, frees+1
		}
		in := c.number(n) >= f.from && c.number(n) <= f.to
		switch kind := n["node_type"]; {
		case kind == "function_start":
			if depth++; depth == 1 {
				frees = 0
			}
		case kind == "function_end":
			depth--
		case n.places() && !n.global() && n.end() == f.end:
			if shown = true; !f.known && in {
				return true
			}
		case !f.known || !in || !shown:
		case kind == "program_execution" && n.param("device_id") != nil:
			return true
		case kind == "circular_buffer_deallocate_all":
			if id, ok := integer(n.param("device_id")); ok && meshes[id] && !chips[id] && depth > 0 && frees == 0 {
				return true
			}
		}
		if n["node_type"] == "circular_buffer_deallocate_all" {
			frees++
		}
	}
	return false
}

// meets reports whether the L1 buffer shows, as long as it lived: from its allocation to its free.
func (f failure) meets(whole, c text) bool {
	born, gone := 0, len(whole.nodes)
	for i, n := range whole.nodes {
		switch {
		case n["node_type"] == "buffer_allocate" && n.inL1() && n.address() == f.limit && i < f.to:
			born = i
		case n["node_type"] == "buffer_deallocate" && n.address() == f.limit && i <= f.from:
			born = i + 1
		case n["node_type"] == "buffer_deallocate" && n.address() == f.limit:
			gone = min(gone, i)
		}
	}
	for _, n := range c.nodes {
		if at := c.number(n); at >= born && at <= gone && n.shows(f.limit) {
			return true
		}
	}
	for at, rows := range c.lists() {
		for _, row := range rows {
			address, _ := integer(row["address"])
			kind, ok := integer(row["buffer_type"])
			if address == f.limit && (kind == 1 || !ok) && at >= born && at <= gone {
				return true
			}
		}
	}
	return false
}

// A text is a capture, from which one thing may be missing.
type text struct {
	report  map[string]json.RawMessage // nil: the capture is a bare list of nodes
	nodes   []textNode
	missing int // the number that the missing node had, or past the end
}

type textNode map[string]any

func parseText(data []byte) (c text, ok bool) {
	graph := data
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte("{")) {
		if json.Unmarshal(data, &c.report) != nil {
			return c, false
		}
		graph = c.report["graph"]
	}
	ok = json.Unmarshal(graph, &c.nodes) == nil
	c.missing = len(c.nodes)
	return c, ok
}

func (c text) bytes() []byte {
	var v any = c.nodes
	if c.report != nil {
		report := map[string]any{"graph": c.nodes}
		for name, section := range c.report {
			if name != "graph" {
				report[name] = section
			}
		}
		v = report
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// number returns the number of a node in the whole capture.
func (c text) number(n textNode) int {
	at, _ := integer(n["counter"])
	if int(at) >= c.missing {
		at++
	}
	return int(at)
}

// lists returns the rows of per_operation_buffers, by the number of the node in the whole capture.
func (c text) lists() map[int][]map[string]any {
	var all map[string][]map[string]any
	_ = json.Unmarshal(c.report["per_operation_buffers"], &all)
	out := map[int][]map[string]any{}
	for key, rows := range all {
		if at, err := strconv.Atoi(key); err == nil {
			if at >= c.missing {
				at++
			}
			out[at] = rows
		}
	}
	return out
}

// ids returns the numbers that pairs in tensors say to be of meshes, and those that are of chips.
func (c text) ids() (meshes, chips map[uint64]bool) {
	meshes, chips = map[uint64]bool{}, map[uint64]bool{}
	for _, n := range c.nodes {
		var rows []map[string]any
		if list, ok := n.param("device_tensors").(string); ok && json.Unmarshal([]byte(list), &rows) == nil {
			for _, row := range rows {
				mesh, isMesh := integer(row["mesh_device_id"])
				chip, isChip := integer(row["device_id"])
				if isMesh && isChip && (mesh != chip || n.param("device_id") != nil) { // a view repeats the number of its chip
					meshes[mesh], chips[chip] = true, true
				}
			}
		}
		if id, ok := integer(n.param("device_id")); ok && n.places() {
			chips[id] = true
		}
	}
	return meshes, chips
}

func (n textNode) param(name string) any {
	params, _ := n["params"].(map[string]any)
	return params[name]
}

func (n textNode) address() uint64 {
	address, _ := integer(n.param("address"))
	return address
}

// places reports whether a node places something that names its cores.
func (n textNode) places() bool {
	switch n["node_type"] {
	case "circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate":
		return n.param("core_range_set") != nil && n.param("size") != nil
	}
	return false
}

func (n textNode) global() bool {
	for _, name := range []string{"globally_allocated", "borrows_memory"} {
		if v := n.param(name); v != nil && !slices.Contains([]string{"0", "false"}, fmt.Sprint(v)) {
			return true
		}
	}
	return false
}

func (n textNode) end() uint64 {
	size, _ := integer(n.param("size"))
	return n.address() + size
}

func (n textNode) inL1() bool {
	if kind, ok := integer(n.param("buffer_type")); ok {
		return kind == 1
	}
	return n.param("type") == "L1"
}

// shows reports whether a node shows an L1 buffer at an address.
func (n textNode) shows(address uint64) bool {
	switch n["node_type"] {
	case "buffer_allocate", "buffer_deallocate":
		return n.inL1() && n.address() == address
	case "tensor":
		parts := fmt.Sprint(n.param("device_tensors"))
		return n.inL1() && (n.address() == address || n.address() == 0 && strings.Contains(parts, fmt.Sprint(`"address":`, address)))
	}
	return n.places() && n.global() && n.address() == address
}

// integer reads a number, or a text of one.
func integer(v any) (uint64, bool) {
	switch v := v.(type) {
	case float64:
		return uint64(v), v >= 0
	case string:
		n, err := strconv.ParseUint(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// removals returns, by the name of what is missing, what is left without each node, each field and each row.
func (c text) removals(data []byte) iter.Seq2[string, func() text] {
	fresh := func(remove func(c text)) func() text {
		return func() text {
			c, _ := parseText(data)
			remove(c)
			return c
		}
	}
	return func(yield func(string, func() text) bool) {
		for i, n := range c.nodes {
			of := fmt.Sprintf("node %d, %v", i, n["node_type"])
			whole := fresh(func(text) {})
			if !yield(of, func() text { return whole().without(i) }) {
				return
			}
			params, _ := n["params"].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(params)) {
				if !yield(of+": "+key, fresh(func(c text) { delete(c.nodes[i]["params"].(map[string]any), key) })) {
					return
				}
			}
			for _, key := range slices.Sorted(maps.Keys(n)) {
				if key != "counter" && !yield(of+": "+key, fresh(func(c text) { delete(c.nodes[i], key) })) {
					return
				}
			}
		}
		for _, section := range slices.Sorted(maps.Keys(c.report)) {
			if section == "graph" {
				continue
			}
			if !yield(section, fresh(func(c text) { delete(c.report, section) })) {
				return
			}
			smaller := prunings(c.report[section])
			for _, what := range slices.Sorted(maps.Keys(smaller)) {
				if !yield(section+what, fresh(func(c text) { c.report[section] = smaller[what] })) {
					return
				}
			}
		}
	}
}

// without removes a node. The numbers of later nodes move up.
func (c text) without(i int) text {
	c.missing = i
	moved := func(at uint64) uint64 {
		if int(at) > i {
			at--
		}
		return at
	}
	c.nodes = slices.Delete(c.nodes, i, i+1)
	for at, n := range c.nodes {
		n["counter"] = float64(at)
		to := []any{}
		list, _ := n["connections"].([]any)
		for _, v := range list {
			if at, ok := integer(v); ok && int(at) != i {
				to = append(to, moved(at))
			}
		}
		if list != nil {
			n["connections"] = to
		}
	}
	var lists map[string]json.RawMessage
	if json.Unmarshal(c.report["per_operation_buffers"], &lists) == nil && lists != nil {
		out := map[string]json.RawMessage{}
		for key, rows := range lists {
			if at, err := strconv.ParseUint(key, 10, 64); err == nil && int(at) != i {
				out[strconv.FormatUint(moved(at), 10)] = rows
			}
		}
		c.report["per_operation_buffers"], _ = json.Marshal(out)
	}
	return c
}

// prunings returns a section of a report without each of its rows and fields.
func prunings(section json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	var v any
	if json.Unmarshal(section, &v) != nil {
		return out
	}
	var walk func(path string, v any)
	keep := func(path string) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out[path] = text
	}
	walk = func(path string, at any) {
		switch at := at.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(at)) {
				was := at[key]
				delete(at, key)
				keep(path + "." + key)
				at[key] = was
				walk(path+"."+key, was)
			}
		case []any:
			for i, row := range at {
				walk(fmt.Sprintf("%s[%d]", path, i), row)
			}
		}
	}
	walk("", v)
	return out
}

package capture

import (
	"bytes"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
)

var update = flag.Bool("update", false, "TestFew, TestRules, TestFields: write their files in testdata anew; review the difference")

// TestFew compares the event logs of captures of a few nodes: testdata/few.txt has a section for each,
// with its nodes, and behind > the lines of the event log that they make.
func TestFew(t *testing.T) {
	testkit.Sections(t, "testdata/few.txt", *update, func(asked []string) []string {
		return writtenEvents(t, asked)
	})
}

// TestReports compares the reports on captures of a few nodes, and their figures with an independent oracle.
func TestReports(t *testing.T) {
	without := []string{"schema", "file", "layout", "physical", "includes", "excludes", "percent_of_l1", "core_groups", "programs_detail"}
	testkit.Sections(t, "testdata/reports.txt", *update, func(asked []string) []string {
		var c few
		for _, line := range asked {
			c.take(t, line)
		}
		r := bothWays(t, c.input(t).Path, c.opt)
		if !c.unmodelled {
			want, err := oracle.L1([]byte(c.text(t)), oracle.Options{Base: c.opt.Base, Arch: string(c.opt.Arch), L1Small: c.opt.L1Small.V, NoInfer: c.opt.NoInfer})
			require.NoError(t, err)
			requireLives(t, want, r)
		}
		return testkit.Brief(t, r.Report(), without...)
	})
}

// inDir is the folder of the files, which is another one each time.
var inDir = regexp.MustCompile(`/[^":]*/([0-9]\.json)`)

// writtenEvents returns the event log of a section.
func writtenEvents(t *testing.T, given []string) []string {
	t.Helper()
	var c few
	for _, line := range given {
		c.take(t, line)
	}
	same := []string{"spec", "from"} // in nearly all logs
	if c.specs {
		same = nil
	}
	return testkit.Short(inDir.ReplaceAllString(c.log(t, c.input(t)), "$1"), same...)
}

// few is a section: one capture.
type few struct {
	opt        Options
	specs      bool   // shows the specs of devices, too
	unmodelled bool   // the oracle does not know such nodes
	file       string // instead of nodes
	nodes      []string
	around     string // sections of a report behind the graph
}

// take reads a line: a word of options, of a report, or a node.
func (c *few) take(t *testing.T, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "at":
		var n uint64
		_, err := fmt.Sscan(rest, &n)
		require.NoError(t, err)
		c.opt.At = event.Some(n)
	case "no-infer":
		c.opt.NoInfer = true
	case "operations":
		c.opt.Operations = true
	case "base":
		_, err := fmt.Sscan(rest, &c.opt.Base)
		require.NoError(t, err)
	case "l1-small":
		_, err := fmt.Sscan(rest, &c.opt.L1Small.V)
		require.NoError(t, err)
		c.opt.L1Small.OK = true
	case "arch":
		c.opt.Arch = l1.Arch(rest)
	case "file":
		c.file = filepath.Join("testdata", rest)
	case "specs":
		c.specs = true
	case "unmodelled":
		c.unmodelled = true
	case "report":
		c.around += "," + rest
	default:
		c.nodes = append(c.nodes, nodeOf(t, line))
	}
}

// text is the capture.
func (c *few) text(t *testing.T) string {
	if c.file != "" {
		data, err := os.ReadFile(c.file)
		require.NoError(t, err)
		return string(data)
	}
	text := graphOf(slices.Clone(c.nodes)...)
	if c.around != "" {
		text = `{"graph":` + text + c.around + `}`
	}
	return text
}

// input writes the capture.
func (c *few) input(t *testing.T) Input {
	t.Helper()
	if c.file != "" {
		return Input{Path: c.file}
	}
	path := filepath.Join(t.TempDir(), "0.json")
	require.NoError(t, os.WriteFile(path, []byte(c.text(t)), 0o600))
	return Input{Path: path}
}

// log returns the event log of an input. That of the same text on a pipe is the same.
func (c *few) log(t *testing.T, in Input) string {
	t.Helper()
	text := logOf(t, in.Events(c.opt))
	require.Equal(t, text, logOf(t, NewReader(pipe{strings.NewReader(c.text(t))}, in.Path).Events(c.opt)), "on a pipe")
	return text
}

// logOf writes events as a log. An error stands in a line of its own.
func logOf(t *testing.T, events iter.Seq2[*event.Event, error]) string {
	t.Helper()
	var b bytes.Buffer
	w := event.NewWriter(&b)
	for e, err := range events {
		if err != nil {
			fmt.Fprintf(&b, "refused: %s\n", err)
			break
		}
		require.NoError(t, w.Write(e))
	}
	return b.String()
}

// nodeOf returns a node in JSON. A number that is left out, or -, takes its default; a line that begins
// with a quotation mark is JSON already.
func nodeOf(t *testing.T, line string) string {
	if strings.HasPrefix(line, `"`) {
		return line
	}
	f := strings.Fields(line)
	arg := func(i int, otherwise string) string {
		if i < len(f) && f[i] != "-" {
			return f[i]
		}
		return otherwise
	}
	on := func(i int) string { // the field of a device, which may be missing
		if id := arg(i, "none"); id != "none" {
			return `"device_id":` + id + ","
		}
		return ""
	}
	placed := func(kind, flag string) string {
		return fmt.Sprintf(`"node_type":"%s_allocate","params":{%s"address":%s,"size":%s,"core_range_set":"%s"%s}`, kind, on(1),
			arg(2, "111616"), arg(3, "64"), strings.NewReplacer("{[none]}", "{}", "..", " - ").Replace("{["+arg(4, "0-0..0-0")+"]}"), flag)
	}
	buffer := func(kind string) string {
		fields := map[string]string{"l1": `"type":"L1","buffer_type":1`, "small": `"type":"L1","buffer_type":3`, "dram": `"type":"DRAM","buffer_type":0`}
		return fmt.Sprintf(`"node_type":"buffer_%s","params":{%s"address":%s,"size":%s,"max_size_per_bank":%s,%s},"connections":[%s]`, kind, on(1),
			arg(2, "1500000"), arg(3, "64"), arg(3, "64"), fields[arg(4, "l1")], arg(5, ""))
	}
	switch f[0] {
	case "place":
		return placed("circular_buffer", "")
	case "global":
		return placed("circular_buffer", `,"globally_allocated":"1"`)
	case "dfb":
		return placed("dataflow_buffer", "")
	case "scratch":
		return placed("scratchpad", "")
	case "free":
		return `"node_type":"circular_buffer_deallocate_all","params":{` + strings.TrimSuffix(on(1), ",") + `}`
	case "buffer":
		return fmt.Sprintf(`"node_type":"buffer","params":{%s"size":%s,"type":"L1","buffer_type":1},"connections":[]`, on(1), arg(2, "64"))
	case "alloc":
		return buffer("allocate")
	case "dealloc":
		return buffer("deallocate")
	case "even", "uneven": // an allocation or free of a buffer with so many bytes on every core of 64
		kind := map[string]string{"even": "allocate", "uneven": "deallocate"}[f[0]]
		size, err := strconv.Atoi(arg(3, "64"))
		require.NoError(t, err)
		return fmt.Sprintf(`"node_type":"buffer_%s","params":{%s"address":%s,"size":%d,"max_size_per_bank":%d,"num_cores":0,"type":"L1","buffer_type":1},"connections":[%s]`,
			kind, on(1), arg(2, "1500000"), 64*size, size, arg(4, ""))
	case "tensor":
		return fmt.Sprintf(`"node_type":"tensor","params":{%s"address":%s,"buffer_type":%s},"connections":[%s]`, on(1), arg(2, "1500000"), arg(3, "1"), arg(4, ""))
	case "member":
		return fmt.Sprintf(`"node_type":"tensor","params":{"device_tensors":"[{\"device_id\":%s,\"mesh_device_id\":%s}]"}`, f[1], f[2])
	case "call":
		hit := map[string]string{"": "", "hit": `,"program_cache_hit":true`, "miss": `,"program_cache_hit":false`}[arg(2, "")]
		if args := arg(3, ""); args != "" {
			args = fmt.Sprintf(`,"arguments":[%q]`, args)
			return fmt.Sprintf(`"node_type":"function_start","params":{"name":%q%s}%s`, f[1], hit, args)
		}
		return fmt.Sprintf(`"node_type":"function_start","params":{"name":%q%s}`, f[1], hit)
	case "end":
		return fmt.Sprintf(`"node_type":"function_end","params":{"name":%q}`, f[1])
	case "abort":
		return fmt.Sprintf(`"node_type":"function_end","params":{"name":%q,"aborted":true,"abort_reason":%q}`, f[1], arg(2, ""))
	case "exec":
		return fmt.Sprintf(`"node_type":"program_execution","params":{%s"physical_device_id":%s}`, on(1), f[2])
	case "error":
		return fmt.Sprintf(`"node_type":"error","params":{"error_operation":%q,"error_message":%q}`, f[1], f[2])
	}
	t.Fatalf("%q is no node", line)
	return ""
}

package capture

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/internal/shown"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/capture/internal/survey"
)

// A nest writes a capture node by node, so that no test holds it in memory.
type nest struct {
	*io.PipeWriter
	nodes int
}

func (n *nest) node(kind, params string) {
	separator := ","
	if n.nodes == 0 {
		separator = "["
	}
	_, _ = fmt.Fprintf(n, `%s{"counter":%d,"node_type":%q,"params":{%s},"connections":[]}`, separator, n.nodes, kind, params) // who reads no more wants no more
	n.nodes++
}

func (n *nest) start(name string) { n.node("function_start", fmt.Sprintf(`"name":%q`, name)) }
func (n *nest) end(name string)   { n.node("function_end", fmt.Sprintf(`"name":%q`, name)) }

// buffer places something, so that an event names the operation.
func (n *nest) buffer() {
	n.node("buffer_allocate", `"address":"1000000","size":"4096","max_size_per_bank":"64","type":"L1","device_id":"0"`)
	n.node("buffer_deallocate", `"address":"1000000","size":"4096","type":"L1","device_id":"0"`)
}

// Names inside each other take memory for what each says, and not for what they make when
// they are joined: joined, these are 3 GB, 1 GB and
// 120 MB.
func TestMemoryFollowsNames(t *testing.T) {
	for name, write := range map[string]func(n *nest){
		"long names around many calls": func(n *nest) {
			for i := range 100 {
				n.start(fmt.Sprint(i, strings.Repeat("n", 10_000)))
			}
			for i := range 3000 {
				n.start(fmt.Sprint("call", i))
				n.buffer()
				n.end("")
			}
		},
		"many calls inside each other": func(n *nest) {
			for i := range 10_000 {
				n.start(fmt.Sprint("a call of some length ", i))
				n.buffer()
			}
		},
		"calls of long names": func(n *nest) {
			for i := range 12 {
				n.start(fmt.Sprint(i, strings.Repeat("n", 10<<20)))
				n.buffer()
				n.end("")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			const often = 500
			from, to := io.Pipe()
			n := &nest{PipeWriter: to}
			go func() {
				write(n)
				_, _ = io.WriteString(n, "]")
				_ = n.Close() // never fails
			}()
			before, told := testkit.Kept(), 0
			look := func() {
				if testkit.Nightly() { // the writer makes texts meanwhile
					require.Less(t, testkit.Kept()-before, int64(64<<20), "after %d buffers", told)
				}
			}
			for e, err := range NewReader(from, "nest.json").Events(Options{TempDir: t.TempDir()}) {
				require.NoError(t, err)
				if e.Kind != event.KindAllocate {
					continue
				}
				require.LessOrEqual(t, len(e.Op.V), shown.MaxPath)
				if told++; told%often == 0 {
					look()
				}
			}
			look()
			require.NotZero(t, told)
		})
	}
}

// The path of functions is what joining all names makes, clipped.
func TestPathIsClipped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newOperations(survey.NewKnowledge(survey.NewMembers()))
		var stack []string
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch draw := rapid.IntRange(0, 5).Draw(t, "step"); {
			case draw == 0 && len(stack) > 0:
				o.leave()
				stack = stack[:len(stack)-1]
			case draw <= 3:
				length := rapid.SampledFrom([]int{0, 1, 20, 300, 1000, shown.MaxName, shown.MaxName + 1, 70_000}).Draw(t, "length")
				name := strings.Repeat(rapid.SampledFrom([]string{"n", "ö", "🙂"}).Draw(t, "letter"), length)
				stack = append(stack, name)
				o.enter(&graph.Node{Function: graph.FunctionNode{Name: name}})
			}
			if rapid.Bool().Draw(t, "look") {
				require.Equal(t, naivePath(stack), o.call().path)
				require.LessOrEqual(t, len(o.call().path), shown.MaxPath)
			}
		}
	})
}

// naivePath joins whole names, of which only those beyond 64 KiB are clipped before.
func naivePath(stack []string) string {
	kept := make([]string, len(stack))
	for i, name := range stack {
		kept[i] = shown.Clip(name, shown.MaxName)
	}
	switch n := len(kept) - 1; n {
	case -1:
		return ""
	case 0:
		return kept[0]
	default:
		return shown.Clip(strings.Join(kept[:n], " > "), shown.MaxOutput) + " > " + kept[n]
	}
}

// Operations whose names differ where they are cut are different operations: a hit of the
// program cache runs what its own operation ran. But for the names, the capture has the
// events of one with short names.
func TestCutNamesDiffer(t *testing.T) {
	graph := func(outer [2]string, inner bool) string {
		var b strings.Builder
		counter := 0
		for i, of := range []int{0, 1, 0, 1, 0} {
			names := []string{outer[of], "call"}
			if inner {
				names = []string{"call", outer[of]}
			}
			nodes := []string{
				fmt.Sprintf(`"function_start","params":{"name":%q}`, names[0]),
				fmt.Sprintf(`"function_start","params":{"name":%q,"program_cache_hit":%t}`, names[1], i >= 2),
				`"circular_buffer_deallocate_all","params":{"device_id":0}`,
			}
			if i < 2 {
				nodes = append(nodes, fmt.Sprintf(`"circular_buffer_allocate","params":{"address":111616,"size":%d,"core_range_set":"{[0-0 - 1-1]}","device_id":0}`, 4096*(i+1)))
			}
			nodes = append(nodes, `"function_end","params":{}`, `"function_end","params":{}`)
			for _, n := range nodes {
				fmt.Fprintf(&b, `,{"counter":%d,"node_type":%s,"connections":[]}`, counter, n)
				counter++
			}
		}
		return "[" + b.String()[1:] + "]"
	}
	tell := func(text string) (out []string, programs []string) {
		events, err := copied(piped([]byte(text), Options{}))
		require.NoError(t, err)
		for _, e := range events {
			if e.Kind == event.KindRun {
				programs = append(programs, fmt.Sprint(e.Program))
			}
			e.Op, e.Detail, e.Pos = event.Opt[string]{}, "", event.Pos{}
			out = append(out, fmt.Sprintf("%+v", e))
		}
		return out, programs
	}
	for _, inner := range []bool{false, true} {
		want, programs := tell(graph([2]string{"a", "b"}, inner))
		require.Equal(t, []string{"0", "1", "0", "1", "0"}, programs)
		for _, length := range []int{500, 2000, shown.MaxName, 70_000} {
			same := strings.Repeat("n", length)
			got, _ := tell(graph([2]string{same + "a", same + "b"}, inner))
			require.Equal(t, want, got, "names of %d bytes, inside: %t", length, inner)
		}
	}
}

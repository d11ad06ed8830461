package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// Every row has the fields that the schema names and no others, and every value that the
// schema lists is one that a row has.
func TestRowSchema(t *testing.T) {
	data, err := os.ReadFile("../../../docs/schemas/cbl1.serve-1.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	testkit.CloseObjects(doc)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("rows", doc))
	rows, err := c.Compile("rows")
	require.NoError(t, err)

	seen := map[string]map[any]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(everyRow(t)), "\n") {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		require.NoError(t, err)
		require.NoError(t, rows.Validate(v), "%s", line)
		row := v.(map[string]any)
		switch row["what"] {
		case "live", "refused", "unprinted", "summary":
			require.NotContains(t, row, "total_bytes", line)
		default:
			require.Contains(t, row, "total_bytes", line)
		}
		for key, value := range row {
			if seen[key] == nil {
				seen[key] = map[any]bool{}
			}
			switch value.(type) {
			case []any, map[string]any:
				value = fmt.Sprint(value)
			}
			seen[key][value] = true
		}
	}
	var schema struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(data, &schema))
	for name, p := range schema.Properties {
		require.NotEmpty(t, seen[name], name)
		for _, value := range p.Enum {
			require.True(t, seen[name][value], "no row has %s %s", name, value)
		}
		if len(p.Enum) > 0 {
			require.Len(t, seen[name], len(p.Enum), name)
		}
	}
	require.Len(t, seen, len(schema.Properties))
	require.Len(t, seen["anomaly"], len(wire.Oddities())-1, "but wrapped, which is a field of its own")
}

// everyRow returns rows of every kind.
func everyRow(t *testing.T) (out string) {
	synctest.Test(t, func(t *testing.T) {
		s := newPipedServer(t, serve.Config{Format: serve.FormatJSON, Dialect: wire.Newest()})
		l := newLogs(s)
		l.tell(t, ours).line(t, `{"event":"mesh","first":0,"rows":10,"cols":410,"spec":{"board":"n150"}}`)
		first, second := s.connect(10), s.connect(11)
		alloc := wire.Record{Type: wire.TypeAlloc, ID: 1, Size: 64, Kind: 1}
		free := wire.Record{Type: wire.TypeFree, ID: 1}
		for kind := range uint8(5) {
			send(t, first, wire.Newest(), wire.Record{Type: wire.TypeAlloc, ID: 100 + uint64(kind), Size: 1, Kind: kind}, wire.Record{Type: wire.TypeKernelLoad, ID: uint64(kind), Size: 2, Kind: kind})
		}
		send(t, first, wire.Newest(), alloc, alloc)
		send(t, second, wire.Newest(), alloc, wire.Record{Type: wire.TypeAlloc, ID: 1, Size: 65}, free, free, free, free, free)
		send(t, second, wire.Newest(), wire.Record{Type: wire.TypeCBFree, ID: 9, Size: 1 << 40}, cb,
			wire.Record{Type: wire.TypeCBFree, ID: cb.ID, Size: 1 << 40}, wire.Record{Type: wire.TypeCBFree, ID: cb.ID, Size: 16},
			wire.Record{Type: wire.TypeCBAlloc, Size: 1 << 63}, wire.Record{Type: wire.TypeAlloc}, wire.Record{Type: wire.TypeAlloc, Size: 1, Kind: 9},
			wire.Record{Type: wire.TypeKernelUnload, ID: 99}, wire.Record{Type: wire.TypeKernelUnload, ID: 1},
			alloc, alloc, wire.Record{Type: wire.TypeDumpRemaining}, wire.Record{Type: wire.TypeDumpKernels})
		send(t, second, wire.Newest(), wire.Record{Type: wire.TypeFree, Device: 256})
		require.NoError(t, first.Close())
		s.kill()
		synctest.Wait()
		s.Sweep()
		l.shut(t)
		out = s.out.String() + string(s.AppendSummary(nil))
		slow := &reader{may: make(chan struct{})}
		d := disk{room: 1 << 20}
		s = newPipedServer(t, serve.Config{Format: serve.FormatJSON, Dialect: wire.Newest(), Waiting: 1, Out: slow, Record: &serve.Recorder{Open: d.open}})
		d.room = 0
		send(t, s.connect(10), wire.Newest(), alloc, alloc, alloc, alloc)
		synctest.Wait()
		close(slow.may)
		s.shut(t)
		<-s.Printed()
		out += slow.got.String() + string(s.AppendSummary(nil))
	})
	return out
}

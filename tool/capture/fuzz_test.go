package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// FuzzReader reads anything: the reader never panics, says what is wrong in one
// printable line, yields nodes in order, accepts nothing that is not JSON, and does
// not care how the input is cut into pieces.
func FuzzReader(f *testing.F) {
	seeds := []string{
		``, `[]`, `{}`, two, `{"graph":` + two + `}`, `{"captured_graph":"[{\"counter\":0,\"name\":\"tensor[2]\"}]","devices":` + rows + `}`,
		`{"version":1,"metadata":{"rank":1,"world_size":2},"devices":` + rows + `,"graph":[]}`, "\xef\xbb\xbf" + two,
		cb(address + `,` + size + `,` + cores + `,"globally_allocated":"1","device_id":0`),
		cb(address + `,"size":4096.0,"size":4.096e3,` + cores),
		`[{"counter":0,"node_type":"tensor","connections":["1",2],"params":{"device_tensors":"[{\"device_id\":1,\"mesh_device_id\":\"2\"}]"}}]`,
		`[{"counter":0,"node_type":"error","params":{"error_message":"\ud800\u202e"}}]`,
		string(longGraph(3000)), "SQLite format 3\x00", "[\x00",
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add(testkit.Gzip(f, strings.NewReader(two)))
	f.Add(testkit.Zstd(f, strings.NewReader(two)))
	for _, name := range []string{"matmul_2024", "matmul"} {
		text, err := os.ReadFile(filepath.Join(traces, name+".json"))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := NewReader(bytes.NewReader(data), "fuzz.json")
		nodes, err := collect(t, whole)
		pieces := NewReader(iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(data))), "fuzz.json")
		again, errAgain := collect(t, pieces)
		require.Equal(t, nodes, again)
		require.Equal(t, whole.doc.Info, pieces.doc.Info)
		compressed := len(data) > 1 && (data[0] == 0x1f || data[0] == 0x28 || data[0]&0xf0 == 0x50)
		if err != nil || errAgain != nil {
			require.Error(t, err)
			require.EqualError(t, errAgain, err.Error())
			return
		}
		require.True(t, compressed || json.Valid(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	})
}

func collect(t *testing.T, r *Reader) (nodes []graph.Node, err error) {
	for n, err := range r.nodes() {
		if err != nil {
			require.Nil(t, n)
			var e *event.InputError
			require.True(t, errors.As(err, &e))
			checkError(t, err)
			return nodes, err
		}
		require.EqualValues(t, len(nodes), n.Counter)
		require.EqualValues(t, len(nodes), n.Pos.Node)
		nodes = append(nodes, *n)
	}
	return nodes, nil
}

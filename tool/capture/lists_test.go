package capture

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
	"github.com/cbl1/cbl1/tool/replay"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The section may stand before the graph or behind it, and be wrong.
func TestListsInReports(t *testing.T) {
	const graph = `"graph":[{"counter":0,"node_type":"function_start","params":{"name":"f"}},
{"counter":1,"node_type":"circular_buffer_allocate","params":{"address":4096,"size":64,"core_range_set":"{[0-0 - 0-0]}","device_id":0}},
{"counter":2,"node_type":"function_end","params":{"name":"f"}}]`
	const rows = `"per_operation_buffers":{"0":[{"device_id":0,"address":8192,"max_size_per_bank":64,"buffer_type":1}]}`
	path := filepath.Join(t.TempDir(), "report.json")
	for _, text := range []string{"{" + graph + "," + rows + "}", "{" + rows + "," + graph + "}"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		events := eventsOf(t, path, Options{})
		require.Contains(t, summary(events), "0 allocate 1 l1 on [0] [8192,8256)\n")
		onPipe, err := copied(piped([]byte(text), Options{}))
		require.NoError(t, err)
		require.Equal(t, events, onPipe)
	}
	for _, test := range []struct{ section, wrong string }{
		{`{"x":[]}`, "per_operation_buffers: is no list of the buffers of an operation"},
		{`{"0":7}`, "per_operation_buffers: is no list of the buffers of an operation"},
		{`{"0":[7]}`, "per_operation_buffers."},
		{`{"0":[{"device_id":0,"address":-1}]}`, "per_operation_buffers.address"},
		{`[]`, "per_operation_buffers: is an array, not an object"},
		{`{"0":[{"device_id":0,"address":8192,"max_size_per_bank":64,"buffer_type":1},{"device_id":true}]}`, "per_operation_buffers.device_id"},
	} {
		text := "{" + graph + `,"per_operation_buffers":` + test.section + "}"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		events := eventsOf(t, path, Options{})
		last := slices.DeleteFunc(events, func(e *event.Event) bool { return e.Code != hiddenUnreadable })
		require.Len(t, last, 1, test.section)
		require.Contains(t, last[0].Detail, test.wrong)
		require.Equal(t, int64(1), last[0].Count)
	}
	_, err := copied(piped([]byte("{"+graph+`,"per_operation_buffers":{"0":[{"device_id":0]}}`), Options{}))
	require.Error(t, err)
	for _, harmless := range []string{"null", `{}`, `{"0":[]}`, `{"0":[{"device_id":0,"address":8192,"buffer_type":0}]}`} {
		events, err := copied(piped([]byte("{"+graph+`,"per_operation_buffers":`+harmless+"}"), Options{}))
		require.NoError(t, err)
		require.NotContains(t, summary(events), "hidden")
	}
}

// A long section is read one row at a time.
func TestListsOfManyRows(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"graph":[],"per_operation_buffers":{"0":[`)
	row := `{"device_id":0,"address":%d,"max_size_per_bank":64,"buffer_type":1}`
	for i := range 10_000 {
		fmt.Fprintf(&b, row+",", 4096+64*(i%50))
	}
	fmt.Fprintf(&b, row+"]}}", 4096)
	r := NewReader(strings.NewReader(b.String()), "rows.json")
	count := 0
	r.doc.Listed = func(row graph.ListedBuffer) {
		if !row.Begins {
			count++
		}
	}
	for _, err := range r.nodes() {
		require.NoError(t, err)
	}
	require.Equal(t, 10_001, count)
}

// A tensor alone shows a buffer from before the capture. Programs are compared with it, wherever it stands.
func TestTensorFromBefore(t *testing.T) {
	tensor := func(s *script, id int, address uint64) {
		s.add("tensor", params{"device_id": id, "address": address, "buffer_type": 1, "memory_config": "MemoryConfig(shard_spec=std::nullopt)"})
	}
	for name, one := range map[string]struct {
		of   func(s *script)
		want answer.Answer
	}{
		"before the program": {func(s *script) { tensor(s, 0, 200_000); s.cb(0, "{[0-0 - 0-0]}", 111616, 100_000) }, answer.DoesNotFit},
		"behind the program": {func(s *script) { s.cb(0, "{[0-0 - 0-0]}", 111616, 100_000); tensor(s, 0, 200_000) }, answer.DoesNotFit},
		"under another id":   {func(s *script) { tensor(s, 1, 200_000); s.cb(0, "{[0-0 - 0-0]}", 111616, 100_000) }, answer.CannotTell},
		"in no L1":           {func(s *script) { tensor(s, 0, 1<<40); s.cb(0, "{[0-0 - 0-0]}", 111616, 100_000) }, answer.Fits},
		"of a buffer of a node": {func(s *script) {
			s.interleaved(0, 1_400_000, 64)
			s.cb(0, "{[0-0 - 0-0]}", 111616, 100_000)
			tensor(s, 0, 1_400_000)
		}, answer.Fits},
	} {
		s := &script{}
		one.of(s)
		require.Equal(t, one.want, s.replay(t).Judge(answer.Terms{}).Answer, name)
	}
}

// A free shows a buffer that was gone before any program ran: no program is judged beside it. A budget and the question
// for room count it.
func TestFreeBeforePrograms(t *testing.T) {
	s := &script{}
	s.add("capture_start", params{})
	s.add("buffer_deallocate", params{"device_id": 0, "address": 300_000, "type": "L1", "size": 1_000_000, "max_size_per_bank": 1_000_000})
	s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
	budget, err := answer.ParseBudget("50%")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "few.json")
	require.NoError(t, os.WriteFile(path, []byte(s.text(t)), 0o600))
	for _, in := range []iter.Seq2[*event.Event, error]{Input{Path: path}.Events(Options{}), piped([]byte(s.text(t)), Options{})} {
		r, err := replay.Run("few", in, replay.Options{Room: &answer.RoomQuestion{Size: 1_300_000}})
		require.NoError(t, err)
		require.Equal(t, answer.Fits, r.Judge(answer.Terms{}).Answer)
		require.Equal(t, answer.DoesNotFit, r.Judge(answer.Terms{Budget: &budget}).Answer)
		require.Equal(t, answer.DoesNotFit, r.Room(nil).Answer)
	}
}

// A buffer whose size on a core is not known is one buffer, on however many chips of its mesh a program runs later.
func TestBufferOfAMeshIsNotedOnce(t *testing.T) {
	s := &script{}
	for chip := range 4 {
		s.member(9, chip)
	}
	s.buffer(params{"device_id": 9, "type": "L1", "size": 4096, "address": 1_400_000})
	s.buffer(params{"device_id": 9, "type": "L1", "size": 4096, "address": 1_500_000})
	for chip := range 4 {
		s.cb(chip, "{[0-0 - 0-0]}", 111616, 64)
	}
	require.Equal(t, int64(2), s.replay(t).Count(answer.CodeBufferUnsized))
}

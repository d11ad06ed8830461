package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/tool/internal/guard/oracle"
	"github.com/cbl1/cbl1/tool/replay/answer"
)

// The size of L1_SMALL by the rows of a report, before its graph or behind it, from a file or
// a pipe. Row 1 is that of the mesh with the chips 0 and 2. An L1_SMALL buffer of the mesh lies
// at 1,556,480, where 16 KiB begin.
func TestSmallBytes(t *testing.T) {
	const graph = `[{"counter":0,"node_type":"tensor","params":{"device_tensors":"[{\"device_id\":0,\"mesh_device_id\":1},{\"device_id\":2,\"mesh_device_id\":1}]"}},
{"counter":1,"node_type":"buffer","params":{}},
{"counter":2,"node_type":"buffer_allocate","params":{"type":"L1","buffer_type":3,"device_id":1,"address":1556480,"size":4096,"max_size_per_bank":64},"connections":[1]},
{"counter":3,"node_type":"circular_buffer_allocate","params":{"device_id":0,"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}"}},
{"counter":4,"node_type":"circular_buffer_allocate","params":{"device_id":2,"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}"}}]`
	row := func(id, bank int) string {
		return fmt.Sprintf(`{"device_id":%d,"worker_l1_size":1572864,"address_at_first_l1_cb_buffer":111616,"l1_bank_size":%d}`, id, bank)
	}
	const whole = 1572864 - 111616
	option := event.Some(uint64(0))
	for _, c := range []struct {
		name    string
		rows    []string
		option  event.Opt[uint64]
		want    [2]uint64 // of chips 0 and 2
		from    event.Source
		anomaly string
	}{
		{"16 KiB on all", []string{row(1, whole-16<<10)}, event.Opt[uint64]{}, [2]uint64{16 << 10, 16 << 10}, event.FromFile, ""},
		{"32 KiB on chip 2", []string{row(0, whole-16<<10), row(2, whole-32<<10)}, event.Opt[uint64]{}, [2]uint64{16 << 10, 32 << 10}, event.FromFile, ""},
		{"another device says it", []string{row(7, whole-16<<10)}, event.Opt[uint64]{}, [2]uint64{16 << 10, 16 << 10}, event.FromFile, ""},
		{"other devices disagree", []string{row(7, whole-16<<10), row(8, whole-32<<10)}, event.Opt[uint64]{}, [2]uint64{}, event.FromAssumed, ""},
		{"below the border", []string{row(1, whole-16<<10+16)}, event.Opt[uint64]{}, [2]uint64{}, event.FromAssumed, "l1-small-wrong"},
		{"negative", []string{row(1, whole+16)}, event.Opt[uint64]{}, [2]uint64{}, event.FromAssumed, "l1-small-wrong"},
		{"no bank", []string{row(1, 0)}, event.Opt[uint64]{}, [2]uint64{}, event.FromAssumed, ""},
		{"the option wins", []string{row(1, whole-16<<10)}, option, [2]uint64{}, event.FromOption, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			devices := `"devices":[` + strings.Join(c.rows, ",") + `]`
			for _, text := range []string{`{` + devices + `,"graph":` + graph + `}`, `{"graph":` + graph + `,` + devices + `}`} {
				path := filepath.Join(t.TempDir(), "run.json")
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				r := bothWays(t, path, Options{L1Small: c.option})
				for i, id := range []uint64{0, 2} {
					spec := r.SpecOf(event.Some(id))
					require.Equal(t, c.want[i], spec.L1Small, "device %d", id)
					require.Equal(t, c.from, spec.SmallFrom)
				}
				require.Equal(t, c.anomaly, smallNotes(r))
			}
		})
	}
}

// The size of L1_SMALL by the messages of the allocator in error nodes.
func TestSmallBySaidBanks(t *testing.T) {
	said := func(kind string, bank int) string {
		return fmt.Sprintf("TT_FATAL: Out of Memory: Not enough space to allocate 1600 B %s buffer across 1 banks, where each bank needs to store 1600 B, "+
			"but bank size is %d B (allocated: 0 B, free: 16 B, largest free block: 16 B)", kind, bank)
	}
	const l1, whole = "L1", 1572864 - 111616
	device := `"devices":[{"device_id":0,"worker_l1_size":1572864,"address_at_first_l1_cb_buffer":111616}],`
	bank := strings.Replace(device, "}", `,"l1_bank_size":1461248}`, 1)
	mesh := []string{`"device_tensors":"[{\"device_id\":0,\"mesh_device_id\":1},{\"device_id\":2,\"mesh_device_id\":1}]"`}
	for _, c := range []struct {
		name    string
		devices string
		tensors []string
		said    []string
		want    uint64
		from    event.Source
		anomaly string
	}{
		{"of L1", device, nil, []string{said(l1, whole-4096)}, 4096, event.FromFile, ""},
		{"of L1, twice", device, nil, []string{said(l1, whole-4096) + "\n" + said(l1, whole-4096)}, 4096, event.FromFile, ""},
		{"of an L1 of unknown size", "", nil, []string{said(l1, whole-4096)}, 0, event.FromAssumed, ""},
		{"of L1_SMALL", "", nil, []string{said("L1_SMALL", 4096)}, 4096, event.FromFile, ""},
		{"none at all", "", nil, []string{said("L1_SMALL", 0)}, 0, event.FromFile, ""},
		{"of both", device, nil, []string{said("L1_SMALL", 4096), said(l1, whole-4096)}, 4096, event.FromFile, ""},
		{"of both, which differ", device, nil, []string{said("L1_SMALL", 4096), said(l1, whole-4097)}, 0, event.FromAssumed, "l1-small-wrong"},
		{"two of L1, which differ", device, nil, []string{said(l1, whole-2048), said(l1, whole-4096)}, 0, event.FromAssumed, "l1-small-wrong"},
		{"two of L1_SMALL, which differ", "", nil, []string{said("L1_SMALL", 2048), said("L1_SMALL", 4096)}, 0, event.FromAssumed, "l1-small-wrong"},
		{"too large", device, nil, []string{said(l1, whole+1)}, 0, event.FromAssumed, "l1-small-wrong"},
		{"of DRAM", device, nil, []string{said("DRAM", whole-4096)}, 0, event.FromAssumed, ""},
		{"a row says it", bank, nil, []string{said(l1, whole-4096)}, 0, event.FromFile, ""},
		{"the chips of a mesh", device, mesh, []string{said(l1, whole-4096)}, 4096, event.FromFile, ""},
		{"two meshes", device, append(mesh, strings.Replace(mesh[0], "1}", "3}", 1)), []string{said(l1, whole-4096)}, 0, event.FromAssumed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes := []string{`"circular_buffer_allocate","params":{"device_id":0,"address":111616,"size":64,"core_range_set":"{[0-0 - 0-0]}"}`}
			for _, text := range c.tensors {
				nodes = append(nodes, `"tensor","params":{`+text+`}`)
			}
			for _, text := range c.said {
				nodes = append(nodes, `"error","params":{"error_message":`+strconv.Quote(text)+`}`)
			}
			for i, n := range nodes {
				nodes[i] = fmt.Sprintf(`{"counter":%d,"node_type":%s}`, i, n)
			}
			path := filepath.Join(t.TempDir(), "run.json")
			require.NoError(t, os.WriteFile(path, []byte(`{`+c.devices+`"graph":[`+strings.Join(nodes, ",")+`]}`), 0o600))
			r, err := resultOf(Input{Path: path}, Options{})
			require.NoError(t, err)
			spec := r.SpecOf(event.Some(uint64(0)))
			require.Equal(t, c.want, spec.L1Small)
			require.Equal(t, c.from, spec.SmallFrom)
			require.Equal(t, c.anomaly, smallNotes(r))
		})
	}
}

// smallNotes are the anomalies about L1_SMALL.
func smallNotes(r *answer.Result) string {
	var codes []string
	for _, a := range r.Anomalies {
		if strings.HasPrefix(string(a.Code), "l1-small") {
			codes = append(codes, string(a.Code))
		}
	}
	return strings.Join(codes, " ")
}

// TestSmallOfLateChip: a chip shows behind a buffer of its mesh, and their rows have sizes of L1_SMALL. The room on the chip ends
// where its own row says.
func TestSmallOfLateChip(t *testing.T) {
	row := func(id, small int) string {
		return fmt.Sprintf(`{"device_id":%d,"worker_l1_size":1572864,"address_at_first_l1_cb_buffer":111616,"l1_bank_size":%d}`,
			id, 1572864-111616-small)
	}
	for _, c := range []struct {
		mesh, chip int
	}{
		{1024, 1024}, {1024, 512}, {512, 1024}, {1024, 0}, {0, 1024},
	} {
		s := &script{}
		s.interleaved(1, 112_000, 64)
		s.member(1, 0)
		s.free(1)
		s.cb(0, "{[0-0 - 0-0]}", 111616, 64)
		text := `{"devices":[` + row(1, c.mesh) + "," + row(0, c.chip) + `],"graph":` + s.text(t) + "}"
		got := replayFile(t, text)
		want, err := oracle.L1([]byte(text), oracle.Options{})
		require.NoError(t, err)
		requireMemory(t, want, got)
		above := func(r *answer.Result) (small int) { return 1572864 - int(r.Rooms.Devices[0].Room.End.V) }
		require.Equal(t, c.chip, above(got), "%+v", c)
	}
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A mesh of eight chips, under an id of its own and under the id of its first chip. Its CB of 1 MiB lies on each chip: in
// metrics, in a region, on the screen and in the summary. A CB of chip 3 below it adds to sums alone. The mesh's CB covers
// the buffer of chip 0, and the answers of the protocol count records by their ids.
func TestServeMesh(t *testing.T) {
	for mesh, flag := range map[int32]string{32: "0-7=n150,32=mesh:0-7", 0: "0-7=n150,0=mesh:0-7"} {
		dir, err := os.MkdirTemp("", "s") // paths of sockets are short
		require.NoError(t, err)
		defer func() { require.NoError(t, os.RemoveAll(dir)) }()
		server := command(t, "serve", "-q", "--socket", filepath.Join(dir, "s"), "--devices", flag, "--http", "localhost:0", "--publish", "5=55", "--publish-folder", dir)
		var out strings.Builder
		server.Stdout = &out
		errs, err := server.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, server.Start())
		url := strings.TrimSuffix(strings.TrimPrefix(firstLine(t, bufio.NewScanner(errs)), "cbl1: "), "/metrics")
		conn := dial(t, filepath.Join(dir, "s"))
		ask := func(records ...wire.Record) {
			for _, r := range records {
				b, err := wire.Newest().Append(nil, &r)
				require.NoError(t, err)
				_, err = conn.Write(b)
				require.NoError(t, err)
			}
		}
		ask(
			wire.Record{Type: wire.TypeCBAlloc, Device: mesh, Size: 1 << 20, ID: 200_000},
			wire.Record{Type: wire.TypeKernelLoad, Device: mesh, Size: 77, ID: 1},
			wire.Record{Type: wire.TypeCBAlloc, Device: 3, Size: 4096, ID: 200_000},
			wire.Record{Type: wire.TypeAlloc, Device: 0, Size: 64 * 2048, Kind: 1, ID: 1_000_000},
			wire.Record{Type: wire.TypeQuery, Device: mesh})
		answer := make([]byte, wire.Newest().Size)
		_, err = io.ReadFull(conn, answer)
		require.NoError(t, err)
		var got wire.Record
		require.NoError(t, wire.Newest().Decode(answer, &got))
		require.EqualValues(t, 1<<20, got.CB)

		r, err := http.Get(url + "/metrics")
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		for chip, sum := range []int{1 << 20, 1 << 20, 1 << 20, 1<<20 + 4096, 1 << 20, 1 << 20, 1 << 20, 1 << 20} {
			for name, want := range map[string]int{"registered_bytes": 64 << 20, "registered_core_peak_bytes": 1 << 20, "cb_sum_bytes": sum, "kernel_bytes": 77} {
				require.Contains(t, string(text), fmt.Sprintf("cbl1_device_%s{device=\"%d\",board=\"n150\"} %d\n", name, chip, want))
			}
		}
		require.Contains(t, string(text), `cbl1_device_headroom_bytes{device="0",board="n150"} 0`+"\n")
		require.Contains(t, string(text), `cbl1_device_headroom_bytes{device="1",board="n150"} 250560`+"\n", "to the end of L1")
		require.Equal(t, mesh == 32, strings.Contains(string(text), `cbl1_device_headroom_bytes{device="32",board="mesh n150"} 0`+"\n"))
		require.Equal(t, mesh == 32, strings.Contains(string(text), `cbl1_device_cb_sum_bytes{device="32",board="mesh n150"} 8392704`+"\n"))

		var im shm.Image
		require.Eventually(t, func() bool {
			region, err := shm.Open(filepath.Join(dir, shm.Name(55)))
			if err == nil {
				im, err = region.Read()
				_ = region.Close()
			}
			return err == nil && im.Total(shm.Alive).CB == 64<<20
		}, testkit.Patience, 10*time.Millisecond)

		code, screen, stderr := call("", "watch", "--once", url)
		require.Zero(t, code, stderr)
		require.Regexp(t, `\n   +5  n150 +#+\.* +75\.\d% +1,048,576 +250,560 at most\n`, "\n"+screen)

		require.NoError(t, server.Process.Signal(syscall.SIGTERM))
		require.NoError(t, server.Wait())
		require.Contains(t, out.String(), "device 7: CBs 1,048,576 bytes in sum, at most 1,048,576 of a core (peak 1,048,576); 0 buffers,")
		require.Contains(t, out.String(), "device 3: CBs 1,052,672 bytes in sum, at most 1,048,576 of a core")
		require.Equal(t, mesh == 32, strings.Contains(out.String(), "device 32: CBs 8,392,704 bytes in sum, at most 1,048,576 of a core"))
	}
}

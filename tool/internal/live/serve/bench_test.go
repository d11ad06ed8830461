package serve_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// BenchmarkRecords measures a record on a pipe: half of them bring a CB, and half free the one
// before.
func BenchmarkRecords(b *testing.B) {
	for _, c := range []struct {
		name string
		out  io.Writer
	}{{"quiet", nil}, {"lines", io.Discard}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := serve.New(serve.Config{Now: time.Now, Dialect: wire.Newest(), Out: c.out})
			require.NoError(b, err)
			conns := &pipedServer{conns: make(chan net.Conn)}
			done := make(chan error)
			go func() { done <- s.Serve(conns) }()
			here, there := net.Pipe()
			conns.conns <- there
			var batch []byte
			for i := range uint64(1000) {
				r := wire.Record{Type: wire.TypeCBAlloc, ID: 111616 + i%500*32, Size: 2048 * (1 + i%7)}
				if i%2 == 1 {
					r = wire.Record{Type: wire.TypeCBFree, ID: 111616 + i%500*32 - 32}
				}
				batch, _ = wire.Newest().Append(batch, &r)
			}
			for b.Loop() {
				_, err := here.Write(batch)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
			require.NoError(b, s.Close())
			require.NoError(b, conns.Close())
			require.NoError(b, <-done)
		})
	}
}

package serve

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// A client that closes its end between two reads has ended, like one that closes it during a read.
func TestClosedBetweenReads(t *testing.T) {
	here, there := net.Pipe()
	require.NoError(t, here.Close())
	c := &client{s: &Server{}, conn: there}
	c.in = wire.NewReader(c, wire.Newest())
	_, err := c.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
}

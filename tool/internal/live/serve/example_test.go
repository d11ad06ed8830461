package serve_test

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/cbl1/cbl1/tool/internal/live/serve"
)

// A server takes clients until its listener is closed.
func ExampleServer_Serve() {
	s, err := serve.New(serve.Config{Now: time.Now, Out: os.Stdout})
	l, _ := net.Listen("tcp", "localhost:0")
	_ = l.Close()
	fmt.Println(s.Serve(l) != nil, s.Snapshot().Server.Clients, err)
	fmt.Println(s.Close())
	// Output:
	// true 0 <nil>
	// <nil>
}

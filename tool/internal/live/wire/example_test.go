package wire_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
	"github.com/cbl1/cbl1/tool/replay/session"
)

// A server reads what a client sends, whatever it was built with.
func Example() {
	old := wire.Dialect{Size: 128, Types: 11}
	sent, err := old.Append(nil, &wire.Record{Type: wire.TypeCBAlloc, Size: 262144, ID: 111616, PID: 4242})
	fmt.Println(len(sent), err)
	var r wire.Record
	in := wire.NewReader(bytes.NewReader(sent), wire.Dialect{})
	fmt.Println(in.Next(&r), in.Dialect(), r.Size, "bytes at", r.ID)
	// Output:
	// 128 <nil>
	// <nil> 128/11 262144 bytes at 111616
}

// A ledger knows the bytes of a free: old clients send none. It prints the lines of the newest server.
func ExampleLedger() {
	ledger := wire.NewLedger()
	for _, kind := range []wire.Type{wire.TypeCBAlloc, wire.TypeCBAlloc, wire.TypeCBFree} {
		effect, err := ledger.Apply(4242, 4242, &wire.Record{Type: kind, Size: 262144, ID: 111616, PID: 4242})
		line, _ := effect.AppendLine(nil)
		fmt.Println(strings.TrimSpace(string(line)), err)
	}
	fmt.Println("left:", len(ledger.Release(4242)))
	// Output:
	// ✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB) <nil>
	// ✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.5 MB) <nil>
	// ✗ [CB_FREE] Device 0: -0.25 MB (Total: 0.25 MB) <nil>
	// left: 1
}

// A teller makes events of records, so that a session has a device's bytes.
func ExampleTranslator() {
	ledger, teller, live := wire.NewLedger(), new(wire.Translator), new(session.Session)
	for _, e := range teller.Declare(wire.DeclaredDevice{ID: 0, Spec: l1.N150()}) {
		fmt.Println(e.Kind, live.Apply(&e))
	}
	effect, err := ledger.Apply(4242, 4242, &wire.Record{Type: wire.TypeCBAlloc, Size: 262144, ID: 111616, PID: 4242})
	fmt.Println(err)
	for _, e := range teller.Tell(&effect) {
		fmt.Println(e.Kind, live.Apply(&e))
	}
	// Output:
	// device <nil>
	// <nil>
	// program <nil>
	// register <nil>
}

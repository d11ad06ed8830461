package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/wire"
)

// A server reads what a client sends, whatever it was built with, and prints what the
// newest server prints. The fleet of a session has the bytes that a core holds at most.
func Example() {
	var sent []byte
	old := wire.Dialect{Size: 128, Types: 11}
	for _, r := range []wire.Record{
		{Type: wire.TypeCBAlloc, Size: 262144, ID: 111616, PID: 4242},
		{Type: wire.TypeCBAlloc, Size: 131072, ID: 111616, PID: 4242},
		{Type: wire.TypeCBFree, ID: 111616, PID: 4242}, // old clients send no size
	} {
		sent, _ = old.Append(sent, &r)
	}

	var ledger wire.Ledger
	var teller wire.Teller
	var live replay.Session
	declared := teller.Declare(wire.Device{ID: 0, Spec: l1.N150()})
	fmt.Println(live.Apply(&declared))
	in := wire.NewReader(bytes.NewReader(sent), wire.Dialect{})
	for {
		var r wire.Record
		if err := in.Next(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		effect, err := ledger.Apply(4242, r.PID, &r)
		if err != nil {
			fmt.Println(err)
			return
		}
		line, _ := effect.AppendLine(nil)
		for _, e := range teller.Tell(&effect) {
			if err := live.Apply(&e); err != nil {
				fmt.Println(err)
			}
		}
		d, _ := live.Fleet().Device(0)
		fmt.Printf("%sper core at most %d\n", line, d.Totals().Core)
	}
	fmt.Println(in.Dialect(), "left:", len(ledger.Release(4242)))
	// Output:
	// <nil>
	// ✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)
	// per core at most 262144
	// ✓ [CB_ALLOC] Device 0: +0.125 MB (Total: 0.375 MB)
	// per core at most 262144
	// ✗ [CB_FREE] Device 0: -0.125 MB (Total: 0.25 MB)
	// per core at most 262144
	// 128/11 left: 1
}

package main

import (
	"fmt"
	"io"

	"github.com/cbl1/cbl1/internal/bench"
)

// checkAll plays tiny workloads on all contenders.
func checkAll(out io.Writer) error {
	for _, w := range bench.Tiny() {
		if err := bench.Check(w); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: all totals equal\n", w.Name)
	}
	return nil
}

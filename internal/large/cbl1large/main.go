// Command cbl1large writes a large graph capture to standard output, for measurements:
//
//	go run ./internal/large/cbl1large -size 268000000 -share 0.01 > report.json
//	go run ./internal/large/cbl1large -size 6000000000 -chips 8 -buffers vary -programs 5000 | gzip > run.json.gz
//
// The same flags are the same bytes. How many nodes and operations there are stands on
// standard error.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/cbl1/cbl1/internal/large"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns 0, 1 if writing failed, or 2 for wrong usage.
func run(args []string, out, errw io.Writer) int {
	var c large.Plan
	flags := flag.NewFlagSet("cbl1large", flag.ContinueOnError)
	flags.SetOutput(errw)
	flags.Int64Var(&c.Size, "size", 1<<20, "`bytes`, about")
	flags.IntVar(&c.Chips, "chips", 1, "`number` of chips of the mesh")
	flags.StringVar((*string)(&c.Dialect), "dialect", string(large.Report), fmt.Sprintf("one of %v", large.Dialects()))
	flags.Float64Var(&c.Share, "share", 1, "`share` of the graph in a report, above 0 to 1")
	flags.IntVar(&c.Programs, "programs", 81, "`number` of distinct programs; 0: every one")
	flags.StringVar((*string)(&c.Buffers), "buffers", string(large.NoBuffers), fmt.Sprintf("buffers in L1, one of %v", large.Bufferings()))
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := c.Valid(); err != nil || flags.NArg() > 0 {
		fmt.Fprintln(errw, "cbl1large: wrong usage:", err, flags.Args())
		return 2
	}
	made, err := c.Write(out)
	if err != nil {
		fmt.Fprintln(errw, "cbl1large:", err)
		return 1
	}
	fmt.Fprintf(errw, "%d bytes, %d nodes, %d operations\n", made.Bytes, made.Nodes, made.Ops)
	return 0
}

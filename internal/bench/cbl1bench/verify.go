package main

import (
	"fmt"
	"io"
	"regexp"

	"github.com/cbl1/cbl1/internal/bench"
)

// checkAll plays the tiny workloads whose names match on all contenders.
func checkAll(match *regexp.Regexp, out io.Writer) error {
	for _, w := range bench.Tiny() {
		if !match.MatchString(w.Name) {
			continue
		}
		if err := bench.Check(w); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: all totals equal\n", w.Name)
	}
	return nil
}

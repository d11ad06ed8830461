package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cbl1/cbl1/l1"
)

// A row holds the figures of a workload: ns of a call for each contender, 0 if it did not play.
type row struct {
	workload
	engine, percore, slice, shared, previous float64
	sampled                                  bool // percore and slice played a part
	costs
}

// The limit for each call: at most so many times the best other structure, and so many ns more.
const (
	mostTimes = 4
	mostMore  = 300
)

// best returns the time of the best other structure, 0 if there is none.
func (x row) best() float64 {
	if x.percore == 0 {
		return 0
	}
	return min(x.percore, x.slice)
}

// kept reports whether the engine keeps the limit for each call.
func (x row) kept() bool { return x.free || x.best() == 0 || x.engine <= mostTimes*x.best()+mostMore }

// limit is the cell for the limit.
func (x row) limit() string {
	switch {
	case x.best() == 0 || x.free:
		return "-"
	case x.kept():
		return "kept"
	}
	return "NO: " + times(x.engine, x.best(), x.sampled)
}

// misses lists the limits and floors that a row does not keep.
func (x row) misses() (out []string) {
	if !x.kept() {
		out = append(out, fmt.Sprintf("%s: a call takes more than %d times the best other structure and %d ns: %s",
			x.name, mostTimes, mostMore, times(x.engine, x.best(), x.sampled)))
	}
	if x.floor > 0 && x.percore < x.floor*x.engine {
		out = append(out, fmt.Sprintf("%s: percore needs %s, at least %s are promised",
			x.name, times(x.percore, x.engine, x.sampled), number(x.floor)+"x"))
	}
	if x.lead > 0 && x.shared < x.lead*x.engine {
		out = append(out, fmt.Sprintf("%s: shared needs %s, at least %s are promised", x.name, times(x.shared, x.engine, false), number(x.lead)+"x"))
	}
	return out
}

func header() []string {
	return []string{"workload", "a call", "percore", "slice", "shared", "previous", "x4+300ns", "allocs/call", "heap", "longest call", "decides"}
}

func (x row) cells() []string {
	return []string{
		x.name, duration(x.engine), times(x.percore, x.engine, x.sampled), times(x.slice, x.engine, x.sampled), times(x.shared, x.engine, false),
		times(x.previous, x.engine, false), x.limit(),
		number(x.allocations), number(x.heap/1024) + " KiB", duration(x.longest), x.decides,
	}
}

// times is how many times as much a is as b. It has a ~ if a part is behind it.
func times(a, b float64, sampled bool) string {
	if a == 0 || b == 0 {
		return "-"
	}
	text := number(a/b) + "x"
	if sampled {
		text = "~" + text
	}
	return text
}

// number prints three digits, and no decimals where there are none.
func number(n float64) string {
	switch {
	case n >= 100 || n == math.Trunc(n):
		return l1.Bytes(math.RoundToEven(n)).Exact()
	case n >= 10:
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

// duration prints nanoseconds with three digits.
func duration(ns float64) string {
	for _, unit := range []string{"ns", "us", "ms"} {
		if ns < 1e3 {
			return fmt.Sprintf("%.3g %s", ns, unit)
		}
		ns /= 1e3
	}
	return fmt.Sprintf("%.3g s", ns)
}

// printTable prints a line for each row. Of the promised sizes it also prints the promises that they break, and
// returns an error if there are any.
func printTable(out io.Writer, rows []row, promised bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header(), "\t"))
	for _, x := range rows {
		fmt.Fprintln(w, strings.Join(x.cells(), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	broken := 0
	for _, x := range rows {
		if promised {
			for _, miss := range x.misses() {
				fmt.Fprintln(out, miss)
				broken++
			}
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d promises are broken", broken)
	}
	return nil
}

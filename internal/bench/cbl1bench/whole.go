package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// The whole table has a line for each workload of a run, and the missed goals follow it.

// A line holds the figures of a workload.
type line struct {
	workload string
	outcome  *outcome // nil without rivals
	asked    []row    // with their values; at least one
}

// linesOf gathers rows by their workload.
func linesOf(rows []row) (out []line) {
	for _, x := range rows {
		if last := len(out) - 1; last < 0 || out[last].workload != x.workload {
			out = append(out, line{workload: x.workload})
		}
		l := &out[len(out)-1]
		if l.outcome == nil {
			l.outcome = x.outcome
		}
		l.asked = append(l.asked, x)
	}
	return out
}

func wholeHeader() []string {
	return []string{"workload", "a call", "best other", "best x3+300ns", "aims", "allocs/call", "GC", "peak heap", "longest hold"}
}

func (l line) cells() []string {
	out := []string{l.workload, l.asked[0].value.String(), "-", "-", l.aims(), "-", "-", "-", "-"}
	for _, x := range l.asked {
		if x.what == waiting {
			out[8] = x.value.String()
		}
	}
	o := l.outcome
	if o == nil {
		return out
	}
	out[1], out[3] = duration(o.call(o.us)), o.floor()
	if best, ok := o.best(); ok {
		out[2] = best.name + " " + best.over(o.us).String()
	}
	if c := o.costs; c != nil {
		out[5], out[6], out[7], out[8] = number(c.allocations), c.collecting.String(), number(c.peak/1024)+" KiB", duration(c.longest)
	}
	return out
}

// aims reports whether the workload reaches all its goals.
func (l line) aims() string {
	asked, good, instead := 0, 0, "-"
	for _, x := range l.asked {
		switch _, _, reached := x.goal.cells(x.value); {
		case x.value.instead != "":
			instead = x.value.instead
		case x.goal == nil:
		case reached == "NO":
			return "NO"
		case reached == "good" || x.goal.noGood:
			asked, good = asked+1, good+1
		default:
			asked++
		}
	}
	switch asked {
	case 0:
		return instead
	case good:
		return "reached"
	}
	return fmt.Sprintf("%d of %d", good, asked)
}

// missedAims lists the values that miss their goals: floors and aims.
func missedAims(rows []row) (out []string) {
	for _, x := range rows {
		floor, good, reached := x.goal.cells(x.value)
		switch {
		case x.goal == nil || reached == "good" || x.value.instead != "":
		case reached == "NO":
			out = append(out, fmt.Sprintf("floor missed: %s, %s: %s, floor %s", x.workload, x.what, x.value, floor))
		case !x.goal.noGood:
			out = append(out, fmt.Sprintf("aim missed: %s, %s: %s, aim %s", x.workload, x.what, x.value, good))
		}
	}
	return out
}

// printWhole prints a line for each workload.
func printWhole(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(wholeHeader(), "\t"))
	for _, l := range linesOf(rows) {
		fmt.Fprintln(w, strings.Join(l.cells(), "\t"))
	}
	return w.Flush()
}

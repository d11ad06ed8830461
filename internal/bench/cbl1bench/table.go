package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// A value is a number in the table; the zero value is none.
type value struct {
	n       float64
	unit    string // "x", "ns", ... or ""
	sampled bool
	instead string // why there is no number
}

// String has a ~ if a sample is behind it.
func (v value) String() string {
	if v == (value{}) {
		return "-"
	}
	if v.instead != "" {
		return v.instead
	}
	text := number(v.n)
	if v.sampled {
		text = "~" + text
	}
	switch v.unit {
	case "", "x":
		return text + v.unit
	}
	return text + " " + v.unit
}

// number prints three digits, and no decimals where there are none.
func number(n float64) string {
	switch {
	case n >= 100 || n == math.Trunc(n):
		return thousands(strconv.FormatFloat(n, 'f', 0, 64))
	case n >= 10:
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

func thousands(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// A goal bounds a value from below, or from above. Without a good value there is only the floor,
// and without a floor only the aim.
type goal struct {
	atMost          bool
	floor, good     float64
	noGood, noFloor bool
}

func atLeast(floor, good float64) *goal { return &goal{floor: floor, good: good} }
func atMost(floor, good float64) *goal  { return &goal{atMost: true, floor: floor, good: good} }
func atMostOnly(floor float64) *goal    { return &goal{atMost: true, floor: floor, noGood: true} }
func aimAtLeast(good float64) *goal     { return &goal{good: good, noFloor: true} }
func aimAtMost(good float64) *goal      { return &goal{atMost: true, good: good, noFloor: true} }

// cells returns the texts of floor, good and reached.
func (g *goal) cells(v value) (floor, good, reached string) {
	if g == nil || v.instead != "" {
		return "-", "-", "-"
	}
	sign := ">= "
	meets := func(limit float64) bool { return v.n >= limit }
	if g.atMost {
		sign = "<= "
		meets = func(limit float64) bool { return v.n <= limit }
	}
	floor, good = "-", "-"
	if !g.noFloor {
		floor = sign + number(g.floor)
	}
	if !g.noGood {
		good = sign + number(g.good)
	}
	switch {
	case !g.noGood && meets(g.good):
		return floor, good, "good"
	case g.noFloor:
		return floor, good, "-"
	case meets(g.floor):
		return floor, good, "floor"
	}
	return floor, good, "NO"
}

// A row is one line of the table. An outcome with several questions has several.
type row struct {
	workload string
	outcome  *outcome // nil if it stands in a row before, or nowhere
	what     string
	value    value // of the figure
	goal     *goal
}

func (r *runner) add(x row) {
	if r.noGoals {
		x.goal = nil
	}
	r.rows = append(r.rows, x)
}

// ask adds a row for an outcome.
func (r *runner) ask(o *outcome, what string, v value, g *goal) {
	x := row{workload: o.w.Name, what: what, value: v, goal: g}
	if n := len(r.rows); n == 0 || r.last != o {
		x.outcome, r.last = o, o
	}
	r.add(x)
}

func header() []string {
	return []string{
		"workload", "a change", "a call", "others need", "best x3+300ns",
		"allocs/call", "peak heap", "longest call", "GC", "Build adds/call", "in question", "value", "floor", "good", "reached",
	}
}

func (x row) cells() []string {
	floor, good, reached := x.goal.cells(x.value)
	out := []string{x.workload}
	out = append(out, x.outcome.cells()...)
	return append(out, x.what, x.value.String(), floor, good, reached)
}

// cells returns the cells of the outcome.
func (o *outcome) cells() []string {
	if o == nil {
		return []string{"", "", "", "", "", "", "", "", ""}
	}
	out := []string{duration(o.us.change), duration(o.call(o.us)), o.others(), o.floor()}
	if o.costs == nil {
		return append(out, "-", "-", "-", "-", "-")
	}
	return append(out,
		number(o.costs.allocations), number(o.costs.peak/1024)+" KiB", duration(o.costs.longest),
		o.costs.collecting.String(), duration(o.costs.build))
}

// floor reports whether a call keeps its limit.
func (o *outcome) floor() string {
	switch kept, times, ok := o.kept(); {
	case !ok:
		return "-"
	case kept:
		return "kept"
	default:
		return "NO: " + times.String()
	}
}

// missed lists the outcomes in which a call exceeds its limit.
func missed(rows []row) (out []string) {
	for _, x := range rows {
		if x.outcome == nil {
			continue
		}
		if kept, times, ok := x.outcome.kept(); ok && !kept {
			out = append(out, fmt.Sprintf("%s (%s the best)", x.workload, times))
		}
	}
	return out
}

// duration prints nanoseconds with three digits.
func duration(ns float64) string {
	switch {
	case ns == 0:
		return "-"
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g us", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	}
	return time.Duration(ns).Round(10 * time.Millisecond).String()
}

func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header(), "\t"))
	for _, x := range rows {
		fmt.Fprintln(w, strings.Join(x.cells(), "\t"))
	}
	return w.Flush()
}

func printCSV(out io.Writer, rows []row) error {
	w := csv.NewWriter(out)
	lines := [][]string{header()}
	for _, x := range rows {
		lines = append(lines, x.cells())
	}
	return w.WriteAll(lines)
}

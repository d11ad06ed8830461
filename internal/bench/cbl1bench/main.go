// Command cbl1bench measures the engine against the baselines, and the reading of large captures
// against encoding/json and Python. It prints a table for each workload as soon as it is measured.
// At the end it prints a table with a line for each workload, and the list of missed goals; or all
// rows as CSV:
//
//	go run ./internal/bench/cbl1bench            # all but raster, files and inputs: five minutes
//	go run ./internal/bench/cbl1bench -short     # smaller
//	go run ./internal/bench/cbl1bench -check     # only whether all totals agree, seconds
//	go run ./internal/bench/cbl1bench -run 'W[13]'
//
// All contenders run in one process, in turns. Each run is timed in 32 stretches, and the fastest
// of at least three turns of each stretch counts, in processor time where the system reports it. So
// ratios are meaningful even on another machine, or on a busy one. Every total that a contender
// computes is compared with the engine's; a difference ends the run with exit status 1.
//
// A change is one (program, device) pair, with one query for the total of the device after it.
// Baselines that would take hours are measured on a part: on 2 of 32 devices (which flatters them:
// less memory, better cached), on the first steps, or on 64 steps over the whole run. Such figures
// have a ~.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns 0, 1 if contenders disagree, or 2 for wrong usage.
func run(args []string, out, errw io.Writer) int {
	flags := flag.NewFlagSet("cbl1bench", flag.ContinueOnError)
	flags.SetOutput(errw)
	only := flags.String("run", "", "measure the workloads that match this `regexp`, of W1 to W13, A1 to A8, last, growth, rectangles, swapped, one, snapshot, change, leave, usage, marks, refused, build, total, memory; raster, files and inputs are measured only if asked for")
	short := flags.Bool("short", false, "smaller workloads; floors are meant for the large ones")
	check := flags.Bool("check", false, "compare totals on tiny workloads and measure nothing")
	csv := flags.Bool("csv", false, "print the table as CSV")
	rounds := flags.Int("rounds", 3, "how often each contender has its turn")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil || flags.NArg() > 0 || *rounds < 1 {
		fmt.Fprintln(errw, "cbl1bench: wrong usage; see -help")
		return 2
	}
	if *check {
		if err := checkAll(match, out); err != nil {
			fmt.Fprintln(errw, "cbl1bench:", err)
			return 1
		}
		return 0
	}
	r := &runner{size: full(), rounds: *rounds}
	if *short {
		r.size, r.noGoals = reduced(), true
	}
	begin := time.Now()
	if err := r.measure(match, out, errw, !*csv); err != nil {
		fmt.Fprintln(errw, "cbl1bench:", err)
		return 1
	}
	if *csv {
		err = printCSV(out, r.rows)
	} else if err = printWhole(out, r.rows); err == nil {
		fmt.Fprintf(out, "all totals equal; %d rounds; %.0f s\n", r.rounds, time.Since(begin).Seconds())
		for _, x := range missed(r.rows) {
			fmt.Fprintf(out, "a call takes more than %d times the best other structure and %d ns: %s\n", mostTimes, mostMore, x)
		}
		for _, x := range missedAims(r.rows) {
			fmt.Fprintln(out, x)
		}
	}
	if err != nil {
		fmt.Fprintln(errw, "cbl1bench:", err)
		return 1
	}
	return 0
}

// measure measures the parts whose names match. With rows it prints the rows of each part when it
// is done, so that a long run can be followed, or ended early.
func (r *runner) measure(match *regexp.Regexp, out, errw io.Writer, rows bool) error {
	for _, p := range parts() {
		if !match.MatchString(p.name) || p.apart && match.String() == "" {
			continue
		}
		start, done := time.Now(), len(r.rows)
		if err := p.measure(r); err != nil {
			return err
		}
		fmt.Fprintf(errw, "%s: %.0f s\n", p.name, time.Since(start).Seconds())
		if !rows {
			continue
		}
		if err := printTable(out, r.rows[done:]); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
}

// A part measures one workload and adds rows to the table.
type part struct {
	name    string
	measure func(*runner) error
	apart   bool // measured only if it is named
}

func parts() []part {
	return []part{
		{name: "W1", measure: sweep},
		{name: "W2", measure: mesh},
		{name: "last", measure: lastFollower},
		{name: "W3", measure: churn},
		{name: "W4", measure: adversarial},
		{name: "W5", measure: fragmented},
		{name: "W6", measure: diverged},
		{name: "W7", measure: comb},
		{name: "W8", measure: largestFirst},
		{name: "W9", measure: states},
		{name: "W10", measure: concurrent},
		{name: "W11", measure: dispatch},
		{name: "W12", measure: enqueue},
		{name: "W13", measure: buffers},
		{name: "growth", measure: growth},
		{name: "raster", measure: raster, apart: true},
		{name: "rectangles", measure: rectangles},
		{name: "swapped", measure: swapped},
		{name: "A1", measure: halves},
		{name: "A2", measure: halvesApart},
		{name: "A3", measure: singles},
		{name: "A4", measure: everywhere},
		{name: "A5", measure: wide},
		{name: "A6", measure: divergedSingles},
		{name: "A7", measure: far},
		{name: "A8", measure: farOnHalves},
		{name: "one", measure: oneOfMany},
		{name: "snapshot", measure: snapshot},
		{name: "change", measure: changeAfterSnapshot},
		{name: "leave", measure: largeLeaves},
		{name: "usage", measure: usage},
		{name: "marks", measure: marks},
		{name: "refused", measure: refused},
		{name: "build", measure: build},
		{name: "total", measure: total},
		{name: "memory", measure: memory},
		{name: "files", measure: files, apart: true},
		{name: "inputs", measure: inputs, apart: true},
	}
}

// Command cbl1bench measures the engine on the workloads that decide something, beside four
// contenders, and prints one table:
//
//	percore   a google/btree of boundaries for each core of each device
//	slice     the same in a sorted slice
//	shared    a google/btree for each distinct core of each distinct device
//	previous  the engine of the commit in previous.txt, or of -previous REVISION, which the command builds with git
//
//	go run ./tool/internal/guard/cbl1bench                  # one or two minutes
//	go run ./tool/internal/guard/cbl1bench -div 4           # smaller, which promises nothing
//	go run ./tool/internal/guard/cbl1bench -run '^churn'
//
// A cell of a contender says how many times as much it needs as the engine. Percore and slice play
// on 2 of 32 devices (which flatters them: less memory, better cached), or the first steps, where
// they would take hours. Such figures have a ~. The last lines
// name calls that need more than four times the best of percore and slice and 300 ns, and workloads on which
// percore or shared needs less than the promised multiple of the engine. A broken promise ends the run
// with exit status 1.
//
// Contenders of one process have turns. Each run is timed in 32 stretches, and the fastest of at
// least three turns of each stretch counts, in processor time where the system reports it. So
// ratios are meaningful even on another machine, or on a busy one. The totals of all devices after
// each call are compared; a difference ends the run with exit status 1.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// A runner measures workloads.
type runner struct {
	div, rounds int
	alone       bool   // the engine plays without others
	previous    string // the command of the previous release, "" if there is none
}

// run returns 0, 1 if contenders disagree or a promise is broken, or 2 for wrong usage.
func run(args []string, out, errw io.Writer) int {
	var r runner
	flags := flag.NewFlagSet("cbl1bench", flag.ContinueOnError)
	flags.SetOutput(errw)
	only := flags.String("run", "", "measure the workloads whose names match this `regexp`")
	flags.IntVar(&r.div, "div", 1, "divide the sizes by this `number`")
	flags.IntVar(&r.rounds, "rounds", 3, "how often each contender has its turn")
	flags.BoolVar(&r.alone, "alone", false, "print the ns of a call of the engine for each workload, and nothing else")
	previous := flags.String("previous", strings.TrimSpace(previousCommit), "the previous release: a `tag or commit`, or none")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil || flags.NArg() > 0 || r.div < 1 || r.rounds < 1 {
		fmt.Fprintln(errw, "cbl1bench: wrong usage; see -help")
		return 2
	}
	all := slices.DeleteFunc(workloads(r.div), func(w workload) bool { return !match.MatchString(w.name) })
	if err := r.table(all, *previous, out, errw); err != nil {
		fmt.Fprintln(errw, "cbl1bench:", err)
		return 1
	}
	return 0
}

// table measures workloads and prints the table. Progress goes to errw.
func (r *runner) table(all []workload, previous string, out, errw io.Writer) error {
	begin := time.Now()
	dir, err := os.MkdirTemp("", "cbl1bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if previous != "none" && !r.alone {
		r.previous, err = buildAt(previous, dir)
		if err != nil { // no git, no such commit, or another API
			fmt.Fprintf(errw, "cbl1bench: %s is not measured: %v\n", previous, err)
			r.previous, previous = "", "none"
		}
	}
	var rows []row
	for _, w := range all {
		start := time.Now()
		x, err := r.measure(w)
		if err != nil {
			return err
		}
		rows = append(rows, x)
		fmt.Fprintf(errw, "%s: %.1f s\n", w.name, time.Since(start).Seconds())
	}
	if r.alone {
		for _, x := range rows {
			fmt.Fprintf(out, "%s\t%g\n", x.name, x.engine)
		}
		return nil
	}
	err = printTable(out, rows, r.div == 1)
	fmt.Fprintf(out, "all totals equal; previous: %s; %d rounds; %.0f s\n", previous, r.rounds, time.Since(begin).Seconds())
	return err
}

// measure returns the row of a workload.
func (r *runner) measure(w workload) (x row, err error) {
	x.workload = w
	if w.reads != nil {
		x.engine, x.costs, err = read(*w.reads, r.rounds)
	} else {
		err = r.contest(&x, w.made().measured())
	}
	if err == nil && r.previous != "" {
		x.previous, err = r.before(w)
	}
	return x, err
}

// contest measures a history.
func (r *runner) contest(x *row, h history) error {
	contenders := []contender{engine()}
	if !r.alone {
		contenders = append(contenders, simple(h, x.rival)...)
	}
	times, err := race(x.name, h, r.rounds, contenders...)
	cells := []*float64{&x.engine, &x.percore, &x.slice, &x.shared}
	for i, t := range times {
		*cells[i] = t * float64(changes(h.steps)) / float64(len(h.steps))
	}
	x.sampled = changes(x.rival.of(h).steps) < changes(h.steps)
	if err == nil && !r.alone {
		x.costs = costsOf(h, r.rounds)
	}
	return err
}

package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/cbl1/cbl1/internal/guard/baseline"
)

// A contender is a way to count, and the part of a history that it can manage.
type contender struct {
	name string
	part part
	new  func(history) baseline.Contender // where nothing has happened yet
}

// engine is the contender that plays all of a history.
func engine() contender {
	return contender{name: "cbl1", new: func(h history) baseline.Contender { return newFleet(h) }}
}

// simple are the other structures: percore and slice with a part of the history, and shared, which knows no
// dispatches, with all of it.
func simple(h history, x part) []contender {
	all := []contender{
		{"percore", x, func(h history) baseline.Contender { return baseline.NewPerCore(h.spec, h.devices, h.measure) }},
		{"slice", x, func(h history) baseline.Contender { return baseline.NewSortedSlice(h.spec, h.devices, h.measure) }},
		{"shared", part{}, func(h history) baseline.Contender { return baseline.NewShared(h.spec, h.devices, h.measure) }},
	}
	if h.measure == baseline.Tracked {
		return all[:2]
	}
	return all
}

// race lets contenders play h in turns and returns the ns of a change for each. Their totals are compared with
// the totals of the engine.
func race(name string, h history, rounds int, contenders ...contender) ([]float64, error) {
	entries := make([]*entry, len(contenders))
	for i, c := range contenders {
		entries[i] = newEntry(c, h)
	}
	for range rounds {
		for _, e := range entries {
			// A run that is short, preparation included, is repeated.
			start := time.Now()
			for again := 0; again < 5 && (again == 0 || time.Since(start) < 100*time.Millisecond); again++ {
				e.play()
				if err := e.disagree(); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	times := make([]float64, len(entries))
	for i, e := range entries {
		for _, t := range e.best {
			times[i] += t / float64(changes(e.history.steps))
		}
	}
	return times, nil
}

// A run is timed in so many stretches, and each counts with its best time. A disturbance of a run of
// seconds is not likely to hit the same stretch in every round.
const stretches = 32

// An entry is a contender in a race.
type entry struct {
	contender
	history history   // the part that is played
	best    []float64 // ns of each stretch
	want    []uint64  // totals, one for each change
	answers []uint64  // of the last play
}

func newEntry(c contender, h history) *entry {
	e := &entry{contender: c, history: c.part.of(h)}
	e.best = slices.Repeat([]float64{math.Inf(1)}, min(stretches, len(e.history.steps)))
	e.answers = make([]uint64, 0, changes(e.history.steps))
	engine := newFleet(e.history)
	change(engine, e.history.before)
	e.want = play(engine, e.history.steps, nil)
	return e
}

// play runs once.
func (e *entry) play() {
	c := e.new(e.history)
	change(c, e.history.before)
	e.answers = e.answers[:0]
	runtime.GC()
	n := len(e.history.steps)
	for i := range e.best {
		steps := e.history.steps[i*n/len(e.best) : (i+1)*n/len(e.best)]
		took := stopwatch(func() { e.answers = play(c, steps, e.answers) })
		e.best[i] = min(e.best[i], float64(took))
	}
}

// disagree returns an error that names the first answer that is not the wanted one.
func (e *entry) disagree() error {
	for i, got := range e.answers {
		if got != e.want[i] {
			return fmt.Errorf("total %d is %d for %s and %d for cbl1", i, got, e.name, e.want[i])
		}
	}
	return nil
}

// costs are the costs of a history for the engine besides the time of all calls.
type costs struct {
	allocations float64 // per call
	heap        float64 // bytes that live in the end
	longest     float64 // ns of the longest call: the lock is not held for longer
}

func costsOf(h history, rounds int) costs {
	x := costs{longest: math.Inf(1)}
	answers := make([]uint64, 0, changes(h.steps))
	base := liveHeap()
	c := newFleet(h)
	change(c, h.before)
	x.allocations = mallocs(func() { play(c, h.steps, answers) }) / float64(len(h.steps))
	x.heap = max(liveHeap()-base, 0)
	runtime.KeepAlive(c)
	runtime.KeepAlive(h)
	runtime.KeepAlive(answers)
	for range min(rounds, 2) {
		c := newFleet(h)
		change(c, h.before)
		runtime.GC()
		slowest := 0.0
		for i := range h.steps {
			slowest = max(slowest, float64(stopwatch(func() { h.steps[i].make(c) })))
		}
		x.longest = min(x.longest, slowest)
	}
	return x
}

// liveHeap returns how many bytes are in use once garbage is collected.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// mallocs returns how many objects f allocates.
func mallocs(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

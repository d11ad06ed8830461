package main

import (
	"slices"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/internal/guard/baseline"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A history is calls about programs on devices of one Spec, numbered from 0.
type history struct {
	spec    l1.Spec
	devices int
	measure baseline.Measure
	before  []step // has happened when the measurement begins
	steps   []step // is measured
}

// measured returns h with the measure for reserved bytes too, if that matters: if one of its programs
// reserves other bytes than it occupies.
func (h history) measured() history {
	differs := func(s step) bool {
		return s.program != nil &&
			s.program.Occupied(program.CircularBuffer).Bytes() != s.program.Reserved(program.CircularBuffer).Bytes()
	}
	if h.measure == baseline.Registered && (slices.ContainsFunc(h.before, differs) || slices.ContainsFunc(h.steps, differs)) {
		h.measure = baseline.Reserved
	}
	return h
}

// A step is one call: it concerns a program or a buffer on devices.
type step struct {
	do      action
	program *program.Program
	buffer  *fit.Buffer
	devices []int
}

// An action is the method that a step calls.
type action uint8

// The actions. All but the first two need a baseline.Follower.
const (
	register action = iota
	unregister
	dispatch
	enqueue
	allocate
	free
)

// make calls the method of the step on c.
func (s *step) make(c baseline.Contender) {
	switch s.do {
	case register:
		c.Register(s.program, s.devices)
	case unregister:
		c.Unregister(s.program, s.devices)
	case dispatch:
		c.(baseline.Follower).Dispatch(s.program, s.devices)
	case enqueue:
		c.(baseline.Follower).Enqueue(s.program, s.devices)
	case allocate:
		c.(baseline.Follower).Allocate(s.buffer, s.devices)
	case free:
		c.(baseline.Follower).Free(s.buffer, s.devices)
	}
}

// change makes the steps on c and queries nothing.
func change(c baseline.Contender, steps []step) {
	for i := range steps {
		steps[i].make(c)
	}
}

// play makes the steps on c. After each it queries the total of each device of the step, and
// appends the answer to totals, which should have room for all.
func play(c baseline.Contender, steps []step, totals []uint64) []uint64 {
	for i := range steps {
		steps[i].make(c)
		for _, d := range steps[i].devices {
			totals = append(totals, c.Total(d))
		}
	}
	return totals
}

// changes returns the number of (step, device) pairs, which is the number of totals.
func changes(steps []step) (n int) {
	for i := range steps {
		n += len(steps[i].devices)
	}
	return n
}

// A part is a smaller history for contenders that would take hours. The zero part is all of it.
type part struct {
	devices []int // only these, if not nil
	steps   int   // only the first ones, if not 0
}

// of returns the part of h.
func (x part) of(h history) history {
	if x.devices != nil {
		h.before, h.steps = on(h.before, x.devices), on(h.steps, x.devices)
	}
	if x.steps > 0 {
		h.steps = h.steps[:min(x.steps, len(h.steps))]
	}
	return h
}

// on returns the part of the steps that concerns the given devices.
func on(steps []step, devices []int) (out []step) {
	for _, s := range steps {
		s.devices = slices.DeleteFunc(slices.Clone(s.devices), func(d int) bool { return !slices.Contains(devices, d) })
		if len(s.devices) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// perDevice returns h with a call for each device in the place of one call for many.
func (h history) perDevice() history {
	single := numbers(h.devices)
	cut := func(steps []step) (out []step) {
		for _, s := range steps {
			for _, d := range s.devices {
				s.devices = single[d : d+1]
				out = append(out, s)
			}
		}
		return out
	}
	h.before, h.steps = cut(h.before), cut(h.steps)
	return h
}

// deviceMajor returns h with all steps on device 0 first, then all on device 1, and so on.
func (h history) deviceMajor() history {
	h = h.perDevice()
	for _, steps := range [][]step{h.before, h.steps} {
		slices.SortStableFunc(steps, func(a, b step) int { return a.devices[0] - b.devices[0] })
	}
	return h
}

// numbers returns 0 to n-1.
func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

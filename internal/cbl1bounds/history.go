package main

import (
	"math"
	"slices"
	"strings"
)

// A history brings a fleet to where calls of an operation are dearest, and plays some.
type history struct {
	line  string // of the table of bounds
	about string // the obstacle, and the unit of the size
	sizes [2]int
	made  func(size int) (play func(), calls int)
	steps growth // how the steps of a call may grow with the size
	bytes growth // the growth of its allocations
}

// name returns the name of a folder.
func (h *history) name() string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(h.line + " " + h.about)
}

// A growth is a function that a cost may follow.
type growth struct {
	name string
	of   func(size float64) float64
}

func none() growth     { return growth{"nothing", func(float64) float64 { return 0 }} }
func constant() growth { return growth{"1", func(float64) float64 { return 1 }} }
func log() growth      { return growth{"log", math.Log2} }
func linear() growth   { return growth{"n", func(n float64) float64 { return n }} }
func sorting() growth  { return growth{"n log n", func(n float64) float64 { return n * math.Log2(n) }} }

// edges is for the columns and rows of a grid of so many cores.
func edges() growth { return growth{"columns + rows", func(n float64) float64 { return n/16 + 16 }} }

// product is for what lies on as many sets of cores as there are things.
func product() growth { return growth{"n x n", func(n float64) float64 { return n * n }} }

// histories returns all of them. Sizes differ by eight times. Where trees dominate the cost, the
// small size exceeds one block of a tree, whose boundaries are all walked over.
func histories() []history {
	return slices.Concat(
		registering(), coming(), parting(), sharing(), hiding(),
		totalling(), looking(), laying(), picturing(),
		recounting(), judging(), leaving(),
		memory(), dispatching(), tracing(),
	)
}

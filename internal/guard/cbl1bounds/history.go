package main

import (
	"math"
	"strings"
)

// A history brings a fleet to where calls are dearest, in two sizes, and plays some.
type history struct {
	name  string
	sizes [2]int
	made  func(size int) []call // in this order
}

// A call is an operation that is counted.
type call struct {
	line   string // of the table of bounds
	about  string // the obstacle
	steps  growth // how its steps may grow with the size
	bytes  growth // the growth of its allocations
	times  int    // how often it is played; 0 is once
	calls  int    // of one play; 0 is one
	play   func()
	before func() // nil, or what comes right before it and is not counted
}

// folder returns the name of a folder for the counts.
func (h *history) folder(c call) string {
	name := strings.TrimSpace(h.name + "/" + c.line + " " + c.about)
	return strings.NewReplacer(" ", "-", ",", "").Replace(name)
}

// A growth is a function that a cost may follow.
type growth struct {
	name string
	of   func(size float64) float64
}

func none() growth     { return growth{"nothing", func(float64) float64 { return 0 }} }
func constant() growth { return growth{"1", func(float64) float64 { return 1 }} }
func log() growth      { return growth{"log", math.Log2} }

// logOfQuarter is for calls that concern a quarter of the programs.
func logOfQuarter() growth {
	return growth{"log", func(n float64) float64 { return math.Log2(n / 4) }}
}

func linear() growth  { return growth{"n", func(n float64) float64 { return n }} }
func sorting() growth { return growth{"n log n", func(n float64) float64 { return n * math.Log2(n) }} }

// edges is for the columns and rows of a grid of so many cores.
func edges() growth { return growth{"columns + rows", func(n float64) float64 { return n/16 + 16 }} }

// product is for what lies on as many sets of cores as there are things.
func product() growth { return growth{"n x n", func(n float64) float64 { return n * n }} }

// The lines with several histories.
const (
	changing   = "Register, Unregister, Replace"
	other      = "in another direction"
	most       = "the most for one call"
	cores      = "Core, Regions"
	usage      = "Usage, Moment"
	judging    = "Check, Headroom, MayGrow"
	room       = "Room, CheckBuffer"
	headroom   = "Headroom of all programs"
	buffering  = "Allocate, Free"
	dispatched = "Dispatch, Enqueue, Replay"
	tracing    = "Record, EndTrace"
	meshes     = "AddMesh, Remove"
	snapshot   = "Snapshot"
	recounting = "CheckInvariants"
)

// histories returns the five worst histories: each has much of one kind. Sizes differ by eight
// times. Where trees dominate the cost, the small size exceeds one block of a tree, whose
// boundaries are all walked over.
func histories() []history {
	return []history{
		{"programs and buffers", [2]int{512, 4096}, beside},
		{"cores that all differ", [2]int{64, 512}, ofClasses},
		{"devices that all differ", [2]int{64, 512}, ofDevices},
		{"programs that hide others", [2]int{512, 4096}, hiding},
		{"devices one after the other", [2]int{512, 4096}, following},
	}
}

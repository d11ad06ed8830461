// Package cbl1 is the root of a module that computes exactly how much L1 the
// circular buffers of Tenstorrent programs take, on every core of every device,
// while programs come and go.
//
// It holds no code. Start in one of these packages:
//
//	l1        addresses, ranges, cores, core range sets, what a board offers
//	cbregion  the merging engine of one core
//	program   circular buffers, their placement, the footprint of a program
//	fit       whether a program fits beside what lives in L1; without a fleet
//	device    fleets, meshes and devices: registration, totals, snapshots
//	event     what happens on a fleet, and the event log
//	capture   reads ttnn graph captures, which it tells as events
//	replay    follows events, and answers
//	clash     reads the error messages tt-metal prints when L1 does not suffice
//	wire      what running processes tell of what they allocate
//	serve     the server that they tell it to
//	report    prints results
//	fuzz/...  generators, a slow oracle and properties, for tests of your own
//
// The command is cmd/cbl1. What may import what is decided by the table in
// rules_test.go, which runs with every go test.
package cbl1

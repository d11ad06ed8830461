// Package cbl1 is the root of a module that computes exactly how much L1 the
// circular buffers of Tenstorrent programs take, on every core of every device,
// while programs come and go.
//
// It holds no code. Start in one of these packages:
//
//	l1        addresses, ranges, cores, core range sets, what a board offers
//	cbregion  the merging engine of one core
//	program   circular buffers, their placement, the footprint of a program
//	device    fleets, meshes and devices: registration, totals, snapshots
//	capture   reads ttnn graph captures and the event log
//	clash     reads the error messages tt-metal prints when L1 does not suffice
//	report    prints results
//	fuzz/...  generators, a slow oracle and properties, for tests of your own
//
// The command is cmd/cbl1. What may import what is decided by the table in
// rules_test.go, which runs with every go test.
package cbl1

// Package cbl1 is the root of a module that computes exactly how much L1 the circular buffers (CBs)
// of Tenstorrent programs take, on every core of every device, while programs come and go.
//
// It holds no code. Start in one of these packages:
//
//	l1        addresses, ranges, cores, core range sets, boards
//	cbregion  the merging engine of one core
//	program   circular buffers, their placement, the footprint of a program
//	fit       whether a program fits beside the contents of L1; without a fleet
//	device    fleets, meshes and devices: registration, totals, snapshots
//	event     events on a fleet, and the event log
//	fuzz/...  generators, a slow oracle and properties, for tests of your own
//	tool/...  capture: ttnn graph captures as events; replay: from events to a result; replay/answer: what
//	          is said of it; replay/session: queries while events go by; replay/diff: two runs compared
//
// The command is tool/cmd/cbl1; everything else is internal. The imports table in rules_test.go says
// which package may import which, and runs with every go test.
package cbl1

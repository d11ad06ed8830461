// Package fuzz holds the proof that the numbers of this module are right. Its
// folders are for everyone who builds something that counts or places circular
// buffers; only the tests are ours.
//
// # Model
//
// Package fuzz/model is an oracle: a fleet of devices that paints every byte of
// every core. Package fuzz/gen draws ranges, cores, programs and wrong calls, unfair
// on purpose, so that ends meet and ids collide. Package fuzz/suite puts the two
// together: properties as functions, for anything that counts on many devices (a
// Tracker), on one core (a Counter), or that places (an Allocator).
//
//	func TestMine(t *testing.T) { rapid.Check(t, suite.TrackerModel(newMine)) }
//	func FuzzMine(f *testing.F) { f.Fuzz(rapid.MakeFuzz(suite.TrackerModel(newMine))) }
//
// # Tests
//
// The tests of this folder hold device.Fleet, cbregion.Counter and package program
// against the suite; walk every life of a small world; compare one history written in
// different ways; and check concurrent histories for linearizability. Each checker is
// also given something broken, to prove that it can fail.
//
// # Cost
//
// go test ./fuzz/... takes seconds. -rapid.checks=100000 makes the same tests a
// campaign, and go test -fuzz lets coverage guide them (with -fuzzminimizetime=10x:
// the default lets the workers stand still).
package fuzz

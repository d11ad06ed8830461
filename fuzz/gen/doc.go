// Package gen has rapid generators for whatever counts or places circular buffers
// (CBs): ranges, cores, specs, CBs, programs, and the calls of a fleet's life.
//
// # Model
//
// The generators are unfair on purpose. What is drawn evenly from a large space never
// collides, and all errors live where things collide: ends of ranges come from a
// short grid, so that they meet; rectangles lie on a corner of a few cores, so that
// they repeat, overlap and touch; program ids come from a handful. The first values
// of each list are the plainest, because rapid shrinks towards them.
//
// # Wrong calls
//
// [Moves] draws calls that have to be refused as willingly as others: unknown devices,
// reversed meshes, a second footprint under one id, cores outside the grid, programs
// for another Spec, no program at all. Make the call and check its error. Never call
// t.Skip: under rapid.MakeFuzz it is reported as a failure.
//
// # Cost and concurrency
//
// Generators are values without state and may be shared; what they draw is small.
package gen

// Package gen has rapid generators for code that counts or places circular buffers (CBs): ranges,
// cores, specs, CBs, programs, and the calls of a fleet's life.
//
// # Model
//
// The generators are unfair on purpose. Values drawn evenly from a large space never collide, and
// errors live in collisions: ends of ranges come from a short grid, so that they meet; rectangles
// lie on a corner of a few cores, so that they repeat, overlap and touch; program ids come from a
// handful. The first values of each list are the plainest, because rapid shrinks towards them.
//
// # Wrong calls
//
// [Moves] draws calls that must be refused as often as others: unknown devices, reversed meshes, a
// second footprint under one id, cores outside the grid, programs for another Spec, no program at
// all. Make the call and check its error. Never call t.Skip: under rapid.MakeFuzz it is reported as
// a failure.
//
// # Cost and concurrency
//
// Generators are values without state and may be shared; their values are small.
package gen

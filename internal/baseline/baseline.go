// Package baseline has the contenders that benchmarks compare with: the ways in
// which a careful engineer would count covered bytes at first. They are right, and
// slow in the cases that the engine is built for.
//
// No product code imports this package.
package baseline

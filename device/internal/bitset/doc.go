// Package bitset has sets of small numbers: devices of a fleet, programs of a
// content, groups that a class of cores lies in. [Bits] are a value; [Span] makes them
// of consecutive numbers. A [Sparse] has numbers that lie far apart.
package bitset
